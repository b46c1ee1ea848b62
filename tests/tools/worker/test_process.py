"""The worker process from outside: its limits, its end, its replacement."""

import asyncio
import io
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from PIL import Image

from tools.worker import pictures
from tools.worker.process import ROOT, Extracted, JobFailed, Worker
from tools.worker.refusing import JobRefused

POSIX_ONLY = pytest.mark.skipif(sys.platform == "win32", reason="the system has no such limit")
SLOW_PAGE = b"<!--" * 200_000
"""Takes the parser minutes: each opener looks for its end through all the rest."""


def children(parent: int) -> set[int]:
    """The processes that a process has started, from the system's own list."""
    found = set[int]()
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == parent and fields[0] != "Z":
            found.add(int(status.parent.name))
    return found


async def test_one_process_does_one_job_after_another(worker: Worker) -> None:
    assert await worker.calculate("6 * 7") == "6 * 7 = 42"
    found = await worker.extract(b"<title>T</title><p>Words</p>", name="x.html")
    assert found == Extracted(title="T", text="Words", links=())
    with pytest.raises(JobFailed, match="divides by zero"):
        await worker.calculate("1/0")
    assert await worker.calculate("1 + 1") == "1 + 1 = 2"
    if sys.platform == "linux":
        assert len(children(os.getpid())) == 1
        await worker.close()
        assert children(os.getpid()) == set()


async def test_jobs_side_by_side_each_get_their_own_answer(worker: Worker) -> None:
    answers = await asyncio.gather(*(worker.calculate(f"{n} + 1") for n in range(20)))
    assert answers == [f"{n} + 1 = {n + 1}" for n in range(20)]


async def test_a_job_that_takes_too_long_is_ended_and_the_next_one_runs(worker: Worker) -> None:
    started = time.monotonic()
    with pytest.raises(JobFailed, match="took too long"):
        await worker.extract(SLOW_PAGE, name="x.html", seconds=0.5)
    assert time.monotonic() - started < 5
    assert await worker.calculate("1 + 1") == "1 + 1 = 2"


@POSIX_ONLY
async def test_a_job_that_takes_too_much_memory_ends_in_words() -> None:
    worker = Worker(processes=1, memory=180 * 1024 * 1024)
    try:
        with pytest.raises(JobFailed, match="memory"):
            await worker.extract(b"a" * 60_000_000, name="x.txt")
        assert await worker.calculate("1 + 1") == "1 + 1 = 2"
    finally:
        await worker.close()


async def test_a_process_that_was_killed_is_replaced(worker: Worker) -> None:
    await worker.calculate("1 + 1")
    for child in children(os.getpid()):
        os.kill(child, signal.SIGKILL)
    await asyncio.sleep(0.05)
    assert await worker.calculate("2 + 2") == "2 + 2 = 4"


async def test_a_process_that_is_killed_in_mid_job_fails_that_job_alone(worker: Worker) -> None:
    job = asyncio.create_task(worker.extract(SLOW_PAGE, name="x.html"))
    while not (running := children(os.getpid())):
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.2)
    for child in running:
        os.kill(child, signal.SIGKILL)
    with pytest.raises(JobFailed, match="more memory or computing time"):
        await job
    assert await worker.calculate("2 + 2") == "2 + 2 = 4"


async def test_a_process_is_replaced_after_so_many_jobs() -> None:
    worker = Worker(processes=1, jobs_each=2)
    try:
        await worker.calculate("1")
        first = children(os.getpid())
        await worker.calculate("2")
        await worker.calculate("3")
        assert len(children(os.getpid())) == 1
        assert children(os.getpid()) != first
    finally:
        await worker.close()


async def test_cancelling_a_job_ends_its_process(worker: Worker) -> None:
    job = asyncio.create_task(worker.extract(SLOW_PAGE, name="x.html"))
    while not children(os.getpid()):
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.2)
    job.cancel()
    with pytest.raises(asyncio.CancelledError):
        await job
    assert children(os.getpid()) == set()
    assert await worker.calculate("2 + 2") == "2 + 2 = 4"


async def test_a_closed_worker_takes_no_job(worker: Worker) -> None:
    await worker.close()
    with pytest.raises(JobFailed, match="stopping"):
        await worker.calculate("1")


async def test_no_key_reaches_a_process(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCORD_TOKEN", "not-for-the-worker")
    await worker.calculate("1")
    (child,) = children(os.getpid())
    environment = Path(f"/proc/{child}/environ").read_bytes()
    assert b"not-for-the-worker" not in environment
    assert b"PATH=" in environment


@pytest.mark.parametrize("page", [b"1 + 1", SLOW_PAGE], ids=["idle", "busy"])
def test_nothing_is_left_when_the_bot_is_killed(page: bytes, tmp_path: Path) -> None:
    (tmp_path / "page").write_bytes(page)
    program = """
        import asyncio, sys
        from pathlib import Path
        from tools.worker.process import Worker

        async def main():
            worker = Worker(processes=1)
            await worker.calculate("1")
            print("ready", flush=True)
            await worker.extract(Path(sys.argv[1]).read_bytes(), name="x.html")
            await asyncio.sleep(60)

        asyncio.run(main())
    """
    parent = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program), str(tmp_path / "page")],
        cwd=ROOT,
        stdout=subprocess.PIPE,
    )
    with parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"ready\n"
        time.sleep(0.3)
        (child,) = children(parent.pid)
        parent.kill()
    until = time.monotonic() + 10
    while (alive := Path(f"/proc/{child}").exists()) and time.monotonic() < until:
        time.sleep(0.02)
    assert not alive


def picture_of(kind: str, size: tuple[int, int] = (4, 3)) -> bytes:
    written = io.BytesIO()
    Image.new("RGB", size).save(written, kind)
    return written.getvalue()


async def test_a_picture_is_told_by_its_bytes(worker: Worker) -> None:
    for kind in ("PNG", "JPEG", "WEBP"):
        found = await worker.picture(picture_of(kind))
        assert (found.format, found.width, found.height) == (kind, 4, 3)
    for data, words in (
        (b"<svg/>", "no PNG, JPEG or WebP"),
        (picture_of("GIF"), "no PNG, JPEG or WebP"),
        (picture_of("PNG", (200, 200))[:90], "damaged"),
    ):
        with pytest.raises(JobFailed, match=words):
            await worker.picture(data)


def test_a_picture_of_too_many_pixels_is_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "MOST_PIXELS", 39_999)
    with pytest.raises(JobRefused, match="too many pixels"):
        pictures.inspected(picture_of("PNG", (200, 200)))
