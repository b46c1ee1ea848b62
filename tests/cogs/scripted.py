"""What stands behind the Discord surface in these tests: turns that a test scripts."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from chat.account import PromptSnapshot
from chat.config import DEFAULT, Switch, checked, switches
from chat.endpoints import FIRST_SPOT, Spot
from chat.explaining import Explanation
from chat.overview import Exposure, ExposureChange, Overview, ToolListing
from chat.ports import ChannelMessage, History, Member, Place, Presenter, TurnRequest
from chat.recording import RecordedRun
from chat.reply import Reply, ToolRun
from prompt.values import Outcome, ToolCall, ToolResult
from prompt.verbatim import Verdict
from tests.loopback.discord_server import Message
from tests.loopback.discord_server.model import walk_components


def overview_of(switches: Sequence[Switch]) -> Overview:
    return Overview(
        endpoint="http://127.0.0.1:8080/v1",
        model="tiny",
        mode="verbatim",
        verdict=Verdict(),
        tool_mode=next(switch.value for switch in switches if switch.name == "tool_mode"),
        context_window=8192,
        switches=switches,
    )


def labels(message: Message) -> list[str]:
    """Those of the buttons that stand under a message, in order."""
    return [str(each["label"]) for each in walk_components(message.components) if "label" in each]


class Stage:
    """What a scripted turn may do."""

    def __init__(self, request: TurnRequest, history: History, presenter: Presenter) -> None:
        self.request = request
        self.history = history
        self.reply = Reply(state="thinking")
        self._presenter = presenter
        self._said = 0

    def say(self, text: str) -> None:
        self.reply.state = "writing"
        self.reply.write(text, (self._said, self._said + len(text)))
        self._said += len(text)
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

    def end_tool(self, run: ToolRun, outcome: Outcome = "ok") -> None:
        run.result = ToolResult(call_id="c1", name=run.call.name, text=outcome, outcome=outcome)
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
        self.sent_for: set[int] = set()
        self.sent_asked: list[tuple[int, int, bool]] = []
        self.refusal = ""
        self.forgotten: list[tuple[int | None, int | None]] = []
        self.listings: list[ToolListing] = []
        self.switches = {switch.name: switch for switch in switches({})}
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
            stage.reply.state = "done"
            stage.reply.notices.append("Stopped.")
            self.shown.append(list(await presenter.finish(stage.reply)))
            raise
        stage.reply.state = "done"
        self.shown.append(list(await presenter.finish(stage.reply)))

    async def snapshot(
        self, place: Place, member: Member, history: History, newest: int, *, masks: bool = False
    ) -> PromptSnapshot:
        read = await history.read(before=newest, after=None, limit=50)
        self.snapshots.append((place, member, read))
        return PromptSnapshot(text=self.snapshot_text, json='{"prompt": []}', prefix_hash="abc123")

    async def sent(
        self, place: Place, message_id: int, *, masks: bool = False
    ) -> PromptSnapshot | None:
        self.sent_asked.append((place.channel_id, message_id, masks))
        if message_id not in self.sent_for:
            return None
        return PromptSnapshot(text="sent", json="{}", prefix_hash="", diff="parted")

    async def explain(self, place: Place, message_id: int) -> Explanation | None:
        return None

    async def details(self, place: Place, message_id: int) -> Sequence[RecordedRun] | None:
        return None

    async def thinking(self, place: Place, message_id: int) -> str | None:
        return None

    def forget(self, guild_id: int | None, member_id: int | None) -> None:
        self.forgotten.append((guild_id, member_id))

    async def overview(self, guild_id: int | None, spot: Spot = FIRST_SPOT) -> Overview:
        return overview_of(tuple(self.switches.values()))

    async def configure(
        self,
        guild_id: int | None,
        name: str,
        value: str,
        *,
        by: int | None = None,
        spot: Spot = FIRST_SPOT,
    ) -> None:
        if self.refusal:
            raise ValueError(self.refusal)
        spec = self.switches[name]
        is_set = value != DEFAULT
        plain = checked(name, value) if is_set else spec.learnt or spec.default
        self.switches[name] = replace(spec, value=plain, is_set=is_set)

    async def tools(self, guild_id: int | None) -> Sequence[ToolListing]:
        return self.listings

    async def exposure(self, guild_id: int | None) -> Exposure:
        raise AssertionError("tests of exposure are made with the real service")

    async def expose(self, guild_id: int | None, change: ExposureChange) -> Exposure:
        return await self.exposure(guild_id)

    async def allow(self, guild_id: int | None, names: Sequence[str] | None) -> Exposure:
        return await self.exposure(guild_id)

    async def toggle(self, guild_id: int | None, name: str, on: bool | None) -> ToolListing:
        raise AssertionError("tests of switches of tools are made with the real service")


class MemoryMeta:
    """Small facts, kept as long as the test runs."""

    def __init__(self) -> None:
        self.values: dict[str, str] = {}

    async def get(self, key: str) -> str | None:
        return self.values.get(key)

    async def put(self, key: str, value: str) -> None:
        self.values[key] = value
