"""`bot.py setup` as operators start it: its own process, over pipes and on a terminal."""

import asyncio
import os
import re
import signal
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from data.settings import load_settings
from tests.loopback.discord_server import LoopbackDiscord
from tests.loopback.endpoint import LoopbackEndpoint, Step
from tests.loopback.process import ROOT, SHIM

CALL = Step(text='`roll_dice({"dice":"2d6"})`')
TOLD = Step(when="[tool result] roll_dice", text="You rolled 7.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    status: int
    shown: str


def environment(home: Path, discord: LoopbackDiscord | None = None) -> dict[str, str]:
    way = {"PYTHONPATH": str(SHIM), "LOOPBACK_DISCORD": discord.address.origin} if discord else {}
    return {
        "PATH": os.environ["PATH"],
        "PYTHONUTF8": "1",
        "TERM": "xterm",
        "VERBATIM_HOME": str(home),
        **way,
    }


async def piped(environ: Mapping[str, str], *arguments: str, typed: str = "") -> Run:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "bot.py",
        "setup",
        *arguments,
        cwd=ROOT,
        env=environ,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    async with asyncio.timeout(60):
        shown, _ = await process.communicate(typed.encode())
    assert process.returncode is not None
    return Run(status=process.returncode, shown=shown.decode())


def kept(home: Path) -> tuple[str | None, str | None, str | None]:
    """URL, model and token that config.toml yields."""
    settings = load_settings({"VERBATIM_HOME": str(home)}, dotenv=None)
    token = settings.discord_token
    return settings.base_url, settings.model, token.get_secret_value() if token else None


async def test_through_pipes_with_a_real_turn_and_discord(tmp_path: Path) -> None:
    async with LoopbackDiscord() as discord, LoopbackEndpoint([CALL, TOLD]) as endpoint:
        run = await piped(
            environment(tmp_path, discord),
            *("--base-url", endpoint.base_url),
            typed=f"{discord.token}\n\n\n",
        )
        assert run.status == 0, run.shown
        assert "The model called roll_dice as text; verbatim is on." in run.shown
        assert "You rolled 7." in run.shown
        assert "permissions=274878008384" in run.shown
        assert "scope=bot+applications.commands" in run.shown
        assert discord.token not in run.shown
        assert discord.violations() == []
        assert kept(tmp_path) == (endpoint.base_url, "loopback-model", discord.token)
        assert sorted(path.name for path in tmp_path.iterdir()) == ["config.toml", "master.key"]


async def test_unattended_everything_comes_by_option_and_variable(tmp_path: Path) -> None:
    async with LoopbackDiscord() as discord, LoopbackEndpoint([CALL, TOLD]) as endpoint:
        environ = {**environment(tmp_path, discord), "MY_TOKEN": discord.token, "MY_KEY": "hunter2"}
        arguments = ["--yes", "--base-url", endpoint.base_url, "--model", "some-model"]
        run = await piped(environ, *arguments, "--token-env", "MY_TOKEN", "--key-env", "MY_KEY")
        assert run.status == 0, run.shown
        assert kept(tmp_path) == (endpoint.base_url, "some-model", discord.token)
        assert {r.headers["Authorization"] for r in endpoint.received} == {"Bearer hunter2"}
        written = (tmp_path / "config.toml").read_text()
        assert not re.search(f"hunter2|{re.escape(discord.token)}", written + run.shown)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--base-url", "http://127.0.0.1:9/v1"], "The endpoint cannot be used."),
        (["--base-url", "ftp://box"], "--base-url must start with http:// or https://."),
        (["--embedded", "--model", "gpt-9"], "--embedded knows these models: qwen"),
        (["--key-env", "NOT_SET"], "The variable NOT_SET is not set."),
    ],
)
async def test_unattended_what_cannot_be_used_is_an_error(
    tmp_path: Path, arguments: list[str], words: str
) -> None:
    run = await piped(environment(tmp_path / "home"), "--yes", *arguments)
    assert run.status == 2, run.shown
    assert words in run.shown
    assert "Traceback" not in run.shown
    assert not (tmp_path / "home").exists()


