"""Runs the tool calls of one round under the limits of the turn.

Invariant: every call gets exactly one result, in call order. Read-only calls run side by side,
the rest one after another in the order in which they were made; a call made twice in one
message runs once and answers both.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from chat.reply import Reply, ToolRun
from prompt.surface import ToolSurface
from prompt.values import ToolCall, ToolResult
from providers.base import CallKey
from providers.verbatim import call_key
from tools.dispatch import error_text, run_call
from tools.dispatcher import resolve
from tools.registry import Tool, ToolContext

CALL_TIMEOUT = 30.0
"""Seconds that one tool call may take."""


class ToolWork:
    """The tool calls of one turn. `tools` are all that the turn may have, by their own names.

    The same call runs `repeats` times; a model that asks again is told to use the result.
    """

    def __init__(
        self,
        tools: Mapping[str, Tool],
        context: ToolContext,
        reply: Reply,
        changed: Callable[[], None],
        *,
        repeats: int = 2,
    ) -> None:
        self._repeats = repeats
        self._tools = tools
        self._context = context
        self._reply = reply
        self._changed = changed
        self._ran: Counter[CallKey] = Counter()

    async def run(self, calls: Sequence[ToolCall], surface: ToolSurface) -> list[ToolResult]:
        """Results in the order of `calls`, whose names stand on `surface` if they may run.

        Cancelling cancels what runs.
        """
        if not calls:
            return []
        runs = [ToolRun(call=call) for call in calls]
        firsts: dict[CallKey, ToolRun] = {}
        for run in runs:
            firsts.setdefault(_key(run.call), run)
        self._reply.state = "tool"
        self._reply.runs += firsts.values()
        self._changed()
        together: list[ToolRun] = []
        for run in firsts.values():
            spec = resolve(surface, run.call).spec
            if spec is not None and spec.read_only:
                together.append(run)
                continue
            await self._run_all(together, surface)
            together = []
            await self._run_all([run], surface)
        await self._run_all(together, surface)
        return [self._answer(run.call, firsts[_key(run.call)]) for run in runs]

    async def _run_all(self, runs: Sequence[ToolRun], surface: ToolSurface) -> None:
        async with asyncio.TaskGroup() as group:
            for run in runs:
                group.create_task(self._run(run, surface))

    async def _run(self, run: ToolRun, surface: ToolSurface) -> None:
        key = _key(run.call)
        self._ran[key] += 1
        if self._ran[key] > self._repeats:
            run.result = refused(
                run.call,
                "repeat_limit",
                message="This very call has been answered already. Use its result.",
            )
        else:
            ran = await run_call(
                self._tools, surface, self._context, run.call, timeout=CALL_TIMEOUT
            )
            run.result = ran.result
        self._changed()

    @staticmethod
    def _answer(call: ToolCall, run: ToolRun) -> ToolResult:
        if run.result is None:
            raise AssertionError("a run ended without a result")
        if run.call is call:
            return run.result
        return ToolResult(
            call_id=call.id, name=call.name, text=run.result.text, outcome=run.result.outcome
        )


def refused(call: ToolCall, code: str, *, message: str) -> ToolResult:
    """The result of a call that is not run."""
    return ToolResult(
        call_id=call.id,
        name=call.name,
        text=error_text(code, call.name, message=message),
        outcome="denied",
    )


def _key(call: ToolCall) -> CallKey:
    return call_key(call.name, call.arguments)
