"""Runs the server as a child process and stops it again.

Invariant: while the context is entered the server accepts requests; when it is left, by
any way, the process is gone. The child is addressed by its process id alone.
"""

import asyncio
import json
import sys
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from cli.embedded.children import REPOSITORY, child_environment
from cli.embedded.errors import EmbeddedError
from cli.embedded.gguf import LocalModel

_LAST_LINES = 5
_LOG_TAIL = 8192


class EmbeddedEndpoint:
    """An OpenAI-compatible endpoint on 127.0.0.1 for as long as the context is entered.

    `home` receives the child's log, `logs/embedded.log`, beside that of the start before.
    `start_timeout` and `stop_timeout` are seconds: for loading the model, which a cold disk
    makes slow, and for a peaceful end before the process is killed. `parallel` is how many
    requests it works on at once. Entering raises EmbeddedError.
    """

    def __init__(
        self,
        home: Path,
        model: LocalModel,
        *,
        parallel: int = 1,
        start_timeout: float = 180.0,
        stop_timeout: float = 5.0,
    ) -> None:
        self._model = model
        self._parallel = parallel
        self._log = home / "logs" / "embedded.log"
        self._start_timeout = start_timeout
        self._stop_timeout = stop_timeout
        self._process: asyncio.subprocess.Process | None = None
        self._base_url = ""

    @property
    def base_url(self) -> str:
        """URL up to and including `/v1`; empty before the context was entered."""
        return self._base_url

    @property
    def model(self) -> str:
        """What requests call the model."""
        return self._model.name

    @property
    def pid(self) -> int | None:
        """Process id of the server while it runs."""
        process = self._process
        return process.pid if process is not None and process.returncode is None else None

    async def __aenter__(self) -> Self:
        process = await self._spawn()
        self._process = process
        try:
            async with asyncio.timeout(self._start_timeout):
                self._base_url = await self._ready(process)
        except TimeoutError:
            await self._stop(process)
            raise EmbeddedError(
                f"The embedded endpoint did not get ready within {self._start_timeout:g} s."
                f"{self._last_lines()}\nStart again; if it stays so, a smaller model or an "
                "endpoint elsewhere (VERBATIM_BASE_URL) suits this machine better."
            ) from None
        except BaseException:
            await self._stop(process)
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._process is not None:
            await self._stop(self._process)

    async def _spawn(self) -> asyncio.subprocess.Process:
        model = self._model
        arguments = ["-m", "cli.embedded.server", "--model", str(model.path.resolve())]
        arguments += ["--name", model.name, "--parallel", str(self._parallel)]
        if model.plain_template:
            arguments.append("--plain-template")
        try:
            self._log.parent.mkdir(parents=True, exist_ok=True)
            if self._log.exists():
                self._log.replace(self._log.with_name("embedded.previous.log"))
            with self._log.open("wb") as log:
                return await asyncio.create_subprocess_exec(
                    sys.executable,
                    *arguments,
                    stdin=asyncio.subprocess.PIPE,
                    stdout=asyncio.subprocess.PIPE,
                    stderr=log,
                    cwd=REPOSITORY,
                    env=child_environment(),
                )
        except OSError as error:
            raise EmbeddedError(
                f"The embedded endpoint cannot be started: {error}. VERBATIM_HOME must be a "
                "folder that this user may write."
            ) from error

    async def _ready(self, process: asyncio.subprocess.Process) -> str:
        if process.stdout is None:
            raise RuntimeError("the child was started without a pipe")
        line = await process.stdout.readline()
        if not line:
            raise EmbeddedError(
                f"The embedded endpoint did not start (exit code {await process.wait()})."
                f"{self._last_lines()}\n{self._model.path} must be a sound GGUF model and fit into "
                "free memory. If it was fetched here, delete it and it is fetched again; or set "
                "VERBATIM_MODEL_PATH to another file, or VERBATIM_BASE_URL to an endpoint's URL."
            )
        base_url: str = json.loads(line)["base_url"]
        return base_url

    async def _stop(self, process: asyncio.subprocess.Process) -> None:
        """End the child and wait for it, also when the waiting itself is cancelled."""
        if process.stdin is not None:
            process.stdin.close()
        try:
            with suppress(ProcessLookupError):
                process.terminate()
            async with asyncio.timeout(self._stop_timeout):
                await process.wait()
        except TimeoutError:
            pass
        finally:
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    process.kill()
                await process.wait()

    def _last_lines(self) -> str:
        with self._log.open("rb") as log:
            log.seek(max(0, self._log.stat().st_size - _LOG_TAIL))
            lines = log.read().decode("utf-8", errors="replace").splitlines()
        shown = [f"\n  {line}" for line in lines[-_LAST_LINES:] if line.strip()]
        return f" It said last ({self._log}):{''.join(shown)}" if shown else ""
