"""The reply under way: what a member may see of it, at any moment.

Invariant: `text` never holds call markup, reasoning or a status line; those have places of
their own. Finished text never changes again.
"""

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from prompt.values import ToolCall, ToolResult

ReplyState: TypeAlias = Literal["waiting", "thinking", "writing", "tool", "done", "failed"]


@dataclass(slots=True, kw_only=True)
class ToolRun:
    """One tool call of this reply; `result` is None while it runs."""

    call: ToolCall
    result: ToolResult | None = None


@dataclass(slots=True)
class Reply:
    """Grows while the turn runs. Written by the turn alone; surfaces read it."""

    state: ReplyState = "waiting"
    runs: list[ToolRun] = field(default_factory=list[ToolRun])
    notices: list[str] = field(default_factory=list[str])
    """Lines for the member beside the answer: cut short, endpoint down, a call that failed."""
    _rounds: list[list[str]] = field(default_factory=lambda: [[]])

    @property
    def text(self) -> str:
        """The answer so far, rounds separated by a blank line, outer blank space trimmed."""
        rounds = ("".join(pieces).strip() for pieces in self._rounds)
        return "\n\n".join(text for text in rounds if text)

    @property
    def running(self) -> list[ToolRun]:
        """Tool calls that have no result yet."""
        return [run for run in self.runs if run.result is None]

    def write(self, text: str) -> None:
        """Add words to the current round."""
        self._rounds[-1].append(text)

    def take_back(self, text: str) -> None:
        """Remove `text` from the end of the current round: it was reasoning."""
        whole = "".join(self._rounds[-1])
        self._rounds[-1] = [whole.removesuffix(text)]

    def next_round(self) -> str:
        """Close the current round and return its text exactly as written."""
        text = "".join(self._rounds[-1])
        self._rounds.append([])
        return text
