"""Shows one growing answer on a terminal or in a pipe.

Invariant: what is printed for good is only ever added to. Text that may still be taken back
stands in a live region below it, or waits; it is committed when a tool runs or the answer ends.
"""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from types import TracebackType
from typing import Self, TextIO

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from chat.reply import Reply, ToolRun
from cli.terminal import one_line, printable

_FRAME = 0.08
_TICK = 0.25
_ARGUMENT_CHARS = 120
_RESULT_CHARS = 160
_NOTICE_CHARS = 2000
_LIVE_CHARS = 8000
"""Enough to fill any screen; laying out more of a long answer in every frame is wasted."""


class AnswerView:
    """A context around one answer. `changed` only takes note; a task of its own draws.

    Where `stdout` is a terminal that can move its cursor, the answer streams in a live region
    and then replaces it. Elsewhere plain text is written, without control characters.
    """

    def __init__(self, stdout: TextIO) -> None:
        self._stdout = stdout
        self._console = Console(file=stdout, force_terminal=stdout.isatty())
        self._streams = self._console.is_terminal and not self._console.is_dumb_terminal
        self._live = Live(console=self._console, auto_refresh=False, transient=True)
        self._reply = Reply()
        self._news = asyncio.Event()
        self._drawing: asyncio.Task[None] | None = None
        self._begun = time.monotonic()
        self._committed = ""
        self._started: list[float] = []
        self._took: dict[int, float] = {}
        self._announced = 0
        self._reported: set[int] = set()

    async def __aenter__(self) -> Self:
        if self._streams:
            self._live.start()
        self._drawing = asyncio.create_task(self._draw_on())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._stop_drawing()
        self._print("")

    def changed(self, reply: Reply) -> None:
        """Take note; tool times are taken here, where they are exact."""
        self._reply = reply
        now = time.monotonic()
        self._started += [now] * (len(reply.runs) - len(self._started))
        for index, run in enumerate(reply.runs):
            if run.result is not None and index not in self._took:
                self._took[index] = now - self._started[index]
        self._news.set()

    async def finish(self, reply: Reply) -> None:
        """Print whatever is left."""
        self.changed(reply)
        await self._stop_drawing()
        self._commit_runs(last=True)
        self._commit_text()
        for file in reply.files:
            size = f"{len(file.data):,} bytes"
            self._print(f"[file] {one_line(file.name, _ARGUMENT_CHARS)}, {size}, for Discord only")
        for notice in reply.notices:
            self._print(f"! {one_line(notice, _NOTICE_CHARS)}", "yellow")
        if reply.remedy:  # who sits here is the operator
            self._print(f"  {one_line(reply.remedy, _NOTICE_CHARS)}", "yellow")

    @asynccontextmanager
    async def question(self, words: str) -> AsyncGenerator[None]:
        """Leave the terminal to whoever answers a question, which is printed."""
        await self._stop_drawing()
        self._commit_text()
        self._stdout.write(printable(words))
        self._stdout.flush()
        try:
            yield
        finally:
            await self.__aenter__()

    async def _stop_drawing(self) -> None:
        if self._drawing is None:
            return
        drawing, self._drawing = self._drawing, None
        drawing.cancel()
        try:
            await asyncio.wait([drawing])
        finally:
            self._live.stop()
        if not drawing.cancelled():
            drawing.result()  # it failed, say because the output was closed

    async def _draw_on(self) -> None:
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(_TICK):  # elapsed seconds move without news
                    await self._news.wait()
            self._news.clear()
            self._commit_runs()
            if self._streams:
                self._live.update(self._region(), refresh=True)
            await asyncio.sleep(_FRAME)

    def _commit_runs(self, *, last: bool = False) -> None:
        """Print tool calls that began or ended; `last` leaves none of them open."""
        for index, run in enumerate(self._reply.runs):
            if index >= self._announced:
                self._announced += 1
                self._commit_text()
                if not self._streams:
                    self._print(f"[tool] {_described(run)}")
            if index not in self._reported and (last or run.result is not None):
                self._reported.add(index)
                who = _described(run) if self._streams else printable(run.asked.name)
                self._print(f"[tool] {who}: {self._outcome(index, run)}", "dim")

    def _commit_text(self) -> None:
        text = printable(self._reply.text)
        if not text.startswith(self._committed):
            self._print("[what stands above was thinking; the answer follows]", "dim")
            self._committed = ""
        fresh = text[len(self._committed) :].strip("\n")
        self._committed = text
        if fresh:
            self._print(fresh)

    def _region(self) -> Group:
        """What may still change: the end of the open text, running tools, what is awaited."""
        reply = self._reply
        now = time.monotonic()
        parts: list[Text] = []
        text = printable(reply.text)
        open_text = text.removeprefix(self._committed)
        if open_text := open_text.strip("\n")[-_LIVE_CHARS:]:
            width, height = self._console.size
            rows = Text(open_text).wrap(self._console, width)
            parts.extend(rows[-max(1, height - 2 - len(reply.running)) :])
        for started, run in zip(self._started, reply.runs, strict=False):
            if run.result is None:
                parts.append(_quiet(f"[tool] {_described(run)}: running {now - started:.0f} s"))
        if not open_text and not reply.running and (what := _awaited(reply)):
            parts.append(_quiet(f"{what}, {now - self._begun:.0f} s"))
        return Group(*parts)

    def _outcome(self, index: int, run: ToolRun) -> str:
        result = run.result
        if result is None:
            return "stopped"
        why = "" if result.outcome == "ok" else f" ({one_line(result.text, _RESULT_CHARS)})"
        return f"{result.outcome}{why}, {self._took[index]:.2f} s"

    def _print(self, text: str, style: str = "") -> None:
        if self._streams:
            self._console.print(Text(text, style=style))
        else:
            self._stdout.write(f"{text}\n")
            self._stdout.flush()


def _quiet(text: str) -> Text:
    return Text(text, style="dim", no_wrap=True, overflow="ellipsis")


def _awaited(reply: Reply) -> str:
    if reply.waits_for:
        return reply.waits_for
    if reply.unheard:
        return "waiting for the model"
    return {"waiting": "waiting for the model", "thinking": "thinking"}.get(reply.state, "")


def _described(run: ToolRun) -> str:
    return f"{printable(run.asked.name)} {one_line(run.asked.raw_arguments, _ARGUMENT_CHARS)}"
