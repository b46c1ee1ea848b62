"""Transactions under concurrency, cancellation and crashes, on real files."""

import asyncio
import logging
import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from data.database import Database, open_database
from data.errors import StoreError
from data.migrate import migrate
from data.settings import REPOSITORY


async def keys(database: Database) -> list[str]:
    return [row["key"] for row in await database.read("SELECT key FROM meta ORDER BY key")]


async def put(database: Database, *names: str) -> None:
    async with database.transaction() as transaction:
        for name in names:
            await transaction.run("INSERT INTO meta VALUES (?, '')", name)


async def test_one_tasks_rollback_leaves_anothers_insert(database: Database):
    inserted = asyncio.Event()
    fail = asyncio.Event()

    async def failing() -> None:
        async with database.transaction() as transaction:
            await transaction.run("INSERT INTO meta VALUES ('lost', '')")
            inserted.set()
            await fail.wait()
            raise LookupError

    first = asyncio.create_task(failing())
    await inserted.wait()
    second = asyncio.create_task(put(database, "kept"))
    await asyncio.sleep(0.05)
    assert not second.done(), "the second writer must wait for the first"
    fail.set()
    with pytest.raises(LookupError):
        await first
    await second
    assert await keys(database) == ["kept"]


@pytest.mark.parametrize("steps", range(12))
async def test_cancelled_anywhere_both_rows_are_there_or_none(database: Database, steps: int):
    task = asyncio.create_task(put(database, "a", "b"))
    for _ in range(steps):
        await asyncio.sleep(0.0005 if steps % 2 else 0)
    task.cancel()
    waiting = asyncio.create_task(put(database, "next"))
    await asyncio.wait([task])
    await waiting
    assert await keys(database) in (["a", "b", "next"], ["next"])


async def test_cancelled_inside_the_block_rolls_back(database: Database):
    inserted = asyncio.Event()

    async def write() -> None:
        async with database.transaction() as transaction:
            await transaction.run("INSERT INTO meta VALUES ('lost', '')")
            inserted.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(write())
    await inserted.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await put(database, "kept")
    assert await keys(database) == ["kept"]


async def test_readers_see_only_what_is_committed(database: Database):
    async with database.transaction() as transaction:
        await transaction.run("INSERT INTO meta VALUES ('a', '')")
        assert await keys(database) == []
    assert await keys(database) == ["a"]


async def test_reads_cannot_write(database: Database):
    with pytest.raises(StoreError, match="cannot be written"):
        await database.read("INSERT INTO meta VALUES ('a', '')")


async def test_a_nested_transaction_is_refused_and_undoes_the_outer(database: Database):
    async def nest() -> None:
        async with database.transaction() as transaction:
            await transaction.run("INSERT INTO meta VALUES ('a', '')")
            await put(database, "b")

    with pytest.raises(RuntimeError, match="inside"):
        await nest()
    assert await keys(database) == []
    await put(database, "c")


async def test_many_writers_lose_nothing(database: Database):
    await asyncio.gather(*(put(database, f"{number:03}") for number in range(100)))
    assert len(await keys(database)) == 100


async def test_mistakes_in_sql_are_not_called_disk_trouble(database: Database):
    await put(database, "a")
    with pytest.raises(sqlite3.IntegrityError):
        await put(database, "b", "a")
    assert await keys(database) == ["a"]


async def test_a_full_disk_says_so_and_loses_nothing(database: Database):
    await put(database, "kept")
    async with database.transaction() as transaction:
        await transaction.run("PRAGMA max_page_count = 1")
    with pytest.raises(StoreError, match="is full") as caught:
        await put(database, *(f"{number:05}" for number in range(5000)))
    assert "Free some space" in caught.value.remedy
    assert await keys(database) == ["kept"]


async def test_a_disk_that_becomes_read_only_says_so_and_loses_nothing(database: Database):
    await put(database, "kept")
    async with database.transaction() as transaction:
        await transaction.run("PRAGMA query_only = ON")
    with pytest.raises(StoreError, match="cannot be written") as caught:
        await put(database, "lost")
    assert "the right to write" in caught.value.remedy
    assert await keys(database) == ["kept"]
    await database._writer.execute("PRAGMA query_only = OFF")  # pyright: ignore[reportPrivateUsage]
    await put(database, "later")
    assert await keys(database) == ["kept", "later"]


