"""The reply under way: what a member may see of it, at any moment.

Invariant: `text` never holds call markup, reasoning or a status line; those have places of
their own.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from chat.screening import NO_SCREEN, Screen
from prompt.dispatcher import DISPATCHERS, unwrapped
from prompt.knowledge import Snippet
from prompt.values import Span, ToolCall, ToolResult
from tools.registry import ToolFile

ReplyState: TypeAlias = Literal["waiting", "thinking", "writing", "tool", "done", "failed"]


@dataclass(slots=True, kw_only=True)
class ToolRun:
    """One tool call of this reply; `result` is None while it runs.

    `started` and `ended` are times of the event loop's clock, in seconds. `is_private` tells that
    the result repeats what not everyone who sees the reply may read.
    """

    call: ToolCall
    result: ToolResult | None = None
    started: float = 0.0
    ended: float = 0.0
    is_private: bool = False

    @property
    def asked(self) -> ToolCall:
        """The call that it comes down to: the one in a dispatcher's payload, where there is one."""
        call = self.call
        inner = unwrapped(call.raw_arguments) if call.name in DISPATCHERS else None
        if inner is None:
            return call
        return replace(
            call, name=inner.name, arguments=inner.arguments, raw_arguments=inner.raw_arguments
        )

    @property
    def seconds(self) -> float:
        """How long it ran; 0 while it runs."""
        return max(0.0, self.ended - self.started)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyStyle:
    """How a server wants its replies.

    An answer of more than `most_messages` goes into a file, behind the first of them; None: never.
    One that `yields` ends when its asker writes again. `shows_thinking` lets members read what the
    model thought. `screen` keeps listed words out of what is shown.
    """

    most_messages: int | None = 10
    yields: bool = False
    shows_thinking: bool = False
    screen: Screen = NO_SCREEN

    def thinking(self, thoughts: Sequence[str]) -> str:
        """What members may read of what the model thought."""
        return self.screen.masked("".join(thoughts)) if self.shows_thinking else ""


@dataclass(slots=True)
class Reply:
    """Grows while the turn runs. Written by the turn alone; surfaces read it.

    `notices` are lines for the member beside the answer: cut short, endpoint down, a call that
    failed. `files` go with the answer, `sources` are the documents that it rests on. `remedy` is
    for surfaces that only an operator sees. `waits_for` tells, while that may take long, what the
    turn waits for; it is shown quietly and goes away, and is no answer. `unheard` tells that
    the first request is out and nothing has come of it. `silent` tells that an empty answer is to
    stay one, `is_cut` that its words break off, `has_thought` that there is thinking beside them.
    `holds_back` tells whether the words of a round so far are not to be seen yet; once they are
    seen, they stay.
    """

    state: ReplyState = "waiting"
    runs: list[ToolRun] = field(default_factory=list[ToolRun])
    notices: list[str] = field(default_factory=list[str])
    files: list[ToolFile] = field(default_factory=list[ToolFile])
    sources: tuple[Snippet, ...] = ()
    remedy: str = ""
    waits_for: str = ""
    unheard: bool = False
    silent: bool = False
    is_cut: bool = False
    has_thought: bool = False
    style: ReplyStyle = field(default=ReplyStyle())
    holds_back: Callable[[str], bool] = field(default=lambda _: False, compare=False)
    _closed: list[str] = field(default_factory=list[str])
    _pieces: list[tuple[str, Span | None]] = field(default_factory=list[tuple[str, Span | None]])
    _is_held: bool = True

    @property
    def text(self) -> str:
        """The answer so far, rounds separated by a blank line, outer blank space trimmed."""
        current = "" if self._is_held else self.current
        rounds = (text.strip() for text in (*self._closed, current))
        return "\n\n".join(text for text in rounds if text)

    @property
    def shown(self) -> str:
        """The answer so far as members may read it."""
        return self.style.screen.shown(self.text, final=self.state in {"done", "failed"})

    @property
    def current(self) -> str:
        """The words of the current round exactly as written, seen or not."""
        return "".join(text for text, _ in self._pieces)

    @property
    def is_held(self) -> bool:
        """Whether nothing of the current round is to be seen yet."""
        return self._is_held

    @property
    def running(self) -> list[ToolRun]:
        """Tool calls that have no result yet."""
        return [run for run in self.runs if run.result is None]

    def write(self, text: str, span: Span | None = None) -> None:
        """Add words to the current round; `span` is where they stand in the response."""
        self._pieces.append((text, span))
        self._is_held = self._is_held and self.holds_back(self.current)

    def take_back(self, span: Span) -> None:
        """Remove what stands within `span` of the current response: it was reasoning."""
        self._pieces = [
            piece
            for text, own in self._pieces
            for piece in ([(text, own)] if own is None else _outside(text, own, span))
        ]
        self._is_held = not self._pieces or self.holds_back(self.current)

    def drop_round(self) -> None:
        """Take back all words of the current round."""
        self._pieces, self._is_held = [], True

    def next_round(self) -> str:
        """Close the current round and return its text exactly as written."""
        text = self.current
        self._closed.append(text)
        self.drop_round()
        return text


def _outside(text: str, own: Span, gone: Span) -> list[tuple[str, Span | None]]:
    """The parts of a piece that lie before and behind the span that goes."""
    start, end = own
    before, behind = min(end, gone[0]), max(start, gone[1])
    kept: list[tuple[str, Span | None]] = []
    if before > start:
        kept.append((text[: before - start], (start, before)))
    if behind < end:
        kept.append((text[behind - start :], (behind, end)))
    return kept
