"""Backups: made beside a store in use, kept for a time, and put back."""

import asyncio
import logging
import shutil
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from data.backup import back_up, default_name, keep_backups, restore
from data.errors import HomeInUse, StoreError
from data.migrate import MIGRATIONS, find_migrations, migrate
from data.store import DATABASE_NAME, Store, open_store

DATABASES = Path(__file__).parent / "databases"
NEWEST = len(find_migrations(MIGRATIONS))
NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
DAY = timedelta(days=1)


def meta(path: Path) -> dict[str, str]:
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return dict(connection.execute("SELECT key, value FROM meta"))


def build(path: Path, sql: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(sql)


async def test_a_backup_beside_a_busy_store_holds_what_was_acknowledged(
    path: Path, tmp_path: Path
) -> None:
    backup = tmp_path / "elsewhere" / "mine.db"
    async with open_store(path.parent) as store:
        for number in range(20):
            await store.meta.put(f"before {number}", "")

        async def write() -> None:
            for number in range(40):
                await store.meta.put(f"during {number}", "")

        writing = asyncio.create_task(write())
        made = await asyncio.to_thread(back_up, path, backup)
        await writing
        assert path.with_name(f"{path.name}-wal").stat().st_size > 0
    assert {key for key in meta(backup) if key.startswith("before")} == {
        f"before {number}" for number in range(20)
    }
    assert (made.path, made.schema, made.size) == (backup, NEWEST, backup.stat().st_size)
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    assert [file.name for file in backup.parent.iterdir()] == ["mine.db"], "one file is enough"


def test_a_backup_can_be_read_where_nothing_can_be_written(path: Path, tmp_path: Path) -> None:
    migrate(path)
    backup = tmp_path / "shelf" / "kept.db"
    back_up(path, backup)
    backup.parent.chmod(0o500)
    try:
        assert restore(backup, tmp_path / "new" / DATABASE_NAME).schema == NEWEST
    finally:
        backup.parent.chmod(0o700)


def missing(path: Path) -> None:
    pass


def damaged(path: Path) -> None:
    build(path, (DATABASES / "0001.sql").read_text(encoding="utf-8"))
    content = bytearray(path.read_bytes())
    content[4096 * 2 :] = b"\xff" * (len(content) - 4096 * 2)
    path.write_bytes(content)


def foreign(path: Path) -> None:
    build(path, "CREATE TABLE tracks (title);")


def newer(path: Path) -> None:
    migrate(path)
    build(path, f"PRAGMA user_version = {NEWEST + 1};")


def no_database(path: Path) -> None:
    path.write_bytes(b"Dear diary, " * 1000)


def empty(path: Path) -> None:
    path.touch()


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (missing, "There is no database"),
        (damaged, "is damaged"),
        (foreign, "another program's"),
        (no_database, "not an SQLite database"),
    ],
)
def test_what_is_no_sound_database_is_not_backed_up(
    path: Path, make: Callable[[Path], None], problem: str
) -> None:
    make(path)
    backup = default_name(path, NOON)
    with pytest.raises(StoreError, match=problem):
        back_up(path, backup)
    assert not backup.exists()


def test_a_file_that_exists_is_not_overwritten(path: Path, tmp_path: Path) -> None:
    migrate(path)
    mine = tmp_path / "mine.txt"
    mine.write_text("mine")
    with pytest.raises(StoreError, match="exists already"):
        back_up(path, mine)
    assert mine.read_text() == "mine"


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (missing, "There is no file"),
        (damaged, "is damaged"),
        (foreign, "another program's"),
        (newer, f"its schema is {NEWEST + 1}"),
        (no_database, "not an SQLite database"),
        (empty, "holds nothing"),
    ],
)
async def test_what_is_no_backup_is_not_restored(
    path: Path, tmp_path: Path, make: Callable[[Path], None], problem: str
) -> None:
    async with open_store(path.parent) as store:
        await store.meta.put("present", "1")
    before = path.read_bytes()
    backup = tmp_path / "kept" / "backup.db"
    backup.parent.mkdir()
    make(backup)
    with pytest.raises(StoreError, match=problem):
        restore(backup, path)
    assert path.read_bytes() == before
    assert {file.name for file in path.parent.glob("verbatim.db*")} == {DATABASE_NAME}
    assert not (path.parent / "backups").exists()


async def test_nothing_is_restored_under_a_running_bot(path: Path, tmp_path: Path) -> None:
    async with open_store(path.parent) as store:
        await store.meta.put("present", "1")
        back_up(path, tmp_path / "backup.db")
        with pytest.raises(HomeInUse):
            restore(tmp_path / "backup.db", path)
        await store.meta.put("later", "2")
    assert set(meta(path)) == {"present", "later"}


