"""Runs parsers over answers: whether they read them right, how fast, how much they hold back.

Invariant: all parsers are driven in the same way, a delta a feed; what the benchmark does with
their results happens outside the measured time.
"""

import gc
import re
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Protocol, TypeAlias

from benchmarks.answers import Answer, Reading
from prompt.events import ParserEvent, TextDelta
from prompt.values import ToolCall
from providers.verbatim import VerbatimParser
from tests.providers.verbatim.surface import SURFACE


class Reader(Protocol):
    """One parser at work on one output."""

    def feed(self, text: str) -> None:
        """Take the next delta."""
        ...

    def close(self) -> None:
        """The output is over."""
        ...

    def reading(self) -> Reading:
        """What the parser made of it."""
        ...


MakeReader: TypeAlias = Callable[[], Reader]
Cut: TypeAlias = Callable[[str], list[str]]

_TAGS = re.compile(r"<[^<>\n]{1,80}>|\[(?:TOOL_CALLS|ARGS)\]")


class Verbatim:
    """Verbatim's own parser."""

    def __init__(self) -> None:
        self._parser = VerbatimParser(SURFACE)
        self._events: list[ParserEvent] = []

    def feed(self, text: str) -> None:
        self._events += self._parser.feed(text)

    def close(self) -> None:
        self._events += self._parser.close("stop")

    def reading(self) -> Reading:
        calls = [(e.name, e.arguments) for e in self._events if isinstance(e, ToolCall)]
        words = "".join(e.text for e in self._events if isinstance(e, TextDelta))
        return Reading(words=words, calls=tuple(calls))


def deltas(text: str, size: int = 4) -> list[str]:
    """`text` in pieces of `size` characters: what a server sends that merges or splits tokens."""
    return [text[at : at + size] for at in range(0, len(text), size)]


def tag_deltas(text: str) -> list[str]:
    """`text` in pieces of four characters, but with tags and special tokens whole: some parsers
    rely on the borders of their model's tokens, and this is the kindest cut to all of them."""
    pieces: list[str] = []
    at = 0
    for marker in _TAGS.finditer(text):
        pieces += [*deltas(text[at : marker.start()]), marker.group()]
        at = marker.end()
    return pieces + deltas(text[at:])


def read(make: MakeReader, pieces: Sequence[str]) -> Reading:
    """What a parser makes of a text that comes in pieces."""
    reader = make()
    for piece in pieces:
        reader.feed(piece)
    reader.close()
    return reader.reading()


def fault(make: MakeReader, answer: Answer, cut: Cut) -> str:
    """What a parser gets wrong in an answer; empty if nothing."""
    try:
        reading = read(make, cut(answer.text))
    except ValueError:
        return "arguments that are no JSON"
    except Exception as error:
        # A peer may raise whatever it likes: that is a result.
        return type(error).__name__
    if reading.calls != answer.right.calls:
        wanted, got = len(answer.right.calls), len(reading.calls)
        return "other arguments" if wanted == got else f"{got} calls of {wanted}"
    return "" if answer.agrees(reading) else "other words"


def seconds(make: MakeReader, pieces: Sequence[str]) -> float:
    """Processor time for one output, from making the parser to closing it."""
    with _no_collection():
        begin = time.process_time()
        reader = make()
        for piece in pieces:
            reader.feed(piece)
        reader.close()
        return time.process_time() - begin


def best_of(makes: Sequence[MakeReader], pieces: Sequence[str], patience: float) -> list[float]:
    """The best time of each parser, measured in turns: at least once each, until the turns have
    taken `patience` seconds, and at most nine times."""
    best = [float("inf")] * len(makes)
    deadline = time.perf_counter() + patience
    for _ in range(9):
        best = [min(least, seconds(make, pieces)) for least, make in zip(best, makes, strict=True)]
        if time.perf_counter() > deadline:
            break
    return best


def held_back(text: str, size: int) -> list[int]:
    """How many characters of a text without a call Verbatim holds back after each delta."""
    parser = VerbatimParser(SURFACE)
    counts: list[int] = []
    held = 0
    for delta in deltas(text, size):
        shown = sum(len(e.text) for e in parser.feed(delta) if isinstance(e, TextDelta))
        held += len(delta) - shown
        counts.append(held)
    return counts


@contextmanager
def _no_collection() -> Generator[None]:
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
