"""/healthz and /metrics over a real socket."""

import re
import socket
from collections.abc import AsyncGenerator
from pathlib import Path

import aiohttp
import pytest

from chat.watched import SessionFigures, TurnFigures
from cli.watching import NO_DISCORD, watched
from data.errors import StoreError
from data.settings import Settings
from data.store import Store, open_store


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def settings_of(home: Path, port: int | None) -> Settings:
    return Settings(home=home, metrics_port=port)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncGenerator[Store]:
    async with open_store(tmp_path) as opened:
        yield opened


async def get(port: int | None, path: str) -> tuple[int, str]:
    url = f"http://127.0.0.1:{port}{path}"
    async with aiohttp.ClientSession() as http, http.get(url) as response:
        return response.status, await response.text()


async def test_health_is_the_beat_of_a_bot_that_has_discord(store: Store, tmp_path: Path) -> None:
    settings = settings_of(tmp_path, free_port())
    async with watched(TurnFigures(), store, settings):
        assert await get(settings.metrics_port, "/healthz") == (503, f"{NO_DISCORD}\n")
        (tmp_path / "heartbeat").touch()
        assert await get(settings.metrics_port, "/healthz") == (200, "ok\n")


async def test_a_database_that_does_not_answer_is_not_well(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def damaged(*_: object) -> None:
        raise StoreError("The file is damaged.", remedy="Put back a copy.")

    monkeypatch.setattr(store.settings, "values", damaged)
    settings = settings_of(tmp_path, free_port())
    (tmp_path / "heartbeat").touch()
    async with watched(TurnFigures(), store, settings):
        answer = await get(settings.metrics_port, "/healthz")
    assert answer == (503, "The file is damaged. Put back a copy.\n")


async def test_metrics_are_what_prometheus_reads(store: Store, tmp_path: Path) -> None:
    figures = TurnFigures(running=2, seconds=7.5)
    figures.ended.update(answered=5, failed=1)
    settings = settings_of(tmp_path, free_port())
    async with watched(figures, store, settings):
        status, text = await get(settings.metrics_port, "/metrics")
    assert status == 200
    samples = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    assert samples["verbatim_turns_running"] == "2"
    assert samples['verbatim_turns_total{outcome="answered"}'] == "5"
    assert samples['verbatim_turns_total{outcome="stopped"}'] == "0"
    assert samples["verbatim_turn_seconds_total"] == "7.5"
    assert samples["verbatim_connected"] == "0"
    assert int(samples["verbatim_tasks"]) >= 1
    assert float(samples["process_cpu_seconds_total"]) > 0
    for name in {re.split(r"[{ ]", line)[0] for line in samples}:
        assert f"# TYPE {name} " in text
        assert f"# HELP {name} " in text


async def test_metrics_tell_the_sessions_apart(store: Store, tmp_path: Path) -> None:
    sessions = SessionFigures(look=lambda: {0: 0.0412345, 1: None, 2: float("inf")})
    settings = settings_of(tmp_path, free_port())
    async with watched(TurnFigures(), store, settings, sessions=sessions):
        _, text = await get(settings.metrics_port, "/metrics")
    told = [line for line in text.splitlines() if line.startswith("verbatim_shard_")]
    assert told == [
        'verbatim_shard_connected{shard="0"} 1',
        'verbatim_shard_connected{shard="1"} 0',
        'verbatim_shard_connected{shard="2"} 1',
        'verbatim_shard_latency_seconds{shard="0"} 0.0412',
    ]


async def test_without_a_port_nothing_listens(store: Store, tmp_path: Path) -> None:
    async with watched(TurnFigures(), store, settings_of(tmp_path, None)):
        pass


async def test_a_port_that_is_taken_is_told(store: Store, tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        settings = settings_of(tmp_path, int(other.getsockname()[1]))
        with pytest.raises(StoreError, match=r"listened on.*VERBATIM_METRICS_PORT"):
            async with watched(TurnFigures(), store, settings):
                pass
