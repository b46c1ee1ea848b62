"""Makes one list of results from those of several channels.

Invariant: pure. Only ranks count, since scores of different channels cannot be compared; what no
channel found is not in the result.
"""

import re
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import TypeVar

from data.knowledge.scripts import UNSPACED
from data.knowledge.values import Passage

K = 60
"""Dampens the head of the lists: a hit that both channels rank low beats one that only one of
them ranks high."""
DENSE = 0.55
LEXICAL = 0.45
ALIKE = 0.7
"""Share of common word sequences from which on two chunks say the same."""
_SHINGLE = 4
_WORD = re.compile(rf"[{UNSPACED}]|\w+")

T = TypeVar("T", bound=Hashable)


def fuse(*, lexical: Sequence[T], dense: Sequence[T]) -> Sequence[tuple[T, float]]:
    """Weighted reciprocal-rank fusion of two lists, best first each, with the new scores.

    >>> [found for found, _ in fuse(lexical="ab", dense="bc")]
    ['b', 'c', 'a']
    """
    scores: dict[T, float] = {}
    for weight, ranked in ((LEXICAL, lexical), (DENSE, dense)):
        for rank, found in enumerate(ranked, start=1):
            scores[found] = scores.get(found, 0.0) + weight / (K + rank)
    return sorted(scores.items(), key=lambda item: item[1], reverse=True)


def distinct(ranked: Sequence[Passage], limit: int) -> Sequence[Passage]:
    """The first `limit` passages that do not repeat one that stands before them."""
    taken: list[tuple[Passage, frozenset[str]]] = []
    for passage in ranked:
        if len(taken) == limit:
            break
        words = _shingles(passage.text)
        if not any(_alike(words, other) for _, other in taken):
            taken.append((passage, words))
    return [passage for passage, _ in taken]


def joined(ranked: Sequence[Passage]) -> Sequence[Passage]:
    """Neighbouring or overlapping passages of a document made one, without the overlap.

    A joined passage stands where the better of the two stood.
    """
    groups: list[list[Passage]] = []
    for passage in sorted(ranked, key=lambda found: (found.document_id, found.first)):
        before = groups[-1][-1] if groups else None
        if (
            before is not None
            and before.document_id == passage.document_id
            and before.last + 1 == passage.first
        ):
            groups[-1].append(passage)
        else:
            groups.append([passage])
    order = {id(passage): rank for rank, passage in enumerate(ranked)}
    groups.sort(key=lambda group: min(order[id(passage)] for passage in group))
    return [_one(group) for group in groups]


def _one(group: Sequence[Passage]) -> Passage:
    whole = group[0]
    for following in group[1:]:
        whole = replace(
            whole,
            last=following.last,
            end=following.end,
            text=whole.text + following.text[whole.at + len(whole.text) - following.at :],
            score=max(whole.score, following.score),
            likeness=max(whole.likeness, following.likeness),
        )
    return whole


def _shingles(text: str) -> frozenset[str]:
    words = _WORD.findall(text.casefold())
    last = max(1, len(words) - _SHINGLE + 1)
    return frozenset(" ".join(words[at : at + _SHINGLE]) for at in range(last))


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    common = len(one & other)
    return common >= ALIKE * (len(one) + len(other) - common)
