"""Each message is taken up once."""

import asyncio
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

from data.claims import KEPT, Claims
from data.database import Database
from data.store import open_store
from data.times import to_column


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
