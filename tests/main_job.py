"""The main job as a member sees it: the bot as its own process on a loopback Discord.

Invariant: nothing of the bot runs in this process. What it did is read from what it sent to
Discord and from its database.
"""

import asyncio
import json
import re
import sqlite3
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path

from data.encoding import decode_turns
from data.store import DATABASE_NAME
from prompt.values import ToolCall, ToolResult, Turn
from tests.loopback.discord_server import Channel, LoopbackDiscord, Message, User
from tests.loopback.process import BotProcess

_RAW_CALL = re.compile(
    r"(?:roll_dice|current_time|remember|recall|forget)\s*[({]"
    r"|\"(?:name|arguments|parameters)\"\s*:|</?tool_call|<\|"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """What stood in a message of the bot, `at` seconds after the question."""

    at: float
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """One question with everything that a member saw of the answer, and what was stored."""

    question: str
    messages: Sequence[Sequence[Version]]
    turns: Sequence[Turn]

    @property
    def final(self) -> str:
        """The words that stand in the channel in the end."""
        return "\n".join(versions[-1].text for versions in self.messages)

    @property
    def calls(self) -> list[ToolCall]:
        """Tool calls of this turn."""
        return [part for turn in self.turns for part in turn.parts if isinstance(part, ToolCall)]

    @property
    def results(self) -> list[ToolResult]:
        """Their results, in the same order."""
        return [part for turn in self.turns for part in turn.parts if isinstance(part, ToolResult)]

    @property
    def raw_calls_seen(self) -> list[str]:
        """Texts in which a member saw call markup, at any moment."""
        texts = [version.text for versions in self.messages for version in versions]
        return [text for text in texts if _RAW_CALL.search(text)]


class Scene:
    """A guild with a channel and a member, and the bot in it."""

    def __init__(
        self, server: LoopbackDiscord, channel: Channel, member: User, home: Path, bot: BotProcess
    ) -> None:
        self.server = server
        self.channel = channel
        self.member = member
        self.bot = bot
        self._database = home / DATABASE_NAME

    async def ask(self, text: str, *, timeout: float = 60.0) -> Answered:
        """Mention the bot and wait until the turn is stored."""
        said = self.server.driver.say(self.channel, self.member, f"<@{self.server.bot.id}> {text}")
        stored = await self._stored(said, timeout)
        shown = [self._message(message_id) for message_id in stored[1]]
        return Answered(
            question=text,
            messages=[
                [
                    Version(at=version.at - said.versions[0].at, text=version.text)
                    for version in m.versions
                ]
                for m in shown
            ],
            turns=stored[0],
        )

    def _message(self, message_id: int) -> Message:
        return self.channel.messages[message_id]

    async def _stored(self, said: Message, timeout: float) -> tuple[Sequence[Turn], list[int]]:
        deadline = asyncio.get_running_loop().time() + timeout
        while (found := self._look_up(said.id)) is None:
            if asyncio.get_running_loop().time() > deadline:
                shown = [m.content for m in self.server.messages(self.channel)]
                raise AssertionError(f"no turn was stored; {shown}\n{self.bot.output}")
            await asyncio.sleep(0.05)
        return found

    def _look_up(self, message_id: int) -> tuple[Sequence[Turn], list[int]] | None:
        address = f"file:{self._database}?mode=ro"
        with closing(sqlite3.connect(address, uri=True)) as database:
            row = database.execute(
                "SELECT id, content FROM turns WHERE asked_message_id = ?", (message_id,)
            ).fetchone()
            if row is None:
                return None
            replies = database.execute(
                "SELECT message_id FROM replies WHERE turn_id = ? ORDER BY ordinal", (row[0],)
            ).fetchall()
        return decode_turns(row[1]), [reply for (reply,) in replies]


@asynccontextmanager
async def scene(home: Path, environment: Mapping[str, str]) -> AsyncGenerator[Scene]:
    """The bot, connected to a loopback Discord and with its database in `home`. Unless
    `environment` says otherwise, it does not test its endpoint by itself."""
    async with LoopbackDiscord() as server, BotProcess(server) as bot:
        guild = server.build.guild()
        channel = server.build.channel(guild, "general")
        member = server.build.user("alice", guild)
        settings = {"VERBATIM_HOME": str(home), "VERBATIM_PROBE": "off", **environment}
        await bot.start(["run"], settings)
        await server.wait_for(lambda record: record.kind == "identify", timeout=60)
        yield Scene(server, channel, member, home, bot)


def transcript(answered: Answered) -> str:
    """The turn, message by message and edit by edit."""
    lines = [f"alice: {answered.question}"]
    for call, result in zip(answered.calls, answered.results, strict=True):
        lines.append(
            f"  [stored] {call.origin} call {call.name} {json.dumps(dict(call.arguments))}"
            f" -> {result.outcome}: {result.text}"
        )
    for versions in answered.messages:
        for number, version in enumerate(versions):
            verb = "edited" if number else "sent"
            text = version.text.replace("\n", "\n            ")
            lines.append(f"  {version.at:6.2f} s {verb:<6} {text}")
    return "\n".join(lines)
