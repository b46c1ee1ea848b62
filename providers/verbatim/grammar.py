"""How a dialect is declared, and the tables that all dialects together make.

Invariant: markers are looked up in one walk over one table, however many dialects there are.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from providers.verbatim.candidate import Candidate
from providers.verbatim.scanner import Wait, Words
from providers.verbatim.tokens import ORPHANS

CallReader: TypeAlias = Callable[[Candidate, "Grammar", int, int], Wait[int | None]]
"""Reads a call that begins with a marker: candidate, grammar, where the marker begins, where it
ends. Returns where the call ends, having proposed it, or None where there is none."""

ArgumentReader: TypeAlias = Callable[[Candidate, "Grammar", str, int, int], Wait[int | None]]
"""Reads arguments that a marker introduces after a written name: candidate, grammar, the name,
where the name begins, where the marker ends. Returns as a CallReader does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wrapper:
    """A marker that calls stand behind, up to a closer if the family writes one.

    `tag`: it looks like a tag that prose or code could hold, so that an empty one in the middle
    of a line is just mentioned. Other markers never reach a member. `strict`: at a line's start
    it is a call wrapper even if it holds prose. `open_ended`: the family ends such calls with
    the response, so that a missing closer leaves nothing open.
    """

    opener: str
    closers: tuple[str, ...] = ()
    tag: bool = True
    strict: bool = True
    open_ended: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """One family's way to write calls.

    `wrappers` surround calls of whatever shape. `calls` begin a call, in a wrapper or alone.
    `after_name` introduce the arguments of a name that was written before them. `prefixes`
    stand before a name, in a wrapper or at a line's start. `lines` begin a call at a line's
    start. `channels` are headers that are read even where calls are not, since they tell
    thinking from the answer. `noise` may stand between the parts of a call and means nothing.
    """

    name: str
    wrappers: tuple[Wrapper, ...] = ()
    calls: Mapping[str, CallReader] = field(default_factory=dict[str, CallReader])
    after_name: Mapping[str, ArgumentReader] = field(default_factory=dict[str, ArgumentReader])
    prefixes: Mapping[str, CallReader] = field(default_factory=dict[str, CallReader])
    lines: Mapping[str, CallReader] = field(default_factory=dict[str, CallReader])
    channels: Mapping[str, CallReader] = field(default_factory=dict[str, CallReader])
    noise: tuple[str, ...] = ()


class Grammar:
    """The dialects that one parser reads, as lookup tables."""

    def __init__(self, dialects: Iterable[Dialect]) -> None:
        known = tuple(dialects)
        self.wrappers = {wrapper.opener: wrapper for d in known for wrapper in d.wrappers}
        self.closers = frozenset(c for w in self.wrappers.values() for c in w.closers)
        self.calls = {marker: read for d in known for marker, read in d.calls.items()}
        self.after_name = {marker: read for d in known for marker, read in d.after_name.items()}
        self.channels = {marker: read for d in known for marker, read in d.channels.items()}
        self.calls.update(self.channels)
        self.prefixes = {marker: read for d in known for marker, read in d.prefixes.items()}
        self.lines = {marker: read for d in known for marker, read in d.lines.items()}
        self.lines.update(self.prefixes)
        self.noise = frozenset(marker for d in known for marker in d.noise)
        self.openers = Words((*self.wrappers, *self.calls))
        self.closing = Words((*self.closers, *ORPHANS))
        self.inside = Words((*self.wrappers, *self.calls, *self.closers, *self.noise))
        # What ends the words that stand where a call should.
        self.ends_line = Words((*self.closers, *self.wrappers, "\n"))
        self.ends_block = Words((*self.closers, *self.wrappers, "\n\n"))
        self.name_markers = Words(self.after_name)
        self.name_prefixes = Words(self.prefixes)
        self.line_words = Words(self.lines)
