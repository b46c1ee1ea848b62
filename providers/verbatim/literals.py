"""Reads values that are nearly JSON, or Python literals.

Invariant: reads, never evaluates; bounded nesting; raises Unreadable and nothing else. Whoever
calls has already found out that strict JSON does not read the text, and lets the schema judge.
"""

import math
import re
from dataclasses import dataclass
from typing import Never

from prompt.open_values import OPEN
from prompt.values import Json

MAX_DEPTH = 64

_SPACE = re.compile(r"(?:\s|//[^\n]*(?:\n|$)|#[^\n]*(?:\n|$)|/\*.*?\*/)*", re.DOTALL)
_NUMBER = re.compile(r"[+-]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.])")
_JSON_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?")
_WORD = re.compile(r"[^\W\d][\w\-$]*")
_OPEN = re.compile(rf"{re.escape(OPEN)}(?=\s*[,)}}\]])")
_BARE_WORD = re.compile(r"[^,}\])\n]+")
_ESCAPE = re.compile(r"u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.)", re.DOTALL)
_AFTER_KEY = re.compile(r"\s*[:=]")
_AFTER_VALUE = re.compile(r"\s*(?:[}\])]|$|,\s*(?:[}\])]|$|[\"'“‘{\[\d-]|[^\W\d][\w\-]*\s*[:=]))")
_CONSTANTS = {
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
    "null": None,
    "None": None,
    "undefined": None,
}
_SIMPLE_ESCAPES = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "b": "\b",
    "f": "\f",
    "/": "/",
    "\\": "\\",
    '"': '"',
    "'": "'",
    "\n": "",
}
_CLOSING_QUOTE = {'"': '"', "'": "'", "“": "”", "‘": "’", "”": "”", "`": "`"}
_STRING_STOPS = {closer: re.compile(rf"[\\{closer}]") for closer in set(_CLOSING_QUOTE.values())}


class Unreadable(ValueError):
    """The text is no value that this module knows."""


class SpelledFloat(float):
    """A float that remembers how it was written, for schemas that turn out to want a string."""

    __slots__ = ("spelling",)
    spelling: str

    def __new__(cls, spelling: str) -> "SpelledFloat":
        """Parse `spelling`, which is a JSON number."""
        self = super().__new__(cls, spelling)
        self.spelling = spelling
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class Leniency:
    """What a reader may forgive.

    `guess_quotes`: a quote inside a string need not be escaped if what follows it does not look
    like the end of a value. `close_missing`: brackets still open at the end are closed.
    `quote_tokens`: markers that a family writes in place of quotation marks. `bare_words`:
    a value without any quotes is a string.
    """

    guess_quotes: bool = False
    close_missing: bool = False
    quote_tokens: tuple[str, ...] = ()
    bare_words: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CallArguments:
    """What stands between the parentheses of `name(...)`, in order of writing."""

    positional: tuple[Json, ...] = ()
    keywords: tuple[tuple[str, Json], ...] = ()


def read_value(text: str, leniency: Leniency) -> Json:
    """The one value that `text` holds; surplus closing brackets after it are ignored."""
    reader = _Reader(text, leniency)
    value, pos = reader.value(reader.space(0), 0)
    if text[reader.space(pos) :].strip(" \t\r\n}])>;,"):
        raise Unreadable("text after the value")
    return value


def read_call_arguments(text: str, leniency: Leniency) -> CallArguments:
    """The arguments of a call, given what stands between its parentheses."""
    return _Reader(text, leniency).call_arguments()


