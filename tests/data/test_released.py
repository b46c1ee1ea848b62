"""Every database that was ever released: brought to the newest schema with all that it holds."""

import sqlite3
from collections.abc import Awaitable, Callable, Mapping
from contextlib import closing
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from data.facts import Fact
from data.knowledge.library import Knowledge
from data.migrate import BACKUPS, MIGRATIONS, find_migrations
from data.store import Store, open_store
from data.usage import Whose
from prompt.values import TextPart
from tests.data.dump import dump

DATABASES = Path(__file__).parent / "databases"
NEWEST = len(find_migrations(MIGRATIONS))
AT = datetime(2026, 5, 4, 3, 2, 1, tzinfo=UTC)
FAR = datetime(2999, 1, 1, 9, tzinfo=UTC)


async def from_0001(store: Store) -> None:
    assert await store.settings.values(10, "") == {"tool_mode": "native"}
    assert await store.settings.values(10, "m") == {"nudge": False}
    operators = await store.verdicts.get("http://host/v1", "m")
    assert (operators.structured_calls, operators.reason) == (True, "seen in a turn")
    turn = (await store.turns.by_messages([52]))[52]
    assert (turn.id, turn.reply_message_ids) == ("t1", (51, 52))
    assert turn.turns[0].parts == (TextPart(text="Six."),)
    assert await store.facts.recall(10, 30, None) == [Fact(id=7, text="Drinks green tea", at=AT)]
    assert not await store.claims.claim(40)
    assert await store.channels.cut_point(20) == 39
    assert await store.meta.get("k") == "v"


async def from_0002(store: Store) -> None:
    first = await store.endpoints.get(10)
    assert first is not None
    assert (first.id, first.base_url, first.model) == (
        "guild:10:a",
        "https://llm.example/v1",
        "m",
    )
    assert (first.sealed_key, first.allow_private, first.set_by) == ("sealed key", False, 30)
    assert (await store.verdicts.get(first.id, "m")).structured_calls
    approval = await store.approvals.get(10)
    assert approval is not None
    assert (approval.state, approval.decided_by, approval.told) == ("approved", 77, True)


async def from_0003(store: Store) -> None:
    assert (await store.verdicts.get("guild:10:a", "m")).learnt == {"native_tools": "off"}


async def from_0004(store: Store) -> None:
    first, second = await store.endpoints.all(10)
    assert (first.id, second.id) == ("guild:10:a", "guild:10:b")
    assert (second.base_url, second.sealed_key, second.allow_private) == (
        "http://192.168.1.7:8080/v1",
        None,
        True,
    )
    verdict = await store.verdicts.get("guild:10:a", "m")
    assert (verdict.token_ratio, verdict.cut_at) == (1.25, 4096)


async def from_0005(store: Store) -> None:
    (server,) = await store.mcp_servers.all(10)
    assert (server.name, server.url, server.sealed_token) == (
        "wiki",
        "https://mcp.example/mcp",
        "sealed token",
    )
    assert (server.enabled, server.trusted, server.allow_private) == (True, False, False)


async def from_0006(store: Store) -> None:
    knowledge: Knowledge = store.knowledge
    (context,) = await knowledge.contexts.all(10)
    assert (context.id, context.name) == (4, "House rules")
    selected = await knowledge.contexts.selected(10, 20)
    assert list(selected.contexts) == [context]
    (passage,) = await knowledge.retriever().search(selected, "When is the bin emptied? Bins")
    assert passage.document_name == "rules.md"
    assert "Bins: Tuesday mornings." in passage.text
    assert [document.name for document in await knowledge.documents.all(context)] == [
        "message",
        "rules.md",
    ]


async def from_0007(store: Store) -> None:
    search = await store.services.get(10, "search")
    assert search is not None
    assert (search.provider, search.base_url, search.sealed_key) == (
        "searxng",
        "https://search.example",
        "sealed key",
    )


async def from_0008(store: Store) -> None:
    (half,) = await store.unfinished.all()
    assert (half.message_id, half.channel_id, half.asked_message_id, half.turn_id) == (
        60,
        20,
        59,
        123456789,
    )


async def from_0009(store: Store) -> None:
    day = date(2999, 1, 1)
    used = await store.usage.total(Whose(guild_id=10), since=day, until=day)
    assert (used.turns, used.tokens, used.cost_micros) == (1, 980, 1500)
    assert not await store.usage.warn_once(10, day)
    assert await store.channels.watermarks(10) == {20: 52}


async def from_0010(store: Store) -> None:
    assert await store.opt_outs.of(10) == frozenset({32})


async def from_0011(store: Store) -> None:
    (reminder,) = await store.reminders.of_member(10, 30)
    assert (reminder.id, reminder.text, reminder.due) == (2, "water the plants", FAR)
    assert await store.reminders.zone(10, 30) == "Europe/Berlin"


async def from_0012(store: Store) -> None:
    embedding = await store.services.get(10, "embeddings")
    assert embedding is not None
    assert (embedding.provider, embedding.model) == ("openai", "minilm")


async def from_0013(store: Store) -> None:
    listing = (await store.mcp_servers.listings.of(10))["wiki"]
    assert (listing.reached, listing.tools) == ("0a1b2c3d", [{"name": "look_up"}])


SINCE: Mapping[int, Callable[[Store], Awaitable[None]]] = {
    1: from_0001,
    2: from_0002,
    3: from_0003,
    4: from_0004,
    5: from_0005,
    6: from_0006,
    7: from_0007,
    8: from_0008,
    9: from_0009,
    10: from_0010,
    11: from_0011,
    12: from_0012,
    13: from_0013,
}
"""What a database holds from this schema on, as it must read in the newest."""

RELEASED = sorted(int(sql.stem) for sql in DATABASES.glob("*.sql"))


def test_every_schema_before_the_newest_is_kept() -> None:
    assert set(range(1, NEWEST)) <= set(RELEASED), "see tests/data/dump.py"
    assert set(SINCE) == set(RELEASED)


@pytest.mark.parametrize("number", RELEASED)
async def test_all_that_it_holds_is_there_in_the_newest_schema(path: Path, number: int) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript((DATABASES / f"{number:04}.sql").read_text(encoding="utf-8"))
        before = list(dump(connection))
        assert empty_tables(connection) == [], "these would show nothing"
    async with open_store(path.parent) as store:
        for since, holds in SINCE.items():
            if since <= number:
                await holds(store)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (NEWEST,)
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    copies = list((path.parent / BACKUPS).glob("*"))
    assert len(copies) == (number < NEWEST)
    for copy in copies:
        with closing(sqlite3.connect(copy)) as connection:
            assert list(dump(connection)) == before


def empty_tables(connection: sqlite3.Connection) -> list[str]:
    tables = [
        row[1]
        for row in connection.execute("PRAGMA table_list")
        if row[2] == "table" and not row[1].startswith("sqlite_")
    ]
    return [
        table
        for table in tables
        if connection.execute(f'SELECT 1 FROM "{table}"').fetchone() is None
    ]
