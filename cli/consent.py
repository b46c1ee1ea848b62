"""Asks whoever sits at the terminal whether a tool may run.

Invariant: anything but a yes is a no, and where nobody sits there, nothing is asked.
"""

import json
from typing import Protocol

from chat.ports import ApprovalRequest, Decision
from cli.answer import AnswerView
from cli.terminal import one_line, printable

_ARGUMENT_CHARS = 300
_YES = frozenset({"y", "yes"})


class Lines(Protocol):
    """Lines that are typed: cli.terminal.InputLines."""

    async def next(self) -> str | None:
        """The next line, None once the input has ended."""
        ...


class TerminalApprover:
    """chat.ports.Approver for one answer, which `view` shows meanwhile."""

    def __init__(self, view: AnswerView, lines: Lines) -> None:
        self._view = view
        self._lines = lines

    async def ask(self, request: ApprovalRequest) -> Decision:
        """See chat.ports.Approver."""
        arguments = json.dumps(dict(request.arguments), ensure_ascii=False)
        what = f"{printable(request.tool)} {one_line(arguments, _ARGUMENT_CHARS)}"
        why = f" {one_line(request.why, _ARGUMENT_CHARS)}" if request.why else ""
        async with self._view.question(f"[tool] May {what} run?{why} y/N "):
            line = await self._lines.next()
        return "once" if (line or "").strip().lower() in _YES else "denied"
