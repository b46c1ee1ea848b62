"""What stands behind the Discord surface in these tests: turns that a test scripts."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from chat.ports import ChannelMessage, History, Member, Place, Presenter, TurnRequest
from chat.reply import Reply, ToolRun
from prompt.values import ToolCall, ToolResult
from prompt.verbatim import Verdict, WireMode


@dataclass(frozen=True, kw_only=True)
class Switch:
    name: str
    value: str
    default: str
    help: str
    choices: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Overview:
    endpoint: str = "http://127.0.0.1:8080/v1"
    model: str = "tiny"
    mode: WireMode = "verbatim"
    verdict: Verdict = field(default_factory=Verdict)
    tool_mode: str = "auto"
    context_window: int | None = 8192
    switches: Sequence[Switch] = ()


@dataclass(frozen=True, kw_only=True)
class Listing:
    name: str
    description: str
    enabled: bool = True
    why: str = ""
    read_only: bool = True
    source: str = "builtin"


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    text: str
    json: str
    prefix_hash: str = "abc123"


class Stage:
    """What a scripted turn may do."""

    def __init__(self, request: TurnRequest, history: History, presenter: Presenter) -> None:
        self.request = request
        self.history = history
        self.reply = Reply(state="thinking")
        self._presenter = presenter

    def say(self, text: str) -> None:
        self.reply.state = "writing"
        self.reply.write(text)
        self._presenter.changed(self.reply)

    def changed(self) -> None:
        self._presenter.changed(self.reply)

    async def stream(self, text: str, *, seconds: float, pieces: int = 50) -> None:
        size = max(1, len(text) // pieces)
        for start in range(0, len(text), size):
            self.say(text[start : start + size])
            await asyncio.sleep(seconds / pieces)

    def begin_tool(self, name: str) -> ToolRun:
        call = ToolCall(id="c1", name=name, arguments={}, raw_arguments="{}", origin="text")
        run = ToolRun(call=call)
        self.reply.state = "tool"
        self.reply.runs.append(run)
        self.reply.next_round()
        self._presenter.changed(self.reply)
        return run

    def end_tool(self, run: ToolRun) -> None:
        run.result = ToolResult(call_id="c1", name=run.call.name, text="ok", outcome="ok")
        self.reply.state = "thinking"
        self._presenter.changed(self.reply)


Script: TypeAlias = Callable[[Stage], Awaitable[None]]


async def greet(stage: Stage) -> None:
    stage.say("Hello.")


class ScriptedService:
    """Answers like the real one, with turns that `script` plays."""

    def __init__(self) -> None:
        self.script: Script = greet
        self.stages: list[Stage] = []
        self.shown: list[list[int]] = []
        self.cancelled = 0
        self.snapshots: list[tuple[Place, Member, Sequence[ChannelMessage]]] = []
        self.snapshot_text = "the prompt"
        self.listings: list[Listing] = []
        self.switches = {
            "tool_mode": Switch(
                name="tool_mode",
                value="auto",
                default="auto",
                help="Verbatim tool calling",
                choices=("auto", "native", "verbatim", "verbatim_only", "off"),
            ),
            "nudge": Switch(
                name="nudge",
                value="on",
                default="on",
                help="One line at the prompt's end",
                choices=("on", "off"),
            ),
        }
        self._claimed: set[int] = set()

    async def claim(self, message_id: int) -> bool:
        await asyncio.sleep(0)
        fresh = message_id not in self._claimed
        self._claimed.add(message_id)
        return fresh

    async def respond(self, request: TurnRequest, history: History, presenter: Presenter) -> None:
        stage = Stage(request, history, presenter)
        self.stages.append(stage)
        try:
            await self.script(stage)
        except asyncio.CancelledError:
            self.cancelled += 1
            self.shown.append(list(await presenter.finish(stage.reply)))
            raise
        stage.reply.state = "done"
        self.shown.append(list(await presenter.finish(stage.reply)))

    async def snapshot(
        self, place: Place, member: Member, history: History, newest: int
    ) -> Snapshot:
        read = await history.read(before=newest, after=None, limit=50)
        self.snapshots.append((place, member, read))
        return Snapshot(text=self.snapshot_text, json='{"prompt": []}')

    async def overview(self, guild_id: int | None) -> Overview:
        return Overview(
            switches=tuple(self.switches.values()), tool_mode=self.switches["tool_mode"].value
        )

    async def configure(self, guild_id: int | None, name: str, value: str) -> None:
        if value == "native":
            raise ValueError("This endpoint refuses the tools field.")
        self.switches[name] = replace(self.switches[name], value=value)

    async def tools(self, guild_id: int | None) -> Sequence[Listing]:
        return self.listings


class MemoryMeta:
    """Small facts, kept as long as the test runs."""

    def __init__(self) -> None:
        self.values: dict[str, str] = {}

    async def get(self, key: str) -> str | None:
        return self.values.get(key)

    async def put(self, key: str, value: str) -> None:
        self.values[key] = value
