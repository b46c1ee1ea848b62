"""The program as operators start it: real processes in a clean environment and an empty home."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from data.home import prepare_home
from data.lock import instance_lock
from tests.loopback.endpoint import LoopbackEndpoint, Step

ROOT = Path(__file__).parents[1]
PATIENCE = 30.0
COMMANDS = ["run", "console", "setup", "parse", "snapshot", "backup", "restore", "check"]
CALL = 'roll_dice({"dice":"2d6"})'


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """What a process left behind."""

    status: int
    out: str
    err: str


class Program:
    """Starts `bot.py` with a home of its own; nothing of ours is in its environment."""

    def __init__(self, home: Path, settings: Mapping[str, str]) -> None:
        self.home = home
        self._environment = {
            "PATH": os.environ.get("PATH", os.defpath),
            "PYTHONUTF8": "1",
            "PYTHONWARNINGS": "error::ResourceWarning",
            "VERBATIM_HOME": str(home),
            **settings,
        }
        self._running: list[asyncio.subprocess.Process] = []

    async def start(self, *arguments: str, **settings: str) -> asyncio.subprocess.Process:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            str(ROOT / "bot.py"),
            *arguments,
            cwd=self.home.parent,
            env={**self._environment, **settings},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        self._running.append(process)
        return process

    async def run(self, *arguments: str, typed: str = "", **settings: str) -> Ended:
        process = await self.start(*arguments, **settings)
        async with asyncio.timeout(PATIENCE):
            out, err = await process.communicate(typed.encode())
        assert process.returncode is not None
        return Ended(status=process.returncode, out=out.decode(), err=err.decode())

    async def close(self) -> None:
        for process in self._running:
            if process.returncode is None:
                process.kill()
                await process.communicate()


@pytest.fixture
async def endpoint() -> AsyncIterator[LoopbackEndpoint]:
    async with LoopbackEndpoint() as started:
        yield started


@pytest.fixture
async def alone(tmp_path: Path) -> AsyncIterator[Program]:
    """Nothing is set but the home."""
    program = Program(tmp_path / "home", {})
    yield program
    await program.close()


@pytest.fixture
async def program(tmp_path: Path, endpoint: LoopbackEndpoint) -> AsyncIterator[Program]:
    made = Program(tmp_path / "home", {"VERBATIM_BASE_URL": endpoint.base_url})
    yield made
    await made.close()


def plain(ended: Ended) -> Ended:
    """Whatever happened, it was told in words."""
    assert "Traceback" not in ended.out + ended.err, ended.err
    return ended


async def test_help_names_every_command(alone: Program) -> None:
    ended = plain(await alone.run("--help"))
    assert ended.status == 0
    assert all(f"\n    {command} " in ended.out for command in COMMANDS)
    assert not alone.home.exists()


@pytest.mark.parametrize("command", COMMANDS)
async def test_every_command_has_help(alone: Program, command: str) -> None:
    ended = plain(await alone.run(command, "--help"))
    assert ended.status == 0
    assert ended.out.startswith(f"usage: bot.py {command}")
    assert not alone.home.exists()


async def test_an_unknown_command_is_a_usage_error(alone: Program) -> None:
    ended = plain(await alone.run("dance"))
    assert (ended.status, ended.out) == (2, "")
    assert "dance" in ended.err


async def test_a_python_without_the_packages_is_told_how_to_get_them() -> None:
    bare = await asyncio.create_subprocess_exec(
        sys.executable, "-S", str(ROOT / "bot.py"), "check", stderr=asyncio.subprocess.PIPE
    )
    _, told = await asyncio.wait_for(bare.communicate(), PATIENCE)
    assert bare.returncode == 1
    (line,) = told.decode().splitlines()
    assert line.startswith("This Python has no package ")
    assert "`python3 run.py`" in line


@pytest.mark.parametrize("command", ["console", "check", "snapshot"])
async def test_bad_settings_end_in_one_line(alone: Program, command: str) -> None:
    ended = plain(await alone.run(command, VERBATIM_TEMPERATURE="tepid"))
    assert (ended.status, ended.out) == (1, "")
    (line,) = ended.err.splitlines()
    assert line.startswith("VERBATIM_TEMPERATURE (from the environment): ")
    assert "tepid" not in line


async def test_parse_needs_no_settings(alone: Program, tmp_path: Path) -> None:
    tools = tmp_path / "tools.json"
    function = {"name": "roll_dice", "description": "", "parameters": {"type": "object"}}
    tools.write_text(json.dumps([{"type": "function", "function": function}]))
    ended = plain(
        await alone.run(
            "parse", "--tools", str(tools), typed=f"`{CALL}`", VERBATIM_TEMPERATURE="tepid"
        )
    )
    assert ended.status == 0
    call, finish = [json.loads(line) for line in ended.out.splitlines()]
    assert (call["type"], call["name"], call["arguments"]) == ("call", "roll_dice", {"dice": "2d6"})
    assert finish["type"] == "finish"
    assert not alone.home.exists()


async def test_check_of_a_sound_installation(program: Program) -> None:
    ended = plain(await program.run("check"))
    assert (ended.status, ended.err) == (0, "")
    lines = ended.out.splitlines()
    assert all(line.startswith("ok ") for line in lines), ended.out
    assert any("model loopback-model" in line for line in lines)


async def test_check_beside_a_running_bot_looks_at_the_rest(program: Program) -> None:
    prepare_home(program.home)
    with instance_lock(program.home):
        ended = await program.run("check")
    assert ended.status == 0
    assert "ok   database. Another Verbatim process" in ended.out


async def test_check_tells_of_a_model_that_is_not_there(program: Program) -> None:
    ended = plain(await program.run("check", VERBATIM_MODEL="gpt-900"))
    assert ended.status == 1
    (line,) = [line for line in ended.out.splitlines() if line.startswith("NOT OK")]
    assert "'gpt-900'" in line
    assert "loopback-model" in line


async def test_check_tells_of_an_endpoint_that_is_down(
    program: Program, endpoint: LoopbackEndpoint
) -> None:
    await endpoint.stop()
    ended = plain(await program.run("check"))
    assert ended.status == 1
    (line,) = [line for line in ended.out.splitlines() if line.startswith("NOT OK")]
    assert endpoint.base_url in line


async def test_check_looks_at_the_model_file(alone: Program, tmp_path: Path) -> None:
    path = tmp_path / "mine.gguf"
    ended = plain(await alone.run("check", VERBATIM_MODEL_PATH=str(path)))
    assert ended.status == 1
    (line,) = [line for line in ended.out.splitlines() if line.startswith("NOT OK")]
    assert f"VERBATIM_MODEL_PATH names {path}" in line
    path.write_bytes(b"GGUF and more")
    ended = plain(await alone.run("check", VERBATIM_MODEL_PATH=str(path)))
    assert ended.status == 0
    assert f"ok   model file {path}" in ended.out


async def test_keys_are_never_printed(program: Program) -> None:
    secrets = {"VERBATIM_API_KEY": "sk-very-secret-key", "DISCORD_TOKEN": "very.secret.token"}
    for command in (["check"], ["snapshot", "My key is sk-very-secret-key"]):
        ended = plain(await program.run(*command, **secrets))
        assert ended.status == 0, ended
        assert "very" not in ended.out.replace("Very", "") + ended.err


async def test_a_snapshot_in_words(program: Program, endpoint: LoopbackEndpoint) -> None:
    ended = plain(await program.run("snapshot", "Roll two dice!"))
    assert ended.status == 0
    assert ended.out.startswith("mode verbatim, about ")
    assert "Roll two dice!" in ended.out
    assert "knowledge_verbatim_tool_definitions" in ended.out
    assert endpoint.received == []


async def test_a_snapshot_to_replay(program: Program) -> None:
    ended = plain(await program.run("snapshot", "--format", "json", "Roll two dice!"))
    body = json.loads(ended.out)
    assert (ended.status, body["model"], body["stream"]) == (0, "loopback-model", True)
    assert "Roll two dice!" in body["messages"][-1]["content"]
    assert body["tools"][0]["function"]["name"] == "roll_dice"


async def test_a_snapshot_that_does_not_fit_says_why(program: Program) -> None:
    ended = plain(
        await program.run(
            "snapshot",
            "word " * 2000,
            VERBATIM_CONTEXT_WINDOW="2048",
            VERBATIM_MAX_REPLY_TOKENS="256",
        )
    )
    assert (ended.status, ended.out) == (1, "")
    assert ended.err.startswith("The prompt needs about ")


async def test_a_conversation_through_pipes(program: Program, endpoint: LoopbackEndpoint) -> None:
    endpoint.add(
        Step(when="Roll two dice!", text=f"`{CALL}`", split=1, expects=['"tools":[{']),
        Step(when="[tool result] roll_dice: 2d6:", text="You rolled well.", split=2),
        Step(when="Thanks", text="You are welcome.", expects=[CALL.replace('"', '\\"')]),
    )
    ended = plain(await program.run("console", typed="Roll two dice!\nThanks\n"))
    assert (ended.status, ended.err) == (0, "")
    assert "[tool] roll_dice" in ended.out
    assert ended.out.index("You rolled well.") < ended.out.index("You are welcome.")
    assert f"`{CALL}`" not in ended.out
    assert (program.home / "verbatim.db").exists()
    log = (program.home / "logs" / "verbatim.log").read_text(encoding="utf-8")
    assert not [word for word in ("Roll two", "rolled well", "Thanks") if word in log]


async def test_an_endpoint_that_is_down_ends_in_a_remedy(
    program: Program, endpoint: LoopbackEndpoint
) -> None:
    await endpoint.stop()
    ended = plain(await program.run("console", typed="Hello\n", VERBATIM_MODEL="m"))
    assert ended.status == 1
    assert "! " in ended.out
    assert endpoint.base_url in ended.out  # who sits at the console is the operator


async def test_a_home_is_used_by_one_process_at_a_time(
    program: Program, endpoint: LoopbackEndpoint
) -> None:
    endpoint.add(Step(text="Hello."))
    first = await program.start("console")
    assert first.stdin is not None
    assert first.stdout is not None
    first.stdin.write(b"Hi\n")
    async with asyncio.timeout(PATIENCE):
        assert await first.stdout.readline() == b"Hello.\n"  # it is up
    second = plain(await program.run("console", typed="Hi\n"))
    assert (second.status, second.out) == (1, "")
    assert str(program.home) in second.err
    async with asyncio.timeout(PATIENCE):
        _, err = await first.communicate(b"")
    assert (first.returncode, err) == (0, b"")
    third = plain(await program.run("snapshot"))
    assert third.status == 0
