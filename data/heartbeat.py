"""A file that is touched while the bot is well, for those who watch it from outside.

Invariant: the file is young only if, within the last `STALE` seconds, the event loop ran and
whoever knows said that all was well. A process that hangs, or has lost Discord, lets it age.

    python -m data.heartbeat HOME    exit status 0 if the bot with that home directory is well
"""

import asyncio
import contextlib
import sys
import time
from collections.abc import Callable
from pathlib import Path

INTERVAL = 15.0
"""Seconds between two beats."""

STALE = 60.0
"""Seconds that a beat counts for. Several intervals: a machine under load is late, not ill."""

_NAME = "heartbeat"


async def keep_beating(
    home: Path, is_well: Callable[[], bool], *, interval: float = INTERVAL
) -> None:
    """Touch the file every `interval` seconds at which `is_well()`, until cancelled.

    Then the file goes: a bot that was stopped is not well for another minute. Where it cannot be
    written, the watcher sees no beat, and the bot goes on.
    """
    path = home / _NAME
    try:
        while True:
            if is_well():
                with contextlib.suppress(OSError):
                    path.touch()
            await asyncio.sleep(interval)
    finally:
        with contextlib.suppress(OSError):
            path.unlink()


def is_beating(home: Path) -> bool:
    """Whether the last beat still counts."""
    try:
        age = time.time() - (home / _NAME).stat().st_mtime
    except OSError:
        return False
    return age < STALE


if __name__ == "__main__":
    sys.exit(not is_beating(Path(sys.argv[1])))
