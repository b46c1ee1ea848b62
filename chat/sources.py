"""Names the documents that an answer rests on.

Invariant: only what reached the model is named, each document once, best first. What decides is in
the first place how well a passage fits the question, which is the same however the answer is
worded and in whatever language; the answer's own words then add what they show and remove what they
speak against.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from chat.denials import COURTEOUS, COURTESY, denies
from chat.evidence import content, language, same_language, words_of
from chat.planning import Plan
from chat.turn import TurnRun
from data.knowledge.overviews import sums_up
from prompt.knowledge import Snippet

FITS = 0.5
"""Share of a question's weight that a passage must hold to be what it is about."""
FITS_ELSEWHERE = 0.3
"""The same where question and passage are in different languages, and share names at most."""
MUCH = 3.0
"""Weight of a question that is as good as FITS, in a question so long that it is only
FITS_AT_LENGTH of it."""
FITS_AT_LENGTH = 0.25
LIKE = 0.3
"""The likeness in sense that is worth as much as FITS."""
_BESIDE_BEST = 0.75
"""Share of the best passage's fit from which on another one counts as well."""
SHOWS = 1.5
"""Weight of what an answer adds to its question that shows where it was taken from: a word and a
half, or one number of three digits."""
_SHOWS_SHARE = 0.1
"""Of all that it adds; a long answer has a word or two in common with anything."""
_BESIDE_SHOWN = 0.25
"""Share of what the answer has from the passage that shows most in it, from which on another one
counts as well."""
_UNTOUCHED = 0.15
"""The same share, below which a passage that fits the question was left aside by the answer."""
_TALKATIVE = 5.0
"""Weight of an answer from which on it would share something with what it tells of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Judged:
    snippet: Snippet
    fit: float
    """How well it fits the question: 1 is what settles it."""
    shown: float
    """Weight of the words that the answer has from it, and not from the question."""
    ranked: float
    """The same, where a word that stands in several passages tells less."""
    speaks_alike: bool
    """Whether it is in the answer's language."""


def cited(plan: Plan, run: TurnRun, answer: str) -> tuple[Snippet, ...]:
    """The sources of the turn that `run` has run."""
    grounding = plan.gathered.grounding
    return sources_of(grounding.shown(run.read), answer, grounding.question)


def sources_of(snippets: Iterable[Snippet], answer: str, question: str) -> tuple[Snippet, ...]:
    """One snippet for each document that `answer`, to `question`, rests on."""
    given = [*snippets]
    if not given or not answer.strip():
        return ()
    asked, told = content(question), content(answer)
    added = {stem: weight for stem, weight in told.items() if stem not in asked}
    if _is_courtesy(answer, added):
        return ()
    total = sum(added.values())
    judged = _judge(given, question, answer, added)
    best_fit = max(one.fit for one in judged)
    best_shown = max(one.ranked for one in judged)
    denied = denies(answer)

    def named(one: _Judged) -> bool:
        if one.shown >= max(SHOWS, _SHOWS_SHARE * total) and one.ranked >= (
            _BESIDE_SHOWN * best_shown
        ):
            return True
        if denied or one.fit < max(1.0, _BESIDE_BEST * best_fit):
            return False
        if best_shown >= SHOWS and one.ranked < _UNTOUCHED * best_shown:
            return False
        return not (one.speaks_alike and total >= _TALKATIVE and not one.shown)

    found: dict[int, Snippet] = {}
    for one in judged:
        if named(one):
            found.setdefault(one.snippet.document_id, one.snippet)
    return tuple(found.values())


def _judge(
    given: Sequence[Snippet], question: str, answer: str, added: Mapping[str, float]
) -> Sequence[_Judged]:
    held = [content(snippet.text) for snippet in given]
    spread = Counter(stem for stems in held for stem in stems)
    asks_in, answers_in = language(question), language(answer)
    judged: list[_Judged] = []
    for snippet, stems in zip(given, held, strict=True):
        speaks = language(snippet.text)
        common = {stem: weight for stem, weight in added.items() if stem in stems}
        judged.append(
            _Judged(
                snippet=snippet,
                fit=_fit(snippet, stems, question, same_language(asks_in, speaks) is False),
                shown=sum(common.values()),
                ranked=sum(weight / math.sqrt(spread[stem]) for stem, weight in common.items()),
                speaks_alike=same_language(answers_in, speaks) is True,
            )
        )
    return judged


def _fit(snippet: Snippet, stems: Mapping[str, float], question: str, elsewhere: bool) -> float:
    sought = content(snippet.sought or question)
    if not sought:
        return float(sums_up(question))
    held = sum(weight for stem, weight in sought.items() if stem in stems)
    share = held / sum(sought.values())
    return max(
        share / (FITS_ELSEWHERE if elsewhere else FITS),
        min(held / MUCH, share / FITS_AT_LENGTH),
        snippet.likeness / LIKE,
    )


def _is_courtesy(answer: str, added: Mapping[str, float]) -> bool:
    """Whether an answer greets or thanks, and adds nothing that could be from anywhere."""
    folded = answer.casefold()
    polite = COURTEOUS.search(folded) or not COURTESY.isdisjoint(words_of(folded))
    return bool(polite) and all(
        weight < 1 or stem in _COURTESY_STEMS for stem, weight in added.items()
    )


_COURTESY_STEMS = frozenset(stem for word in COURTESY for stem in content(word))
