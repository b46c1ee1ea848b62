"""Starts a program that is an MCP server and carries messages over its pipes.

Invariant: a message is never longer than the bound, whatever the program writes; when the context
is left the program and what it started have ended, or were killed. The SDK's own client keeps a
line without end in memory.
"""

import asyncio
import contextlib
import os
import shutil
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import Self, TypeAlias

from mcp.client.stdio import get_default_environment
from mcp.shared.message import SessionMessage
from mcp.types import jsonrpc_message_adapter

from data.mcp_servers import StdioServer

Streams: TypeAlias = tuple["_Lines", "_Input"]

_TO_LEAVE = 2.0
"""Seconds that a program has to end by itself once its input is closed, and again once it is told
to; the protocol asks for both."""


class NotStarted(Exception):
    """A program that cannot be started; the text says why and what to do."""


@asynccontextmanager
async def program(
    server: StdioServer, *, largest: int, complaints: Path | None, ended: asyncio.Event
) -> AsyncGenerator[Streams]:
    """Streams to a running program. What it writes to its standard error goes to the file
    `complaints`, from the beginning. `ended` is set when it says nothing more.

    Raises NotStarted.
    """
    process = await _started(server, largest, complaints)
    try:
        yield _Lines(process, ended), _Input(process)
    finally:
        ending = asyncio.ensure_future(_end(process))
        try:
            await asyncio.shield(ending)
        except asyncio.CancelledError:
            await asyncio.wait({ending})
            raise


async def _started(
    server: StdioServer, largest: int, complaints: Path | None
) -> asyncio.subprocess.Process:
    environment = {**get_default_environment(), **server.env}
    command = shutil.which(server.command, path=environment.get("PATH"))
    if command is None:
        raise NotStarted(
            f"The program {server.command} is not there, or not on the PATH. Install it, or give "
            "its full path."
        )
    try:
        with Path(complaints or os.devnull).open("wb") as errors:  # noqa: ASYNC230 - opened, no more
            return await asyncio.create_subprocess_exec(
                command,
                *server.args,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=errors,
                env=environment,
                cwd=server.cwd,
                limit=largest,
                start_new_session=True,  # so that what it starts can be ended with it
            )
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise NotStarted(f"The program {server.command} cannot be started: {reason}.") from error


class _Lines:
    """The messages that a program writes, one a line; a line that is none is an exception."""

    def __init__(self, process: asyncio.subprocess.Process, ended: asyncio.Event) -> None:
        self._process = process
        self._ended = ended

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        output = self._process.stdout
        try:
            line = b"" if output is None else await output.readline()
        except (ValueError, OSError):  # longer than the bound; the rest would be read as a message
            line = b""
        if not line:
            self._ended.set()
            raise StopAsyncIteration
        try:
            return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
        except ValueError:
            return ValueError("a line is no JSON-RPC message")

    async def receive(self) -> SessionMessage | Exception:
        return await self.__anext__()

    async def aclose(self) -> None:
        self._ended.set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        await self.aclose()


class _Input:
    """Where messages for a program go."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def send(self, item: SessionMessage, /) -> None:
        pipe = self._process.stdin
        line = item.message.model_dump_json(by_alias=True, exclude_unset=True)
        # A program that is gone is noticed at its output.
        with contextlib.suppress(OSError, RuntimeError):
            if pipe is not None and not pipe.is_closing():
                pipe.write(line.encode() + b"\n")
                await pipe.drain()

    async def aclose(self) -> None:
        """Nothing: the program's end is the context's."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        await self.aclose()


async def _end(process: asyncio.subprocess.Process) -> None:
    """End the program and, where it was not the only one, those that it started."""
    if process.stdin is not None:
        process.stdin.close()
    reading = asyncio.ensure_future(_drained(process))
    if not await _left(process):
        await _signal(process, signal.SIGTERM)
        if not await _left(process):
            await _signal(process, signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)
            await _left(process)
    else:
        await _signal(process, signal.SIGTERM)  # a child may have stayed behind
    reading.cancel()
    await asyncio.wait({reading})
    # A grandchild that holds the pipe would keep the transport, and its warning, alive.
    transport: asyncio.SubprocessTransport | None = getattr(process, "_transport", None)
    if transport is not None:
        transport.close()


async def _drained(process: asyncio.subprocess.Process) -> None:
    """Read on, so that a program that still writes gets to its end."""
    if process.stdout is None:
        return
    with contextlib.suppress(OSError, ValueError):
        while await process.stdout.read(65_536):
            pass


async def _left(process: asyncio.subprocess.Process) -> bool:
    """Whether the program ends in time. Not `wait`, which waits for its pipes as well."""
    deadline = asyncio.get_running_loop().time() + _TO_LEAVE
    while process.returncode is None:
        if asyncio.get_running_loop().time() >= deadline:
            return False
        await asyncio.sleep(0.01)
    return True


async def _signal(process: asyncio.subprocess.Process, number: int) -> None:
    if sys.platform == "win32":
        killing = await asyncio.create_subprocess_exec(
            *("taskkill", "/T", "/F", "/PID", str(process.pid)),
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        await killing.wait()
    else:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)