async def test_a_slow_query_does_not_stop_the_loop(database: Database):
    query = asyncio.create_task(
        database.read(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000000) "
            "SELECT count(*) FROM n"
        )
    )
    ticks = 0
    while not query.done():
        await asyncio.sleep(0.001)
        ticks += 1
    assert ticks > 20


async def test_no_word_that_is_stored_reaches_the_log(
    database: Database, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.DEBUG)
    await put(database, "a secret")
    assert await keys(database) == ["a secret"]
    assert "a secret" not in caplog.text


async def test_another_program_with_the_lock_is_named_as_the_cause(
    path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("data.database.BUSY_TIMEOUT", 0.05)
    migrate(path)
    other = sqlite3.connect(path, isolation_level=None)
    try:
        async with open_database(path) as database:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreError, match="Another program"):
                await put(database, "a")
            other.execute("ROLLBACK")
            await put(database, "b")
            assert await keys(database) == ["b"]
    finally:
        other.close()


async def test_use_after_closing_is_refused(path: Path):
    migrate(path)
    async with open_database(path) as database:
        await put(database, "a")
    with pytest.raises(StoreError, match="closed"):
        await keys(database)
    with pytest.raises(StoreError, match="closed"):
        await put(database, "b")


async def test_closing_lets_the_transaction_under_way_end(path: Path):
    migrate(path)
    begun = asyncio.Event()

    async def slow(database: Database) -> None:
        async with database.transaction() as transaction:
            begun.set()
            await asyncio.sleep(0.05)
            await transaction.run("INSERT INTO meta VALUES ('kept', '')")

    async with open_database(path) as database:
        task = asyncio.create_task(slow(database))
        await begun.wait()
    await task
    async with open_database(path) as database:
        assert await keys(database) == ["kept"]


async def test_foreign_keys_hold_and_the_log_is_emptied_on_closing(path: Path):
    migrate(path)
    async with open_database(path) as database:
        with pytest.raises(sqlite3.IntegrityError):
            async with database.transaction() as transaction:
                await transaction.run("INSERT INTO replies VALUES (1, 'no such turn', 0)")
        assert path.with_name(f"{path.name}-wal").exists()
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


WRITER = """
import asyncio, sys
from pathlib import Path
from data.store import open_store

async def main():
    async with open_store(Path(sys.argv[1])) as store:
        for number in range(1, 1_000_000):
            await store.claims.claim(number)
            print(number, flush=True)

asyncio.run(main())
"""

UNCOMMITTED = """
import asyncio, sys
from pathlib import Path
from data.database import open_database
from data.migrate import migrate

async def main():
    path = Path(sys.argv[1]) / "verbatim.db"
    migrate(path)
    async with open_database(path) as database, database.transaction() as transaction:
        for number in range(5000):
            await transaction.run("INSERT INTO claims VALUES (?, 'x')", number)
        print(1, flush=True)
        await asyncio.sleep(60)

asyncio.run(main())
"""


def killed_after(lines: int, script: str, home: Path) -> list[int]:
    """Run `script`, kill it -9 once it printed so many lines, return all that it printed."""
    child = subprocess.Popen(
        [sys.executable, "-c", script, str(home)], cwd=REPOSITORY, stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    printed = [child.stdout.readline() for _ in range(lines)]
    os.kill(child.pid, signal.SIGKILL)
    printed += child.stdout.readlines()
    child.stdout.close()
    assert child.wait() == -signal.SIGKILL
    # The last line may have been cut off.
    return [int(line) for line in printed if line.endswith("\n")]


async def test_what_was_acknowledged_survives_a_kill(path: Path):
    acknowledged = killed_after(40, WRITER, path.parent)
    migrate(path)
    async with open_database(path) as database:
        rows = await database.read("SELECT message_id FROM claims")
        (health,) = await database.read("PRAGMA integrity_check")
    assert health[0] == "ok"
    assert len(acknowledged) >= 40
    assert set(acknowledged) <= {row["message_id"] for row in rows}


async def test_what_was_not_committed_is_gone_after_a_kill(path: Path):
    killed_after(1, UNCOMMITTED, path.parent)
    migrate(path)
    async with open_database(path) as database:
        assert await database.read("SELECT * FROM claims") == []
        await put(database, "a")
