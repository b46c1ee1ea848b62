import asyncio
import contextlib
import os
import subprocess
import sys
import time
from pathlib import Path

from data.heartbeat import INTERVAL, STALE, is_beating, keep_beating
from data.settings import REPOSITORY


async def beat_for(home: Path, seconds: float, *, well: bool) -> bool:
    """Whether a watcher saw it well before it was stopped."""
    task = asyncio.create_task(keep_beating(home, lambda: well, interval=0.01))
    await asyncio.sleep(seconds)
    seen = is_beating(home)
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
    return seen


async def test_it_beats_while_all_is_well(tmp_path: Path) -> None:
    assert not is_beating(tmp_path)
    assert await beat_for(tmp_path, 0.1, well=True)


async def test_it_does_not_beat_when_something_is_wrong(tmp_path: Path) -> None:
    assert not await beat_for(tmp_path, 0.1, well=False)


async def test_after_a_stop_nobody_takes_it_for_well(tmp_path: Path) -> None:
    await beat_for(tmp_path, 0.1, well=True)
    assert list(tmp_path.iterdir()) == []


async def test_it_goes_on_beating(tmp_path: Path) -> None:
    task = asyncio.create_task(keep_beating(tmp_path, lambda: True, interval=0.01))
    await asyncio.sleep(0.1)
    age(tmp_path, STALE + 1)
    await asyncio.sleep(0.1)
    assert is_beating(tmp_path)
    task.cancel()


async def test_a_home_that_is_gone_stops_nothing(tmp_path: Path) -> None:
    assert not await beat_for(tmp_path / "gone", 0.1, well=True)


def age(home: Path, seconds: float) -> None:
    then = time.time() - seconds
    os.utime(home / "heartbeat", (then, then))


def test_a_beat_counts_for_several_intervals(tmp_path: Path) -> None:
    (tmp_path / "heartbeat").touch()
    age(tmp_path, INTERVAL * 3)
    assert is_beating(tmp_path)
    age(tmp_path, STALE + 1)
    assert not is_beating(tmp_path)


def look(home: Path) -> int:
    """The exit status of the look from outside."""
    return subprocess.run(
        [sys.executable, "-m", "data.heartbeat", str(home)],
        cwd=REPOSITORY,
        timeout=20,
        check=False,
    ).returncode


def test_the_look_from_outside(tmp_path: Path) -> None:
    assert look(tmp_path) == 1
    (tmp_path / "heartbeat").touch()
    assert look(tmp_path) == 0
