"""Programs that are MCP servers, well-behaved and not."""

import asyncio
import os
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from data.mcp_servers import StdioServer
from tools.mcp import pipes
from tools.mcp.connection import Connection, Limits
from tools.mcp.link import Opener
from tools.registry import ToolUnavailable

PROGRAM = Path(__file__).with_name("unruly_program.py")
posix = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")


async def never(_: float) -> None:
    await asyncio.Event().wait()


@asynccontextmanager
async def running(
    way: str, *, command: str = sys.executable, largest: int = 1_000_000, logs: Path | None = None
) -> AsyncGenerator[Connection]:
    server = StdioServer(
        name="unruly", command=command, args=(str(PROGRAM), way), env={"UNRULY": "told"}
    )
    opener = Opener(largest=largest, complaints=logs)
    made = Connection(
        "unruly",
        lambda changed: opener.open(server, changed),
        limits=Limits(discovery=10.0, call=5.0),
        sleep=never,
    )
    made.start()
    await made.settled()
    try:
        yield made
    finally:
        await made.stop()


async def test_a_program_gets_its_own_variables_and_none_of_the_bots(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setenv("NOT_YOURS", "a secret of the bot")
    async with running("well") as made:
        result = await made.call("echo", {})
        assert getattr(result.content[0], "text", "") == "told "


async def test_lines_that_are_no_messages_are_passed_over():
    async with running("garbage") as made:
        await made.call("echo", {})


async def test_a_program_that_dies_in_a_call_is_started_again():
    async with running("dies") as made:
        with pytest.raises(ToolUnavailable):
            await made.call("echo", {})
        await made.settled()
        assert made.state == "connected"
        assert [tool.name for tool in made.tools] == ["echo"]


async def test_a_line_without_end_is_not_kept(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pipes, "_TO_LEAVE", 0.2)
    async with running("huge", largest=200_000) as made:
        with pytest.raises(ToolUnavailable):
            await made.call("echo", {})


async def test_a_program_that_is_not_there_is_named():
    async with running("well", command="no-such-program") as made:
        assert made.state == "waiting"
        assert made.error.startswith("The program no-such-program is not there")


async def test_news_of_the_newest_protocol_are_heard():
    server = StdioServer(
        name="growing",
        command=sys.executable,
        args=(str(PROGRAM.with_name("growing_program.py")),),
    )
    made = Connection("growing", lambda changed: Opener().open(server, changed), sleep=never)
    made.start()
    await made.settled()
    try:
        assert [tool.name for tool in made.tools] == ["grow"]
        await made.call("grow", {})
        async with asyncio.timeout(5):
            while [tool.name for tool in made.tools] != ["grow", "more"]:
                await asyncio.sleep(0.01)
    finally:
        await made.stop()


@posix
async def test_a_program_that_does_not_leave_is_killed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pipes, "_TO_LEAVE", 0.2)
    async with running("deaf") as made:
        assert made.state == "connected"
        began = time.monotonic()
    assert 0.4 <= time.monotonic() - began < 5


@posix
async def test_what_a_program_started_ends_with_it_and_complaints_are_kept(tmp_path: Path):
    async with running("parent", logs=tmp_path / "logs") as made:
        await made.call("echo", {})
    complaints = (tmp_path / "logs" / "mcp-unruly.log").read_text()
    child = int(complaints.removeprefix("child "))
    async with asyncio.timeout(5):
        while is_running(child):
            await asyncio.sleep(0.01)


def is_running(pid: int) -> bool:
    """Whether it runs; one that nobody has waited for yet does not."""
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat")
        return not state.exists() or state.read_text().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False
