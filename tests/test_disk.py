"""A disk that is full or read-only, at the start and while the bot runs: a clear message, and
nothing that was acknowledged is harmed. Real processes on real, small disks."""

import shutil
import sqlite3
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from data.store import DATABASE_NAME, open_store
from tests.cogs.scripted import labels
from tests.loopback.discord_server import Channel, LoopbackDiscord, Message, User
from tests.loopback.endpoint import LoopbackEndpoint, Step
from tests.loopback.process import BotProcess
from tests.small_disk import can_mount

pytestmark = pytest.mark.skipif(not can_mount(), reason="needs the right to mount")

DISK = Path(__file__).parent / "small_disk.py"
TROUBLE = "-# The bot's database has a problem. Its operator is told how."


def lines_of(bot: BotProcess) -> list[str]:
    return bot.output.strip().splitlines()


@pytest.mark.parametrize("size", ["4k", "16k", "64k", "200k"])
async def test_a_disk_that_is_too_small_from_the_start_is_told_in_a_line(
    tmp_path: Path, size: str
) -> None:
    await says(tmp_path, size, "full", "Free some space")


async def test_a_disk_that_is_read_only_from_the_start_is_told_in_a_line(tmp_path: Path) -> None:
    async with open_store(tmp_path) as store:
        await store.facts.remember(10, 30, "Drinks green tea")
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    await says(tmp_path, "read-only", "cannot be written: Read-only file system", "right to write")
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


async def says(home: Path, kind: str, *words: str) -> None:
    async with LoopbackDiscord() as server, BotProcess(server, program=DISK) as bot:
        settings = {"VERBATIM_HOME": str(home), "VERBATIM_BASE_URL": "http://127.0.0.1:9/v1"}
        await bot.start([kind, "run"], settings)
        assert await bot.wait(timeout=60) == 1, bot.output
        (line,) = lines_of(bot)
        assert str(home) in line
        for each in words:
            assert each in line


@dataclass(frozen=True, slots=True, kw_only=True)
class OnADisk:
    """A bot that runs on a disk of its own, and who asks it."""

    server: LoopbackDiscord
    bot: BotProcess
    endpoint: LoopbackEndpoint
    channel: Channel
    member: User
    disk: Path

    async def ask(self, words: str) -> str:
        """What the bot answers."""
        said = self.server.driver.say(
            self.channel, self.member, f"{self.server.bot.mention} {words}"
        )

        def is_answer(message: Message) -> bool:
            return message.reply_to is said and "Stop" not in labels(message)

        answer = await self.server.wait_for_message(self.channel, is_answer, timeout=30)
        return answer.text

    def fill(self) -> Path:
        """Take up every byte that is left."""
        filler = self.disk / "filler"
        with filler.open("wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(4096))
            except OSError:
                return filler


@asynccontextmanager
async def on_a_disk(home: Path, size: str) -> AsyncGenerator[OnADisk]:
    async with (
        LoopbackEndpoint() as endpoint,
        LoopbackDiscord() as server,
        BotProcess(server, program=DISK, grace=30.0) as bot,
    ):
        guild = server.build.guild()
        channel = server.build.channel(guild, "general")
        member = server.build.user("alice", guild)
        await bot.start(
            [size, "run"],
            {
                "VERBATIM_HOME": str(home),
                "VERBATIM_BASE_URL": endpoint.base_url,
                "VERBATIM_MODEL": "scripted",
                "VERBATIM_PROBE": "off",
            },
        )
        await bot.wait_for_output("Connected as", timeout=60)
        yield OnADisk(
            server=server,
            bot=bot,
            endpoint=endpoint,
            channel=channel,
            member=member,
            disk=Path(f"/proc/{bot.pid}/root{home}"),
        )
        assert "Traceback" not in bot.output


async def test_a_disk_that_fills_up_while_the_bot_runs_stops_no_more_than_what_needs_it(
    tmp_path: Path,
) -> None:
    async with on_a_disk(tmp_path, "4M") as here:
        here.endpoint.add(Step(text='remember({"fact": "Drinks green tea"})'))
        here.endpoint.add(Step(text="I will."))
        assert (await here.ask("I drink green tea")).startswith("I will.")
        filler = here.fill()
        told = [await here.ask(f"question {number}") for number in range(3)]
        assert set(told) == {TROUBLE}
        assert "is full. Free some space" in here.bot.output
        filler.unlink()
        here.endpoint.add(Step(text="Green tea."))
        assert await here.ask("What do I drink?") == "Green tea."
        copied = tmp_path / "copied"  # SQLite itself does not find its way below /proc
        copied.mkdir()
        for path in here.disk.glob(f"{DATABASE_NAME}*"):
            shutil.copy(path, copied)
        with closing(sqlite3.connect(copied / DATABASE_NAME)) as db:
            assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            assert db.execute("SELECT text FROM facts").fetchall() == [("Drinks green tea",)]
        await here.bot.stop()
        assert here.bot.returncode == 0
