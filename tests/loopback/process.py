"""Runs the bot, or another program, as a child process and always ends it.

Invariant: when the context is left the process is gone, whether the test passed, failed or was
cancelled. It is signalled by its own process id and by nothing else.
"""

import asyncio
import contextlib
import os
import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

from tests.loopback.discord_server import LoopbackDiscord

ROOT = Path(__file__).parents[2]
SHIM = Path(__file__).parent / "shim"
POLL = 0.02
"""Seconds between two looks at the output."""


class PythonProcess:
    """A child process that runs `program`, arguments of the Python interpreter, from the root.

    Its environment holds nothing of ours but what it needs to start at all.
    """

    def __init__(self, *program: str, grace: float = 10.0) -> None:
        self._program = program
        self._grace = grace
        self._process: asyncio.subprocess.Process | None = None
        # A file rather than a pipe: it never fills up, and a grandchild that inherits it
        # cannot keep a reader waiting for its end.
        self._output = tempfile.TemporaryFile()  # noqa: SIM115 (closed in __aexit__)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        try:
            await self.stop()
        finally:
            self._output.close()

    @property
    def output(self) -> str:
        """All that the process has written so far, to either stream."""
        size = os.fstat(self._output.fileno()).st_size
        return os.pread(self._output.fileno(), size, 0).decode(errors="replace")

    @property
    def pid(self) -> int:
        """The process id."""
        return self._started().pid

    @property
    def returncode(self) -> int | None:
        """What it ended with; None while it runs. Negative is the signal that ended it."""
        return self._started().returncode

    async def start(
        self, arguments: Sequence[str] = (), environment: Mapping[str, str] | None = None
    ) -> None:
        """Start the program with these arguments and, besides the least, these variables."""
        if self._process is not None:
            raise RuntimeError("a PythonProcess is started once; make another one")
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            *self._program,
            *arguments,
            cwd=ROOT,
            env={**self.least_environment(), **(environment or {})},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=self._output,
            stderr=asyncio.subprocess.STDOUT,
        )

    def least_environment(self) -> dict[str, str]:
        """The variables without which programs do not start or cannot be read."""
        return {
            "PATH": os.environ.get("PATH", os.defpath),
            "PYTHONUNBUFFERED": "1",
            "PYTHONUTF8": "1",
        }

    async def wait_for_output(self, pattern: str, *, timeout: float = 30.0) -> re.Match[str]:
        """The first match of a regular expression in the output, where ^ is a line's start.

        Raises AssertionError with the output if the process ends or the time passes first.
        """
        wanted = re.compile(pattern, re.MULTILINE)
        deadline = asyncio.get_running_loop().time() + timeout
        while True:
            ended = self.returncode is not None
            match = wanted.search(self.output)
            if match:
                return match
            if ended:
                raise AssertionError(
                    f"the process ended with {self.returncode} before {pattern!r}:\n{self.output}"
                )
            if asyncio.get_running_loop().time() > deadline:
                raise AssertionError(f"no {pattern!r} within {timeout} s:\n{self.output}")
            await asyncio.sleep(POLL)

    async def wait(self, *, timeout: float = 30.0) -> int:
        """Wait until the process ends by itself; returns what it ended with."""
        try:
            return await asyncio.wait_for(self._started().wait(), timeout)
        except TimeoutError:
            raise AssertionError(f"still running after {timeout} s:\n{self.output}") from None

    async def stop(self) -> None:
        """Ask the process to end, and end it if it has not done so within the grace period."""
        process = self._process
        if process is None or process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        try:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), self._grace)
        finally:
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                await process.wait()

    def _started(self) -> asyncio.subprocess.Process:
        if self._process is None:
            raise RuntimeError("the process has not been started")
        return self._process


class BotProcess(PythonProcess):
    """An unmodified discord.py program, by default the bot itself, on a loopback Discord.

    The server must have been started. The program finds its token in DISCORD_TOKEN.
    """

    def __init__(
        self,
        server: LoopbackDiscord,
        *,
        program: Path = ROOT / "bot.py",
        grace: float = 10.0,
    ) -> None:
        super().__init__(str(program), grace=grace)
        self._server = server

    def least_environment(self) -> dict[str, str]:
        """As for any process, with the way to the loopback server."""
        return {
            **super().least_environment(),
            "PYTHONPATH": str(SHIM),
            "LOOPBACK_DISCORD": self._server.address.origin,
            "DISCORD_TOKEN": self._server.token,
        }
