"""A process that was told to stop and does not: real processes."""

import asyncio
import os
import signal
import time

import pytest

from tests.loopback.process import PythonProcess

PROGRAM = """
import logging, signal, sys, time
from cli.leaving import Deadline
logging.basicConfig(format="%(message)s")
deadline = Deadline(float(sys.argv[1]))
signal.signal(signal.SIGTERM, lambda *_: deadline.begin())
print("on", flush=True)
signal.pause()
print("told", flush=True)
time.sleep(float(sys.argv[2]))
print("done", flush=True)
"""


@pytest.mark.parametrize(
    ("busy", "code", "words"),
    [(60.0, 1, "Not everything had ended 0.5 s after"), (0.0, 0, "done")],
)
async def test_it_ends_in_time_and_at_once_where_it_can(busy: float, code: int, words: str) -> None:
    async with PythonProcess("-c", PROGRAM) as process:
        await process.start(["0.5", str(busy)])
        await process.wait_for_output("^on$")
        began = time.monotonic()
        asyncio.get_running_loop().call_soon(_terminate, process.pid)
        assert await process.wait() == code
        assert words in process.output
        assert ("done" in process.output) == (code == 0)
        assert time.monotonic() - began < 10


async def test_a_second_signal_gives_no_more_time() -> None:
    async with PythonProcess("-c", PROGRAM.replace("signal.pause()", "")) as process:
        await process.start(["1", "60"])
        await process.wait_for_output("^told$")
        began = time.monotonic()
        for _ in range(3):
            _terminate(process.pid)
            await asyncio.sleep(0.3)
        assert await process.wait() == 1
        assert time.monotonic() - began < 10


def _terminate(pid: int) -> None:
    os.kill(pid, signal.SIGTERM)
