"""Text that arrives in pieces, and scans over it that sleep until more has come.

Invariant: a scan is a coroutine that yields exactly when what it has seen does not decide. It
resumes where it stopped, so each character is looked at a bounded number of times, and since
it decides by the text alone, any partition of the text gives the same answers.

Positions count from the start of the response. Text before `floor` may be gone; a scan never
looks back behind the place at which its caller set the floor.
"""

import re
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, TypeVar

Answer = TypeVar("Answer")
Wait: TypeAlias = Generator[None, None, Answer]
"""A scan that yields while it waits for text and returns its answer."""

# How much already useless text may stand before it is cut off; keeps cutting rare.
_SLACK = 4_096
_FAR = 1 << 60

_STRUCTURE = re.compile(r"[\"'{}\[\]()<`“‘]")
_PAIRS = {"{": "}", "[": "]", "(": ")"}
_STRING_STOPS = re.compile(r'["\\]')
_LOOSE_STOPS = {
    "'": re.compile(r"['\\]"),
    "“": re.compile(r"[”\\]"),
    "‘": re.compile(r"[’\\]"),
}
_STOP_BEGINS = re.compile(r"[<`]")
_VALUE_BEGINS = frozenset("{[(,:=")
_VALUE_ENDS = frozenset(["", *",}]):"])
_AFTER_LAST_STRING = frozenset("}]) \n<`")
_CLOSERS = re.compile(r"[}\])\s]*")
_DSML = r"[ ]?[|｜][ ]?(?:D(?:S(?:M(?:L(?:[ ]?[|｜]?)?)?)?)?)?"
_NAMESPACE = re.compile(
    r"([A-Za-z][\w.-]{0,15}:|[ ]?[|｜][ ]?DSML[ ]?[|｜][ ]?)"
    rf"|[A-Za-z][\w.-]{{0,15}}|{_DSML}|[ ]?",
    re.IGNORECASE,
)
_SPACES = re.compile(r"\s*")
_BLANKS = re.compile(r"[ \t\r]*")


class Words:
    """A fixed set of markers, found in one walk.

    ASCII case does not matter; `｜` counts as `|` and `▁` as `_`, as templates and their copies
    mix them. A tag may carry a namespace (`<seed:think>`, `</｜DSML｜invoke>`) that it is known
    without.
    """

    def __init__(self, words: Iterable[str]) -> None:
        self._root: dict[str, _Node] = {}
        self.first: set[str] = set()
        for word in words:
            self._add(word)

    def _add(self, word: str) -> None:
        level = self._root
        node = _Node({}, None)
        for char in word:
            folded = _fold(char)
            node = level.get(folded) or _Node({}, None)
            for spelling in _spellings(folded):
                level[spelling] = node
            level = node.next
        node.word = word
        self.first.update(_spellings(_fold(word[0])))

    def walk(self, text: str, pos: int) -> tuple[str | None, int, bool]:
        """The longest marker at `pos`, where it ends, and whether more text could change that."""
        found, end, undecided = self._walk(text, pos, self._root)
        if found is not None or undecided or text[pos : pos + 1] != "<":
            return found, end, undecided
        node = self._root.get("<")
        if node is None:
            return None, pos, False
        inner = pos + 1
        if text[inner : inner + 1] == "/":
            inner += 1
            node = node.next.get("/")
        namespace = _NAMESPACE.match(text, inner)
        if node is None or namespace is None:
            return None, pos, False
        if not namespace.group(1):
            # Still growing, or no namespace at all.
            return None, pos, namespace.end() == len(text)
        found, end, undecided = self._walk(text, namespace.end(), node.next)
        return found, end if found else pos, undecided

    def _walk(self, text: str, pos: int, level: dict[str, "_Node"]) -> tuple[str | None, int, bool]:
        found: str | None = None
        end = pos
        size = len(text)
        while pos < size:
            node = level.get(text[pos])
            if node is None:
                return found, end, False
            pos += 1
            if node.word is not None:
                found, end = node.word, pos
            level = node.next
        return found, end, bool(level)


@dataclass(slots=True)
class _Node:
    next: dict[str, "_Node"]
    word: str | None


def _fold(char: str) -> str:
    return {"｜": "|", "▁": "_"}.get(char, char.lower() if char.isascii() else char)