async def test_without_a_test_an_absent_endpoint_is_written_all_the_same(tmp_path: Path) -> None:
    arguments = ["--yes", "--no-test", "--base-url", "http://127.0.0.1:9/v1", "--model", "m"]
    run = await piped(environment(tmp_path), *arguments)
    assert run.status == 0, run.shown
    assert kept(tmp_path) == ("http://127.0.0.1:9/v1", "m", None)


class Terminal:
    """A program on a pseudo-terminal."""

    def __init__(self, process: asyncio.subprocess.Process, master: int) -> None:
        self.process = process
        self._master = master
        self._shown = ""
        self._read = 0
        self._news = asyncio.Event()
        asyncio.get_running_loop().add_reader(master, self._take)

    @property
    def shown(self) -> str:
        return self._shown

    def type(self, line: str) -> None:
        os.write(self._master, f"{line}\n".encode())

    async def until(self, pattern: str) -> re.Match[str]:
        """Wait for it in what was shown since the last match."""
        async with asyncio.timeout(30):
            while not (match := re.compile(pattern).search(self._shown, self._read)):
                self._news.clear()
                try:
                    await self._news.wait()
                except asyncio.CancelledError:
                    raise AssertionError(f"no {pattern!r} in:\n{self._shown}") from None
        self._read = match.end()
        return match

    def _take(self) -> None:
        try:
            data = os.read(self._master, 65536)
        except OSError:  # the program has gone
            data = b""
        if not data:
            asyncio.get_running_loop().remove_reader(self._master)
        self._shown += data.decode(errors="replace")
        self._news.set()


@asynccontextmanager
async def terminal(environ: Mapping[str, str], *arguments: str) -> AsyncGenerator[Terminal]:
    master, slave = os.openpty()
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "bot.py",
        *arguments,
        cwd=ROOT,
        env=environ,
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
    )
    os.close(slave)
    screen = Terminal(process, master)
    try:
        yield screen
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
        asyncio.get_running_loop().remove_reader(master)
        os.close(master)


async def test_the_first_start_on_a_terminal_offers_it_and_then_goes_on(tmp_path: Path) -> None:
    async with (
        LoopbackEndpoint([CALL, TOLD], models=["first", "second"]) as endpoint,
        terminal(environment(tmp_path), "run") as screen,
    ):
        await screen.until(r"Set it up now\? \[Y/n\]: ")
        screen.type("")
        address = (await screen.until(r"(\d+)  another address")).group(1)
        await screen.until("Which one")
        screen.type(address)
        await screen.until("Its URL: ")
        screen.type(endpoint.base_url)
        await screen.until("API key .*: ")
        screen.type("hunter2")
        await screen.until(r"2  second[\s\S]*Model, by number or name \[first\]: ")
        screen.type("2")
        await screen.until("Discord token .*: ")
        screen.type("")
        await screen.until(r"Try it now with .*\? \[Y/n\]: ")
        screen.type("")
        await screen.until("The model called roll_dice as text; verbatim is on.")
        await screen.until(r"Write it to .*\? \[Y/n\]: ")
        screen.type("")
        await screen.until("Written: ")
        await screen.until("/help lists the commands.")
        screen.type("/quit")
        assert await asyncio.wait_for(screen.process.wait(), 30) == 0
        assert "hunter2" not in screen.shown
    assert kept(tmp_path) == (endpoint.base_url, "second", None)


async def test_an_interrupt_at_a_question_ends_it_at_once(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with terminal(environment(home), "setup", "--no-test") as screen:
        await screen.until("Which one")
        screen.process.send_signal(signal.SIGINT)
        await screen.until("Stopped. Nothing was written.")
        assert await asyncio.wait_for(screen.process.wait(), 30) == 130
    assert not home.exists()
