"""What a dialect's reader works with: the text, the names on offer, and where findings go.

Invariant: findings leave in the order of the text and tile it from the candidate's start. What
has left is settled; the reader may still take back everything after it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from prompt.values import ToolSpec
from providers.verbatim.arguments import Bound, Written, bind_call
from providers.verbatim.names import NameIndex
from providers.verbatim.objects import NAME_KEYS, ObjectCall, read_calls
from providers.verbatim.scanner import Frame, Scanner, Wait
from providers.verbatim.sites import Ending, Hidden, Malformed, Sink, Site

_EARLY = 400
_EARLY_NAME = re.compile(
    r"\{\s{0,40}(?:['\"]type['\"]\s{0,9}:\s{0,9}['\"]function['\"]\s{0,9},\s{0,40})?"
    rf"['\"]?(?:{'|'.join(NAME_KEYS)})['\"]?\s{{0,9}}:\s{{0,40}}"
    r"(?:\{\s{0,40}['\"]name['\"]\s{0,9}:\s{0,40})?['\"]([^'\"\\{}]{1,128})['\"]"
)
_INNER_NAME = re.compile(r"\"name\"\s{0,9}:\s{0,9}\"([^\"\\]{1,128})\"")
_NAME = re.compile(r"[\w.\-:/]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """Where a candidate stands.

    `whole`: nothing was said before it in this response. `thought`: a `Thought:` line was.
    `calls`: calls are read at all. `form`: what is tried here, for explanations.
    """

    line_start: bool = False
    whole: bool = False
    thought: bool = False
    calls: bool = True
    form: str = ""


class Candidate:
    """A stretch of text that may be one call or several."""

    def __init__(
        self,
        scan: Scanner,
        names: NameIndex,
        sink: Sink,
        *,
        start: int,
        setting: Setting,
        limit: int,
    ) -> None:
        self.scan = scan
        self.names = names
        self.start = start
        self.setting = setting
        self.limit = limit
        self.last = False
        """Set by a reader whose finding is a call only if nothing but calls follows."""
        self.thought = False
        """Set by a reader of a line that, given what follows, may turn out to be thinking."""
        self.after_thought = False
        """Set by a reader that found what makes such a line thinking."""
        self._sink = sink
        self._open: Site | Malformed | None = None
        self._announced = ""

    @property
    def found(self) -> bool:
        """Whether a call, or a failed one, waits for its end to be settled."""
        return self._open is not None

    @property
    def reach(self) -> int:
        """Where the open call ends so far."""
        return self._open.span[1] if self._open else self.start

    def started(self, spec: ToolSpec, start: int) -> None:
        """The call that begins at `start` is one of `spec`, whatever its arguments."""
        if not self._announced:
            self.settle(start, "closed")
            self._sink.started(spec.name)
            self._announced = spec.name
            self.scan.room = self.limit

    def propose(
        self,
        name: str,
        arguments: Written,
        start: int,
        end: int,
        *,
        ending: Ending = "closed",
        repaired: bool = False,
        size: int = 0,
    ) -> None:
        """A call stands at `start` to `end`; closers behind it may still be added to it."""
        self.settle(start, "closed")
        self._open = Site(
            name=name,
            arguments=arguments,
            span=(self.start, end),
            ending=ending,
            repaired=repaired,
            size=size if size > self.limit else 0,
            form=self.setting.form,
        )
        self._announced = ""
        self.scan.room = None

    def propose_all(
        self, calls: Sequence[ObjectCall], start: int, end: int, *, ending: Ending
    ) -> None:
        """One object that stands at `start` to `end` holds these calls, at least one."""
        text = self.scan.slice(start, end)
        at = 0
        for count, call in enumerate(calls):
            rest = len(calls) - count
            if count:
                # Each gets its share of the text: from its name on, if that is found.
                at = max(text.find(call.name, at + 1, len(text) - rest), at + 1)
            self.propose(
                call.name,
                call.arguments,
                start + at,
                end,
                ending=ending,
                repaired=call.repaired,
            )

    def settle(self, end: int, ending: Ending | None = None) -> None:
        """The open call, if any, reaches to `end`.

        `ending` says how the wrapper around it ends; a call that is incomplete stays so.
        """
        found = self._open
        if found is None:
            return
        self._open = None
        if isinstance(found, Site) and ending and found.ending not in ("open", "cut"):
            found = replace(found, ending=ending)
        self._leave(end)
        self._sink.piece(replace(found, span=(found.span[0], end)))

    def extend(self, end: int) -> None:
        """The open call reaches to `end`; whether it is settled there is still open."""
        if self._open:
            self._open = replace(self._open, span=(self._open.span[0], end))

    def malformed(self, problem: str, end: int, *, name: str = "", cut: bool = False) -> None:
        """Up to `end` stands a wrapper without a readable call; closers may still be added."""
        self._open = Malformed(
            name=name,
            problem=problem,
            span=(self.start, end),
            cut=cut,
            form=self.setting.form,
        )
        self._announced = ""
        self.scan.room = None

    def channel(self, ends: Sequence[str] = (), *, final: bool = False) -> None:
        """A channel begins here: thinking up to one of `ends`, or the answer if there are none.
        `final`: JSON in it is just an answer."""
        self._sink.channel(ends, final=final)

    def hide(self, end: int, why: str) -> None:
        """What stands up to `end` reaches nobody."""
        if self._open:
            self.settle(self._open.span[1], "closed")
        if end > self.start:
            span = (self.start, end)
            self._leave(end)
            self._sink.piece(Hidden(span=span, why=why))

    def _leave(self, end: int) -> None:
        self.start = end
        self.scan.room = None

    def name(self, pos: int) -> Wait[int]:
        """Where the name at `pos` ends."""
        return (yield from self.scan.skip(pos, _NAME))

    def watch(self, start: int, scan: Wait[Frame]) -> Wait[Frame]:
        """Run `scan` over the call object at `start`, announcing its name when it is certain."""
        while True:
            try:
                next(scan)
            except StopIteration as stop:
                frame: Frame = stop.value
                self._announce(start)
                return frame
            if self.scan.end - start < 4 * _EARLY:
                self._announce(start)
            yield

    def _announce(self, start: int) -> None:
        if self._announced:
            return
        spec = self.names.resolve(self.early_name(start))
        if spec:
            self.started(spec, start)

    def early_name(self, start: int) -> str:
        """The name in the call object at `start`, as soon as it has been written."""
        if self._announced:
            return self._announced
        match = _EARLY_NAME.match(self.scan.slice(start, start + _EARLY))
        return match.group(1) if match else ""

    def inner_name(self, start: int) -> str:
        """The first name in the object at `start`, at whatever depth."""
        match = _INNER_NAME.search(self.scan.slice(start, start + _EARLY))
        return match.group(1) if match else ""

    def read_object(self, frame: Frame) -> list[ObjectCall]:
        """The calls in a framed object; the reading whose arguments fit wins, else the first."""
        text = self.scan.slice(frame.start, frame.end)
        readings = read_calls(text, self.names, complete=not frame.open_string)
        if len(readings) > 1:
            for reading in readings:
                if all(map(self._fits, reading)):
                    return list(reading)
        return list(readings[0]) if readings else []

    def _fits(self, call: ObjectCall) -> bool:
        spec = self.names.resolve(call.name)
        return spec is not None and isinstance(bind_call(spec, call.arguments), Bound)