def _spellings(folded: str) -> tuple[str, ...]:
    also = {"|": "｜", "_": "▁"}.get(folded) or folded.upper()
    return (folded, also) if len(also) == 1 and also != folded else (folded,)


NO_WORDS = Words(())


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """A bracketed value found in the text.

    `closed`: its own last bracket was seen. `open_string`: the text ended inside a string.
    `stop`: the marker that cut it short.
    """

    start: int
    end: int
    closed: bool
    open_string: bool = False
    stop: str | None = None


class Scanner:
    """The part of a response that is still needed, and scans over it."""

    def __init__(self) -> None:
        self.text = ""
        self.base = 0
        self.ended = False
        self.floor = 0
        self._unclosed_at: dict[tuple[int, int], Frame] = {}
        self.room: int | None = None
        """With a number here, text beyond it may go although the floor stands before it: the
        call being read is too large whatever follows."""

    @property
    def end(self) -> int:
        """Where the text so far ends."""
        return self.base + len(self.text)

    def append(self, text: str) -> None:
        """Take in the next piece."""
        useless = self.floor - self.base
        if self.room is not None:
            useless = max(useless, len(self.text) - self.room - _SLACK)
        if useless > _SLACK and useless * 2 > len(self.text):
            self.text = self.text[useless:]
            self.base += useless
        # CPython grows a string in place while a single name refers to it.
        grown, self.text = self.text, ""
        grown += text
        self.text = grown

    def leave(self, pos: int) -> None:
        """Everything up to `pos` has been dealt with, and nothing has come behind it."""
        self.base = self.floor = pos
        self.text = ""

    def slice(self, start: int, end: int) -> str:
        """The text between two positions."""
        base = self.base
        return self.text[max(start - base, 0) : max(end - base, 0)]

    def at(self, pos: int) -> str:
        """The character at `pos`, empty where none has come."""
        pos -= self.base
        return self.text[pos : pos + 1]

    def peek(self, pos: int) -> Wait[str]:
        """The character at `pos`, empty only at the end of the response."""
        while pos >= self.base + len(self.text) and not self.ended:
            yield
        return self.at(pos)

    def skip(self, pos: int, pattern: re.Pattern[str] = _SPACES) -> Wait[int]:
        """Where the run of `pattern`, a repeated character class, ends."""
        while True:
            match = pattern.match(self.text, pos - self.base)
            if match:
                pos = match.end() + self.base
            if pos < self.end or self.ended:
                return pos
            yield

    def blanks(self, pos: int) -> Wait[int]:
        """Where the white space at `pos` ends, at the latest with the line."""
        return (yield from self.skip(pos, _BLANKS))

    def word(self, pos: int, words: Words) -> Wait[tuple[str | None, int]]:
        """The longest of `words` at `pos` and where it ends."""
        while True:
            found, end, undecided = words.walk(self.text, pos - self.base)
            if not undecided or self.ended:
                return found, end + self.base
            yield

    def until(
        self, start: int, trigger: re.Pattern[str], words: Words, limit: int = _FAR
    ) -> Wait[tuple[str | None, int, int]]:
        """The first of `words` from `start` on: the marker, where it begins and where it ends.

        `trigger` finds the characters that markers begin with. Without a marker within `limit`
        characters: None, and twice where the search ended.
        """
        pos = start
        last = start + limit
        while True:
            found = trigger.search(self.text, pos - self.base, last - self.base)
            if found is None:
                pos = min(self.end, last)
                if self.ended or pos == last:
                    return None, pos, pos
                yield
                continue
            pos = found.start() + self.base
            word, end = yield from self.word(pos, words)
            if word is not None:
                return word, pos, end
            pos += 1

    def string(self, pos: int) -> Wait[int]:
        """Where the double-quoted string that opens at `pos` ends, -1 if it does not."""
        pos += 1
        while True:
            found = _STRING_STOPS.search(self.text, pos - self.base)
            if found is None:
                pos = self.end
            else:
                pos = found.start() + self.base
                if found.group() == '"':
                    return pos + 1
                if pos + 1 < self.end:
                    pos += 2
                    continue
            if self.ended:
                return -1
            yield

    def loose_string(self, pos: int) -> Wait[int]:
        """As `string`, for single and curly quotes.

        Apostrophes abound, so a quote only closes where a value can end.
        """
        stops = _LOOSE_STOPS[self.at(pos)]
        pos += 1
        while True:
            found = stops.search(self.text, pos - self.base)
            if found is None:
                pos = self.end
                if self.ended:
                    return -1
                yield
                continue
            pos = found.start() + self.base + 1
            if found.group() == "\\":
                if not (yield from self.peek(pos)):
                    return -1
                pos += 1
                continue
            after = yield from self.skip(pos)
            if self.at(after) in _VALUE_ENDS:
                return pos

    def value(self, start: int, stops: Words = NO_WORDS) -> Wait[Frame]:
        """The bracketed value that opens at `start`.

        Brackets and `stops` inside strings do not count. A stop outside of them cuts the value
        short; so does one right after a quote that cannot be an opening one.
        """
        known = self._unclosed_at.get((start, id(stops)))
        if known is not None:
            return replace(known, start=start)
        opened: list[int] = []
        closers: list[str] = []
        open_count = {"}": 0, "]": 0, ")": 0}
        pos = start
        while True:
            found = _STRUCTURE.search(self.text, pos - self.base)
            if found is None:
                pos = self.end
                if self.ended:
                    frame = Frame(start=start, end=pos, closed=False)
                    return self._remembered(opened, stops, frame)
                yield
                continue
            pos = found.start() + self.base
            char = found.group()
            if char == '"':
                suspect = yield from self._stop_in_string(pos, stops)
                end = yield from self.string(pos)
                if suspect and not (yield from self._ends_value(end)):
                    return Frame(start=start, end=suspect[0], closed=False, stop=suspect[1])
                if end < 0:
                    frame = yield from self._unclosed(start, pos, stops)
                    return self._remembered(opened, stops, frame)
                pos = end
            elif char in _PAIRS:
                opened.append(pos)
                closers.append(_PAIRS[char])
                open_count[_PAIRS[char]] += 1
                pos += 1
            elif char in open_count:
                pos += 1
                # One too many closes nothing; one that skips others closes those as well.
                while open_count[char]:
                    opened.pop()
                    closed = closers.pop()
                    open_count[closed] -= 1
                    if closed == char:
                        break
                if not opened:
                    return Frame(start=start, end=pos, closed=True)
            elif char in _LOOSE_STOPS:
                if self._opens_value(start, pos):
                    end = yield from self.loose_string(pos)
                    if end < 0:
                        frame = yield from self._unclosed(start, pos, stops)
                        return self._remembered(opened, stops, frame)
                    pos = end
                else:
                    pos += 1
            else:
                stop, _ = yield from self.word(pos, stops)
                if stop:
                    return Frame(start=start, end=pos, closed=False, stop=stop)
                pos += 1

    def _remembered(self, opened: Sequence[int], stops: Words, frame: Frame) -> Frame:
        """`frame`, which the response ended in, noted for every bracket that is open there.

        Readers that give such text back may begin anew at each of them; without this, text
        full of opening brackets would be read once for each.
        """
        for pos in opened:
            self._unclosed_at[pos, id(stops)] = frame
        return frame

    def _stop_in_string(self, quote: int, stops: Words) -> Wait[tuple[int, str] | None]:
        """Where a stop stands right behind a quote, after no more than closing brackets.

        Either the quote opens a string that begins so, or an unescaped quote before it has put
        strings and the rest the wrong way round.
        """
        if stops is NO_WORDS or (yield from self.peek(quote + 1)) not in _AFTER_LAST_STRING:
            return None
        beyond = yield from self.skip(quote + 1, _CLOSERS)
        stop, _ = yield from self.word(beyond, stops)
        return (beyond, stop) if stop else None

    def _ends_value(self, end: int) -> Wait[bool]:
        """Whether the string that ends at `end`, if at all, is followed as a value is."""
        if end < 0:
            return False
        after = yield from self.skip(end)
        return (yield from self.peek(after)) in _VALUE_ENDS

    def _opens_value(self, start: int, pos: int) -> bool:
        before = pos - 1
        while before > start and self.at(before).isspace():
            before -= 1
        return self.at(before) in _VALUE_BEGINS

    def _unclosed(self, start: int, quote: int, stops: Words) -> Wait[Frame]:
        """The frame of a value whose last string never closes: up to the first stop in it."""
        stop, where, _ = yield from self.until(quote, _STOP_BEGINS, stops)
        if stop:
            return Frame(start=start, end=where, closed=False, stop=stop)
        return Frame(start=start, end=self.end, closed=False, open_string=True)