class _Reader:
    def __init__(self, text: str, leniency: Leniency) -> None:
        self.text = text
        self.leniency = leniency

    def space(self, pos: int) -> int:
        match = _SPACE.match(self.text, pos)
        return match.end() if match else pos

    def value(self, pos: int, depth: int) -> tuple[Json, int]:
        if depth > MAX_DEPTH:
            raise Unreadable("nested too deeply")
        char = self.text[pos : pos + 1]
        if char == "{":
            return self._object(pos + 1, depth)
        if char in ("[", "("):
            return self._array(pos + 1, depth)
        token = self._quote_at(pos)
        if token:
            return self._string(pos, token, is_key=False)
        number = _NUMBER.match(self.text, pos)
        if number:
            return _number(number.group()), number.end()
        word = _WORD.match(self.text, pos)
        if word and word.group() in _CONSTANTS:
            return _CONSTANTS[word.group()], word.end()
        if _OPEN.match(self.text, pos):
            return OPEN, pos + len(OPEN)
        if self.leniency.bare_words and char:
            return self._bare_word(pos)
        raise Unreadable("no value")

    def call_arguments(self) -> CallArguments:
        positional: list[Json] = []
        keywords: list[tuple[str, Json]] = []
        pos = self.space(0)
        while pos < len(self.text):
            word = _WORD.match(self.text, pos)
            after = self.space(word.end()) if word else pos
            if word and self.text[after : after + 1] in ("=", ":"):
                pos = self.space(after + 1)
                value, pos = self.value(pos, 0)
                keywords.append((word.group(), value))
            else:
                if self.text.startswith("**", pos):
                    pos = self.space(pos + 2)
                value, pos = self.value(pos, 0)
                positional.append(value)
            pos = self.space(pos)
            if pos < len(self.text):
                if self.text[pos] != ",":
                    raise Unreadable("no comma between arguments")
                pos = self.space(pos + 1)
        return CallArguments(positional=tuple(positional), keywords=tuple(keywords))

    def _object(self, pos: int, depth: int) -> tuple[dict[str, Json], int]:
        found: dict[str, Json] = {}
        while True:
            pos = self.space(pos)
            char = self.text[pos : pos + 1]
            if not char:
                return found, self._missing(pos)
            if char == "}":
                return found, pos + 1
            if char in ("]", ")"):
                return found, pos
            if char == ",":
                pos += 1
                continue
            key, pos = self._key(pos)
            pos = self.space(pos)
            if self.text[pos : pos + 1] not in (":", "="):
                raise Unreadable("a key without a value")
            found[key], pos = self.value(self.space(pos + 1), depth + 1)
            pos = self._separator(pos, "}])")

    def _array(self, pos: int, depth: int) -> tuple[list[Json], int]:
        found: list[Json] = []
        while True:
            pos = self.space(pos)
            char = self.text[pos : pos + 1]
            if not char:
                return found, self._missing(pos)
            if char in ("]", ")"):
                return found, pos + 1
            if char == "}":
                return found, pos
            if char == ",":
                pos += 1
                continue
            value, pos = self.value(pos, depth + 1)
            found.append(value)
            pos = self._separator(pos, "}])")

    def _separator(self, pos: int, closers: str) -> int:
        pos = self.space(pos)
        char = self.text[pos : pos + 1]
        if not char or char in closers or char == ",":
            return pos
        raise Unreadable("no comma between values")

    def _missing(self, pos: int) -> int:
        if not self.leniency.close_missing:
            raise Unreadable("a bracket is not closed")
        return pos

    def _key(self, pos: int) -> tuple[str, int]:
        token = self._quote_at(pos)
        if token:
            return self._string(pos, token, is_key=True)
        word = _WORD.match(self.text, pos)
        if word is None:
            raise Unreadable("no key")
        return word.group(), word.end()

    def _quote_at(self, pos: int) -> str:
        char = self.text[pos : pos + 1]
        if char and char in _CLOSING_QUOTE:
            return char
        for token in self.leniency.quote_tokens:
            if self.text.startswith(token, pos):
                return token
        return ""

    def _string(self, pos: int, opener: str, *, is_key: bool) -> tuple[str, int]:
        start = pos + len(opener)
        if len(opener) > 1:
            end = self.text.find(opener, start)
            if end < 0:
                raise Unreadable("a string is not closed")
            return self.text[start:end], end + len(opener)
        closer = _CLOSING_QUOTE[opener]
        ends = _AFTER_KEY if is_key else _AFTER_VALUE
        # An apostrophe is a letter's neighbour far more often than the end of a string.
        guess = self.leniency.guess_quotes or closer not in ('"', "`")
        pieces: list[str] = []
        pos = start
        while True:
            found = _STRING_STOPS[closer].search(self.text, pos)
            if found is None:
                raise Unreadable("a string is not closed")
            stop = found.start()
            pieces.append(self.text[pos:stop])
            if self.text[stop] == closer:
                if not guess or ends.match(self.text, stop + 1):
                    return _joined(pieces), stop + 1
                pieces.append(closer)
                pos = stop + 1
            else:
                decoded, pos = self._escape(stop + 1)
                pieces.append(decoded)

    def _escape(self, pos: int) -> tuple[str, int]:
        match = _ESCAPE.match(self.text, pos)
        if match is None:
            raise Unreadable("a string is not closed")
        code = match.group(1) or match.group(2)
        if code:
            return chr(int(code, 16)), match.end()
        char = match.group(3)
        return _SIMPLE_ESCAPES.get(char, "\\" + char), match.end()

    def _bare_word(self, pos: int) -> tuple[str, int]:
        word = _BARE_WORD.match(self.text, pos)
        if word is None:
            raise Unreadable("no value")
        return word.group().strip(), word.end()


def _number(spelling: str) -> Json:
    json_number = _JSON_NUMBER.fullmatch(spelling)
    if json_number is None:
        plain = spelling.replace("_", "").lstrip("+")
        if _JSON_NUMBER.fullmatch(plain):
            return _number(plain)
        # `007` is a number to nobody; a schema that wants one coerces it.
        return spelling
    if json_number.group(1) or json_number.group(2):
        return read_float(spelling)
    return read_int(spelling)


def read_float(spelling: str) -> SpelledFloat:
    """A finite number; JSON could not write another one again."""
    number = SpelledFloat(spelling)
    if not math.isfinite(number):
        raise Unreadable("a number is too large")
    return number


def no_constant(name: str) -> Never:
    """For NaN and Infinity, which Python takes for JSON."""
    raise Unreadable(f"{name} is not JSON")


def read_int(spelling: str) -> int:
    """An integer of any length that Python converts; longer ones are unreadable."""
    try:
        return int(spelling)
    except ValueError as error:
        raise Unreadable("a number is too long") from error


def _joined(pieces: list[str]) -> str:
    text = "".join(pieces)
    if any("\ud800" <= char <= "\udfff" for char in text):
        # Two \u escapes that form one character.
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
