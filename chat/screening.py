"""Keeps the words that a guild has listed out of what members are shown.

Invariant: a listed word is not shown, not for a moment either: while text grows, what may become
one at its end is held back. Words count whole, in any case, however they are composed, and with
marks of Markdown or signs without width between their letters. What the model wrote stays as it is;
this is about what is shown of it.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from chat.written_words import LONGEST_WORD, check_word, written_words
from prompt.values import Span

MASK = "\N{FULL BLOCK}" * 3
"""Stands in place of a listed word, whatever its length."""

MOST_WORDS = 200
LONGEST_LIST = 3900
"""Characters of all words with commas between."""

_REACH = 8 * (LONGEST_WORD + 1)
"""Characters before a position that can belong to a word that ends behind it."""
_BEFORE = 32
"""Characters before those in which shows whether a word begins there."""

_MARKERS = re.compile(r"\|\||\|\Z|[*_~`\\]")
"""With a stroke at the end, which may become two."""
_SPACELESS_RANGES = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
_SPACELESS = re.compile(f"[{_SPACELESS_RANGES}]")
"""Letters of scripts that write no spaces: words begin and end beside them anywhere."""
_JOINED = rf"[^\W{_SPACELESS_RANGES}]"
"""A letter beside which no word begins or ends."""


_LOOKS = 4
"""At what holding back lays bare. Each such look takes a word and more; one of many would take time
in step with all of them."""


@dataclass(frozen=True)
class Screen:
    """What one guild lists. With `ends` an answer ends before such a word; otherwise the word is
    masked."""

    words: tuple[str, ...] = ()
    ends: bool = False

    def __bool__(self) -> bool:
        return bool(self.words)

    def shown(self, text: str, *, final: bool) -> str:
        """What may be shown of `text`, which grows unless it is `final`."""
        if not self.words:
            return text
        listed = self.found(text)
        end = len(text) if final else self._shown_to(text, listed)
        found = [span for span in listed if span[0] < end]
        if found and self.ends:
            return text[: found[0][0]].rstrip()
        if not found:
            return text[:end]
        pieces, position = list[str](), 0
        for start, stop in found:
            pieces += [text[position:start], MASK]
            position = stop
        # A mask is no letter: what stood joined to a masked word may be listed by itself.
        if position >= end:  # what follows hangs on what is held back
            return self.shown("".join(pieces), final=True)
        return self.shown("".join([*pieces, text[position:]]), final=final)

    def masked(self, text: str) -> str:
        """`text`, which grows no more, with its listed words masked."""
        return Screen(self.words).shown(text, final=True)

    def is_met(self, text: str, *, grows: bool = False, since: int = 0) -> bool:
        """Whether `text` holds a listed word. One that `grows` may turn the last word into
        another. What ends before `since` was looked at before, and may be passed over."""
        begin = max(0, since - _REACH - _BEFORE)
        # Cut off there, the rest of a word would read as a word of its own.
        sure = _BEFORE if begin else 0
        part = text[begin:]
        end = len(part.rstrip()) if grows else len(part) + 1
        return any(start >= sure and stop < end for start, stop in self.found(part))

    def found(self, text: str) -> Sequence[Span]:
        """Where listed words stand, in order, those that touch each other as one."""
        spans: list[Span] = []
        for start, stop in sorted(self._matches(text)) if self.words else ():
            if spans and start <= spans[-1][1]:
                spans[-1] = spans[-1][0], max(stop, spans[-1][1])
            else:
                spans.append((start, stop))
        return spans

    def _matches(self, text: str) -> Iterator[Span]:
        for folded in _readings(text):
            for match in self._pattern.finditer(folded.text):
                yield folded.starts[match.start()], folded.stops[match.end() - 1]

    def _shown_to(self, text: str, listed: Sequence[Span]) -> int:
        """Where what may be shown of a growing `text` ends. What is held back may be what made a
        listed word another one: without it, the word would stand there bare."""
        end, known = self._held_from(text), {start for start, _ in listed}
        for _ in range(_LOOKS):
            begin = max(0, end - _REACH - _BEFORE)
            sure = begin + _BEFORE if begin else 0
            spans = [(begin + start, begin + stop) for start, stop in self.found(text[begin:end])]
            bare = [span[0] for span in spans if span[0] >= sure and span[0] not in known]
            if end == len(text) or not bare:
                break
            end = min(bare)
        return end

    def _held_from(self, text: str) -> int:
        """Where the end of `text` begins that may become a listed word."""
        held = len(text)
        for folded in _readings(text):
            for length in range(min(self._longest, len(folded.text)), 0, -1):
                begin = len(folded.text) - length
                if folded.text[begin:] in self._beginnings and _is_boundary(folded.text, begin):
                    held = min(held, folded.starts[begin])
                    break
        return held

    @cached_property
    def _folded(self) -> tuple[str, ...]:
        kept = {reading.text.strip() for word in self.words for reading in _readings(word)}
        return tuple(sorted(filter(None, kept), key=len, reverse=True))

    @cached_property
    def _longest(self) -> int:
        return max(map(len, self._folded), default=0)

    @cached_property
    def _beginnings(self) -> frozenset[str]:
        return frozenset(word[:end] for word in self._folded for end in range(1, len(word) + 1))

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile("|".join(_whole(word) for word in self._folded) or r"(?!)")


NO_SCREEN = Screen()


def checked_words(written: str) -> tuple[str, ...]:
    """Words and phrases as an admin writes them, commas or lines between. ValueError says what is
    wrong with them."""
    listed = written_words(written)
    if len(listed) > MOST_WORDS:
        raise ValueError(f"At most {MOST_WORDS} words can be listed; these are {len(listed)}.")
    for word in listed:
        check_word(word)
    if len(", ".join(listed)) > LONGEST_LIST:
        raise ValueError(f"All words together have at most {LONGEST_LIST} characters.")
    return listed


@dataclass(frozen=True, slots=True)
class _Folded:
    """A text as it is compared, and where each of its characters stands in the original."""

    text: str
    starts: Sequence[int]
    stops: Sequence[int]


def _readings(text: str) -> tuple[_Folded, _Folded]:
    """`text` folded as it is written, and as it reads once Markdown is drawn."""
    drawn = {at for mark in _MARKERS.finditer(text) for at in range(mark.start(), mark.end())}
    return _fold(text, frozenset()), _fold(text, frozenset(drawn))


def _fold(text: str, dropped: frozenset[int]) -> _Folded:
    letters, starts, stops = list[str](), list[int](), list[int]()
    position, length = 0, len(text)
    while position < length:
        begin = position
        position += 1
        while position < length and unicodedata.combining(text[position]):
            position += 1
        if begin in dropped:
            continue
        for letter in _folded_cluster(text[begin:position]):
            if letter == " " and letters and letters[-1] == " ":
                stops[-1] = position
                continue
            letters.append(letter)
            starts.append(begin)
            stops.append(position)
    return _Folded("".join(letters), starts, stops)


@lru_cache(maxsize=4096)
def _folded_cluster(cluster: str) -> str:
    """One letter with its marks, as it is compared: without marks that it does not take, and
    nothing for signs without width."""
    if cluster.isspace():
        return " "
    composed = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", cluster).casefold())
    return "".join(
        letter for letter in composed if unicodedata.category(letter) not in {"Mn", "Me", "Cf"}
    )


def _whole(word: str) -> str:
    before = rf"(?<!{_JOINED})" if _joins(word[0]) else ""
    behind = rf"(?!{_JOINED})" if _joins(word[-1]) else ""
    return f"{before}{re.escape(word)}{behind}"


def _is_boundary(text: str, position: int) -> bool:
    """Whether a word can begin there."""
    return position == 0 or not (_joins(text[position]) and _joins(text[position - 1]))


def _joins(character: str) -> bool:
    return re.match(_JOINED, character) is not None