async def test_restoring_brings_back_what_was_and_keeps_what_is(path: Path, tmp_path: Path) -> None:
    backup = tmp_path / "backup.db"
    async with open_store(path.parent) as store:
        await store.meta.put("then", "1")
        await store.channels.raise_watermark(10, 20, 30)
        back_up(path, backup)
        await store.meta.put("since", "2")
    done = restore(backup, path)
    async with open_store(path.parent) as store:
        assert (await store.meta.get("then"), await store.meta.get("since")) == ("1", None)
        # A question from between then and now may have been answered.
        assert await store.channels.watermarks(10) == {}
    assert done.former is not None
    assert set(meta(done.former)) == {"then", "since"}
    assert set(meta(backup)) == {"then"}


async def test_the_log_of_a_killed_bot_stays_with_its_database(path: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    backup = tmp_path / "backup.db"
    migrate(path)
    back_up(path, backup)
    async with open_store(path.parent) as store:
        await store.meta.put("only in the log", "")
        for file in path.parent.glob("verbatim.db*"):
            shutil.copy(file, home)
    assert (home / f"{DATABASE_NAME}-wal").stat().st_size > 0
    done = restore(backup, home / DATABASE_NAME)
    assert meta(home / DATABASE_NAME) == {}
    assert done.former is not None
    assert set(meta(done.former)) == {"only in the log"}


def test_a_damaged_database_makes_way_and_is_kept(path: Path, tmp_path: Path) -> None:
    backup = tmp_path / "backup.db"
    migrate(path)
    back_up(path, backup)
    path.unlink()
    damaged(path)
    before = path.read_bytes()
    done = restore(backup, path)
    assert meta(path) == {}
    assert done.former is not None
    assert done.former.read_bytes() == before


async def test_a_backup_of_an_earlier_version_is_brought_up_to_date(
    path: Path, tmp_path: Path
) -> None:
    backup = tmp_path / "backup.db"
    build(backup, (DATABASES / "0001.sql").read_text(encoding="utf-8"))
    before = backup.read_bytes()
    assert restore(backup, path).schema == 1
    async with open_store(path.parent) as store:
        assert await store.meta.get("k") == "v"
    assert backup.read_bytes() == before


class Clock:
    """A clock that somebody sets."""

    def __init__(self) -> None:
        self.time = NOON

    def __call__(self) -> datetime:
        return self.time


def kept(home: Path) -> list[str]:
    return sorted(file.name for file in (home / "backups").glob("*"))


async def scheduled(path: Path, clock: Clock, *, keep: int = 2) -> None:
    """Let the schedule look at the clock a few times."""
    task = asyncio.create_task(
        keep_backups(path, every=DAY, keep=keep, now=clock, glance=0.01),
    )
    await asyncio.sleep(0.15)
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()


async def test_the_schedule_makes_one_a_period_and_keeps_the_newest(path: Path) -> None:
    clock = Clock()
    async with open_store(path.parent):
        await scheduled(path, clock)
        await scheduled(path, clock)  # as after a restart
        assert kept(path.parent) == ["scheduled-20260504T120000Z.db"]
        mine = path.parent / "backups" / "backup-20200101T000000Z.db"
        mine.touch()
        (path.parent / "backups" / "scheduled-20260504T000000Z.db.partial").touch()
        for _ in range(3):
            clock.time += DAY
            await scheduled(path, clock)
        assert kept(path.parent) == [
            mine.name,
            "scheduled-20260506T120000Z.db",
            "scheduled-20260507T120000Z.db",
        ]


async def test_a_clock_that_jumps_neither_stops_nor_floods_the_schedule(path: Path) -> None:
    clock = Clock()
    async with open_store(path.parent):
        clock.time = NOON + 1000 * DAY
        await scheduled(path, clock)
        clock.time = NOON
        await scheduled(path, clock)
        await scheduled(path, clock)
        clock.time = NOON + DAY
        await scheduled(path, clock)
        assert kept(path.parent) == [
            "scheduled-20260504T120000Z.db",
            "scheduled-20260505T120000Z.db",
            "scheduled-20290128T120000Z.db",
        ]


async def test_a_backup_that_fails_is_told_and_tried_again(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.ERROR)
    async with open_store(path.parent) as store:
        (path.parent / "backups").write_text("in the way")
        await scheduled(path, Clock())
        assert "No backup was made" in caplog.text
        assert "is a file, not a directory" in caplog.text
        assert all(record.exc_info is None for record in caplog.records)
        (path.parent / "backups").unlink()
        await scheduled(path, Clock())
        await still_writes(store)
    assert kept(path.parent) == ["scheduled-20260504T120000Z.db"]


async def still_writes(store: Store) -> None:
    await store.meta.put("still", "writes")
    assert await store.meta.get("still") == "writes"
