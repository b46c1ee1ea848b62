"""Days without a server are counted, and what is kept of it goes after the grace."""

from datetime import date, timedelta
from pathlib import Path

from chat.privacy import Privacy
from data.departures import GRACE
from data.store import Store, open_store

FIRST = date(2026, 12, 1)


async def facts(store: Store, guild_id: int) -> list[str]:
    return [fact.text for fact in await store.facts.recall(guild_id, 30, None)]


async def look(store: Store, present: set[int], *days: int) -> None:
    for number in days:
        today = FIRST + timedelta(days=number)
        await Privacy(store).erase_departed(present, today=today)


async def test_what_is_kept_of_a_left_server_goes_after_the_grace(tmp_path: Path) -> None:
    async with open_store(tmp_path) as store:
        for guild_id in (0, 10, 11):
            await store.facts.remember(guild_id, 30, f"fact of {guild_id}")
        await store.settings.put(10, "", "persona", "x")
        await look(store, {11}, *range(GRACE), *range(GRACE))
        assert await facts(store, 10) == ["fact of 10"]
    async with open_store(tmp_path) as store:  # a restart begins nothing anew
        await look(store, {11}, GRACE)
        assert await facts(store, 10) == []
        assert await store.settings.everything(10) == {}
        assert await facts(store, 11) == ["fact of 11"]
        assert await facts(store, 0) == ["fact of 0"]


async def test_a_server_that_is_back_begins_anew(tmp_path: Path) -> None:
    async with open_store(tmp_path) as store:
        await store.facts.remember(10, 30, "kept")
        await look(store, set(), *range(GRACE))
        await look(store, {10}, GRACE)
        await look(store, set(), *range(GRACE + 1, 2 * GRACE + 1))
        assert await facts(store, 10) == ["kept"]
        await look(store, set(), 2 * GRACE + 1)
        assert await facts(store, 10) == []


async def test_a_clock_that_jumps_shortens_no_grace(tmp_path: Path) -> None:
    async with open_store(tmp_path) as store:
        await store.facts.remember(10, 30, "kept")
        await look(store, set(), 0, 1, 30000, 2, 30000, 1)
        assert await facts(store, 10) == ["kept"]
