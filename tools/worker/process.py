"""Hands jobs to worker processes: starts them, minds their limits, replaces them.

Invariant: a process that a job left in doubt, by crashing, by taking too long, by being cancelled,
is killed and never used again. No job runs in this process, and no code passes through a pipe.
"""

import asyncio
import contextlib
import logging
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from prompt.values import JsonObject
from tools.worker.framing import LARGEST, LENGTHS, Broken, lengths, packed, unpacked

log = logging.getLogger(__name__)

ROOT = Path(__file__).resolve().parents[2]

MEMORY = 1024 * 1024 * 1024
"""Bytes of address space that a process may have, libraries and all."""

SECONDS = 10.0
"""That one job may take, where nobody says otherwise."""

JOBS_EACH = 200
"""Jobs after which a process is replaced: what libraries keep must not add up."""

_TOLD_TOO_LARGE = (
    f"It is larger than {LARGEST // (1024 * 1024)} MB, which is the most that is read."
)
_TOLD_TOO_LONG = "It took too long to work on. Send something smaller or simpler."
_TOLD_CRASHED = (
    "It takes more memory or computing time than is allowed. Send something smaller or simpler."
)

_KEPT_VARIABLES = ("PATH", "SYSTEMROOT", "TEMP", "TMP", "TMPDIR", "LD_LIBRARY_PATH")
"""What an interpreter needs to start; keys and tokens, which others hold, are not among them."""


class JobFailed(Exception):
    """A job that could not be done. The text says why in words fit for members."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extracted:
    """A document as text, without invisible characters.

    `pages` is the number of its pages and `page_texts` what they say, where it has any; `links` are
    those that a web page shows first, each with its words and the address as it is written.
    """

    title: str
    text: str
    pages: int | None = None
    page_texts: tuple[str, ...] = ()
    links: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A picture that decodes. `format` is PNG, JPEG or WEBP."""

    format: str
    width: int
    height: int


@dataclass(slots=True, eq=False)
class _Process:
    process: asyncio.subprocess.Process
    left: int = field(default=JOBS_EACH)

    async def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        # The transport is the pipes' only owner here; without it they would wait for collection.
        if self.process.stdin is not None:
            self.process.stdin.close()
        await self.process.wait()


class Worker:
    """Up to `processes` worker processes, each started with its first job.

    `memory` is in bytes. Limits in seconds count from when a process takes the job.
    """

    def __init__(
        self,
        *,
        processes: int = 2,
        memory: int = MEMORY,
        jobs_each: int = JOBS_EACH,
    ) -> None:
        self._memory = memory
        self._jobs_each = jobs_each
        self._places = asyncio.Semaphore(processes)
        self._idle: list[_Process] = []
        self._busy: set[_Process] = set()
        self._closed = False

    async def extract(
        self, data: bytes, *, name: str, content_type: str = "", seconds: float = SECONDS
    ) -> Extracted:
        """The text of a document, whose kind is told by its type, then by its name. Raises
        JobFailed."""
        found = await self.run(
            "extract", {"name": name, "content_type": content_type}, data, seconds=seconds
        )
        return Extracted(
            title=found["title"],
            text=found["text"],
            pages=found.get("pages"),
            page_texts=tuple(found.get("page_texts", ())),
            links=tuple((words, url) for words, url in found.get("links", ())),
        )

    async def calculate(self, expression: str) -> str:
        """The expression as it was understood, and its value. Raises JobFailed."""
        found = await self.run("calculate", {"expression": expression})
        return str(found["text"])

    async def picture(self, data: bytes) -> Picture:
        """What kind of picture it is. Raises JobFailed."""
        found = await self.run("picture", {}, data)
        return Picture(format=found["format"], width=found["width"], height=found["height"])

    async def run(
        self, job: str, arguments: JsonObject, data: bytes = b"", *, seconds: float = SECONDS
    ) -> JsonObject:
        """Have a job of tools.worker.jobs done. Raises JobFailed."""
        try:
            frame = packed({"job": job, "arguments": arguments, "seconds": seconds}, data)
        except ValueError as error:
            raise JobFailed(_TOLD_TOO_LARGE) from error
        async with self._places:
            if self._closed:
                raise JobFailed("The bot is stopping.")
            try:
                process = await self._ready()
            except OSError as error:
                log.error("No worker process could be started: %s.", error.strerror)
                raise JobFailed("The bot's machine is too busy for it. Try again later.") from error
            answer = await self._done(process, frame, seconds)
        if (refused := answer.get("refused")) is not None:
            if error := answer.get("error"):
                log.info("A job, %s, was given up: %s.", job, error)
            raise JobFailed(str(refused))
        done: JsonObject = answer["done"]
        return done

    async def close(self) -> None:
        """End every process; jobs under way fail."""
        self._closed = True
        for process in [*self._idle, *self._busy]:
            await process.kill()
        self._idle.clear()

    async def _ready(self) -> _Process:
        """A process that waits for a job. Raises OSError."""
        while self._idle:
            process = self._idle.pop()
            if process.process.returncode is None:
                return process
            await process.kill()  # it ended between two jobs, which says nothing about the next
        return await self._started()

    async def _done(self, process: _Process, frame: bytes, seconds: float) -> JsonObject:
        self._busy.add(process)
        fit = False
        try:
            async with asyncio.timeout(seconds):
                answer = await _exchanged(process.process, frame)
            process.left -= 1
            fit = process.left > 0 and not self._closed and not answer.get("last")
        except TimeoutError as error:
            raise JobFailed(_TOLD_TOO_LONG) from error
        except (Broken, OSError, asyncio.IncompleteReadError) as error:
            raise JobFailed(_TOLD_CRASHED) from error
        else:
            return answer
        finally:
            self._busy.discard(process)
            if fit:
                self._idle.append(process)
            else:
                await process.kill()

    async def _started(self) -> _Process:
        """A fresh interpreter. Nothing is inherited: no memory, no file, hardly any variable."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "tools.worker.child",
            str(self._memory),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            cwd=ROOT,
            env=_environment(os.environ),
        )
        return _Process(process, self._jobs_each)


def _environment(environ: Mapping[str, str]) -> dict[str, str]:
    kept = {name: environ[name] for name in _KEPT_VARIABLES if name in environ}
    # One thread's computing is what the limits are made for.
    return {**kept, "PYTHONUTF8": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


async def _exchanged(process: asyncio.subprocess.Process, frame: bytes) -> JsonObject:
    if process.stdin is None or process.stdout is None:
        raise AssertionError("a worker process has pipes")
    process.stdin.write(frame)
    await process.stdin.drain()
    first, second = lengths(await process.stdout.readexactly(LENGTHS.size))
    written = await process.stdout.readexactly(first)
    await process.stdout.readexactly(second)
    return unpacked(written)
