"""The store as a whole: opening, refusing, closing."""

import asyncio
import os
import stat
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

from data.errors import StoreError
from data.migrate import migrate
from data.settings import REPOSITORY
from data.store import Store, open_store


async def reopen(home: Path) -> None:
    async with open_store(home):
        pass


async def test_what_was_put_is_there_after_closing(tmp_path: Path):
    home = tmp_path / "deep" / "home"
    async with open_store(home) as store:
        await store.meta.put("a", "1")
        fact = await store.facts.remember(0, 2, "likes tea")
    async with open_store(home) as store:
        assert await store.meta.get("a") == "1"
        assert await store.facts.recall(0, 2, None) == [fact]
        assert (await store.export_member(0, 2))["facts"][0]["text"] == "likes tea"
        await store.erase_member(0, 2)
        assert await store.facts.recall(0, 2, None) == []
        await store.erase_guild(0)


@pytest.mark.skipif(os.name != "posix", reason="rights as on POSIX")
async def test_only_the_owner_can_read_what_is_created(tmp_path: Path):
    home = tmp_path / "home"
    old = os.umask(0)
    try:
        async with open_store(home) as store:
            await store.meta.put("a", "1")
            files = sorted(home.iterdir())
            assert {file.name for file in files} == {
                "instance.lock",
                "verbatim.db",
                "verbatim.db-shm",
                "verbatim.db-wal",
            }
            assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    finally:
        os.umask(old)
    assert stat.S_IMODE(home.stat().st_mode) == 0o700


async def test_a_directory_that_exists_keeps_its_rights(tmp_path: Path):
    tmp_path.chmod(0o750)
    await reopen(tmp_path)
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o750


async def test_a_second_store_on_the_same_home_is_refused(tmp_path: Path):
    async with open_store(tmp_path) as store:
        with pytest.raises(StoreError, match="Another Verbatim process"):
            await reopen(tmp_path)
        await store.meta.put("a", "1")
    await reopen(tmp_path)


async def test_an_error_inside_closes_everything(tmp_path: Path):
    async def fail() -> None:
        async with open_store(tmp_path):
            raise LookupError

    with pytest.raises(LookupError):
        await fail()
    await reopen(tmp_path)


@pytest.mark.parametrize("pause", [0, 0.001, 0.005, 0.01, 0.02, 0.05])
async def test_cancelled_while_opening_it_can_be_opened_again(tmp_path: Path, pause: float):
    task = asyncio.create_task(reopen(tmp_path))
    await asyncio.sleep(pause)
    task.cancel()
    await asyncio.wait([task])
    await reopen(tmp_path)


async def test_cancellation_waits_for_a_migration_under_the_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    begun, ended = threading.Event(), threading.Event()

    def slow(path: Path) -> None:
        begun.set()
        time.sleep(0.2)
        migrate(path)
        ended.set()

    monkeypatch.setattr("data.store.migrate", slow)
    task = asyncio.create_task(reopen(tmp_path))
    await asyncio.to_thread(begun.wait)
    task.cancel()
    with pytest.raises(StoreError, match="Another Verbatim process"):
        await reopen(tmp_path)
    await asyncio.wait([task])
    assert task.cancelled()
    assert ended.is_set()


async def test_a_home_that_is_a_file(tmp_path: Path):
    home = tmp_path / "home"
    home.write_text("mine")
    with pytest.raises(StoreError, match="is a file, not a directory"):
        await reopen(home)
    with pytest.raises(StoreError, match="cannot be created: Not a directory"):
        await reopen(home / "below")
    assert home.read_text() == "mine"


async def test_a_database_that_is_a_directory(tmp_path: Path):
    (tmp_path / "verbatim.db").mkdir()
    with pytest.raises(StoreError, match=r"verbatim\.db cannot be written: Is a directory"):
        await reopen(tmp_path)


AS_NOBODY = """
import asyncio, os, sys
from pathlib import Path
from data.errors import StoreError
from data.store import open_store

async def main():
    try:
        async with open_store(Path(sys.argv[1])):
            print("opened")
    except StoreError as error:
        print(error)

if os.geteuid() == 0:
    os.setegid(65534)
    os.seteuid(65534)
asyncio.run(main())
"""


def opened_as_nobody(home: Path) -> str:
    """What an attempt to open the store without any special rights says."""
    return subprocess.run(
        [sys.executable, "-c", AS_NOBODY, str(home)],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
        timeout=20,
    ).stdout


@pytest.mark.skipif(os.name != "posix", reason="rights as on POSIX")
def test_a_directory_without_the_right_to_write():
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        home.chmod(0o555)
        try:
            said = opened_as_nobody(home)
            below = opened_as_nobody(home / "below")
        finally:
            home.chmod(0o700)
        assert said.startswith(f"{home / 'instance.lock'} cannot be written: Permission denied.")
        assert below.startswith(f"The directory {home / 'below'} cannot be created: Permission")
        assert "VERBATIM_HOME" in said
        assert "VERBATIM_HOME" in below


LEAVES = """
import asyncio, sys
from pathlib import Path
from data.store import open_store

async def main():
    async with open_store(Path(sys.argv[1])) as store:
        await store.meta.put("a", "1")
        raise SystemExit(3)

asyncio.run(main())
"""


def test_the_interpreter_exits_after_a_store_was_left_by_an_error(tmp_path: Path):
    child = subprocess.run(
        [sys.executable, "-W", "error", "-c", LEAVES, str(tmp_path)],
        cwd=REPOSITORY,
        capture_output=True,
        check=False,
        timeout=20,
    )
    assert (child.returncode, child.stderr) == (3, b"")


async def test_repositories_work_side_by_side(tmp_path: Path):
    async def use(store: Store, number: int) -> None:
        assert await store.claims.claim(number)
        await store.facts.remember(1, number, f"fact {number}")
        await store.channels.move_cut_point(number, number)
        await store.settings.put(number, "", "a", number)
        assert await store.channels.cut_point(number) == number
        assert [fact.text for fact in await store.facts.recall(1, number, None)] == [
            f"fact {number}"
        ]

    async with open_store(tmp_path) as store:
        await asyncio.gather(*(use(store, number) for number in range(30)))
