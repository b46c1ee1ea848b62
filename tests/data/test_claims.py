"""Each message is taken up once."""

import asyncio
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from data.claims import KEPT, Claims
from data.database import Database
from data.store import open_store
from data.times import to_column
from data.turns import StoredTurn
from data.usage import KEPT as USAGE_KEPT
from data.usage import Amount, Spender, Whose


async def test_of_many_claims_at_once_one_succeeds(database: Database):
    claims = Claims(database)
    outcomes = await asyncio.gather(*(claims.claim(1) for _ in range(20)))
    assert outcomes.count(True) == 1
    assert await claims.claim(2)


async def test_a_claim_holds_over_restarts_for_fourteen_days(path: Path):
    async with open_store(path.parent) as store:
        assert await store.claims.claim(1)
    now = datetime.now(UTC)
    with closing(sqlite3.connect(path)) as connection:
        connection.executemany(
            "INSERT INTO claims VALUES (?, ?)",
            [
                (2, to_column(now - KEPT + timedelta(minutes=1))),
                (3, to_column(now - KEPT - timedelta(minutes=1))),
            ],
        )
        connection.commit()
    async with open_store(path.parent) as store:
        assert [await store.claims.claim(number) for number in (1, 2, 3)] == [False, False, True]
    assert timedelta(days=14) == KEPT


async def test_claims_and_accounts_are_dropped_while_the_bot_runs_too(path: Path):
    async with open_store(path.parent, pruned_every=0.02) as store:
        now = datetime.now(UTC)
        long_ago = (now - USAGE_KEPT).date() - timedelta(days=2)
        spender = Spender(guild_id=1, channel_id=2, member_id=3, model="m", owner=0)
        assert await store.claims.claim(1)
        for day in (now.date(), long_ago):
            await store.usage.add(day, spender, Amount(turns=1))
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(
                "INSERT INTO claims VALUES (?, ?)",
                (3, to_column(now - KEPT - timedelta(minutes=1))),
            )
            connection.commit()
        async with asyncio.timeout(10):
            while (await store.usage.total(Whose(), since=long_ago, until=long_ago)).turns:
                await asyncio.sleep(0.01)
        assert await store.claims.claim(3)


async def test_a_lock_in_its_way_ends_no_pruning(
    path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("data.database.BUSY_TIMEOUT", 0.02)
    async with open_store(path.parent, pruned_every=0.02) as store:
        assert await store.claims.claim(1)
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            async with asyncio.timeout(10):
                while caplog.text.count("dropped later: Another program") < 2:
                    await asyncio.sleep(0.01)
            other.execute("ROLLBACK")
        assert await store.claims.claim(3)


async def test_a_clock_that_is_set_far_ahead_takes_nothing_away(path: Path):
    long_ago = datetime.now(UTC) - timedelta(days=4000)  # as today looks to such a clock
    spender = Spender(guild_id=1, channel_id=2, member_id=3, model="m", owner=0)
    async with open_store(path.parent) as store:
        await store.usage.add(long_ago.date(), spender, Amount(turns=1))
        await store.turns.save(turn_at(long_ago))
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("INSERT INTO claims VALUES (?, ?)", (3, to_column(long_ago)))
            connection.commit()
    async with open_store(path.parent, keep_turns=timedelta(days=1)) as store:
        assert not await store.claims.claim(3)
        day = long_ago.date()
        assert (await store.usage.total(Whose(), since=day, until=day)).turns == 1
        assert await store.turns.by_ids(["1"])


async def test_turns_are_kept_for_as_long_as_is_set(path: Path):
    now = datetime.now(UTC)
    async with open_store(path.parent) as store:
        for number, days in enumerate((0, 9, 11), 1):
            await store.turns.save(turn_at(now - timedelta(days=days), number=number))
    async with open_store(path.parent) as store:
        assert set(await store.turns.by_ids(["1", "2", "3"])) == {"1", "2", "3"}
    async with open_store(path.parent, keep_turns=timedelta(days=10)) as store:
        assert set(await store.turns.by_ids(["1", "2", "3"])) == {"1", "2"}
        assert set(await store.turns.by_messages([1, 2, 3])) == {1, 2}


def turn_at(at: datetime, *, number: int = 1) -> StoredTurn:
    return StoredTurn(
        id=str(number),
        guild_id=1,
        channel_id=2,
        member_id=3,
        asked_message_id=4,
        reply_message_ids=(number,),
        turns=(),
        at=at,
    )
