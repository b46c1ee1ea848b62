"""A small HTTP server for those who watch over the process: /healthz and /metrics.

Invariant: what it tells are numbers and the bot's own words, nothing of members or servers. It
listens where the operator said and nowhere else.
"""

import asyncio
import math
import os
import time
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from aiohttp import web

from chat.watched import Outcome, SessionFigures, TurnFigures
from data.errors import StoreError
from data.heartbeat import is_beating
from data.settings import Settings
from data.store import Store

_Kind: TypeAlias = Literal["gauge", "counter"]
_TEXT = "text/plain; version=0.0.4"

NO_DISCORD = "The bot has been without a session with Discord for a minute."


@asynccontextmanager
async def watched(
    figures: TurnFigures,
    store: Store,
    settings: Settings,
    *,
    sessions: SessionFigures | None = None,
) -> AsyncGenerator[None]:
    """Serve for as long as the block runs, if the settings name a port. Raises StoreError where it
    cannot be had."""
    host, port, home = settings.metrics_host, settings.metrics_port, settings.home
    if port is None:
        yield
        return
    app = web.Application()
    app.router.add_get("/healthz", _Health(store, home).answer)
    app.router.add_get("/metrics", _Metrics(figures, sessions or SessionFigures(), home).answer)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, host, port).start()
        except OSError as error:
            raise StoreError(
                f"Port {port} of {host} cannot be listened on: {error.strerror}.",
                remedy="Set VERBATIM_METRICS_PORT to a free one, or leave it unset.",
            ) from None
        yield
    finally:
        await runner.cleanup()


class _Health:
    """Whether the bot can do its work: it has Discord, and its database answers."""

    def __init__(self, store: Store, home: Path) -> None:
        self._store = store
        self._home = home

    async def answer(self, request: web.Request) -> web.Response:
        if not is_beating(self._home):
            return web.Response(status=503, text=NO_DISCORD + "\n")
        try:
            await self._store.settings.values(0, "")
        except StoreError as error:
            return web.Response(status=503, text=f"{error}\n")
        return web.Response(text="ok\n")


class _Metrics:
    """Prometheus' text format."""

    def __init__(self, figures: TurnFigures, sessions: SessionFigures, home: Path) -> None:
        self._figures = figures
        self._sessions = sessions
        self._home = home
        self._since = time.time()

    async def answer(self, request: web.Request) -> web.Response:
        text = "".join(self._lines())
        return web.Response(body=text.encode(), headers={"Content-Type": _TEXT})

    def _lines(self) -> Iterator[str]:
        turns = self._figures
        ended = {f'outcome="{each}"': turns.ended[each] for each in get_args(Outcome)}
        yield _metric("verbatim_connected", "gauge", "1 while Discord is there.", self._connected())
        yield from self._of_sessions()
        yield _metric("verbatim_turns_running", "gauge", "Turns under way.", turns.running)
        yield _metric("verbatim_turns_total", "counter", "Turns that are over.", ended)
        yield _metric("verbatim_turn_seconds_total", "counter", "Spent in them.", turns.seconds)
        tasks = len(asyncio.all_tasks())
        yield _metric("verbatim_tasks", "gauge", "Tasks of the event loop.", tasks)
        yield _metric(
            "process_cpu_seconds_total", "counter", "CPU time.", round(time.process_time(), 2)
        )
        yield _metric("process_start_time_seconds", "gauge", "Since 1970.", round(self._since))
        if (memory := _resident_bytes()) is not None:
            yield _metric("process_resident_memory_bytes", "gauge", "Memory.", memory)
        if (files := _open_files()) is not None:
            yield _metric("process_open_fds", "gauge", "Open files and sockets.", files)

    def _of_sessions(self) -> Iterator[str]:
        """The sessions by their numbers, which are those of Discord's shards."""
        latencies = self._sessions.look()
        if not latencies:
            return
        there = {f'shard="{each}"': int(known is not None) for each, known in latencies.items()}
        yield _metric("verbatim_shard_connected", "gauge", "1 while the session is there.", there)
        told = {
            f'shard="{each}"': round(known, 4)
            for each, known in latencies.items()
            if known is not None and math.isfinite(known)
        }
        means = "Discord's answer to a heartbeat."
        yield _metric("verbatim_shard_latency_seconds", "gauge", means, told)

    def _connected(self) -> int:
        return int(is_beating(self._home))


def _metric(name: str, kind: _Kind, means: str, value: float | Mapping[str, float]) -> str:
    values = (
        {f"{{{label}}}": each for label, each in value.items()}
        if isinstance(value, Mapping)
        else {"": value}
    )
    samples = "".join(f"{name}{label} {each}\n" for label, each in values.items())
    return f"# HELP {name} {means}\n# TYPE {name} {kind}\n{samples}"


def _resident_bytes() -> int | None:
    """None where the system does not tell it in this way."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, AttributeError):
        return None


def _open_files() -> int | None:
    """None where the system does not tell it in this way."""
    try:
        return sum(1 for _ in Path("/proc/self/fd").iterdir())
    except OSError:
        return None
