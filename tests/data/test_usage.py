"""Use is added up by day, and told apart by guild, channel, member and owner."""

from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from data.store import open_store
from data.usage import KEPT, Amount, Spender, Whose

DAY = date(2026, 12, 1)


def spender(guild_id: int = 1, member_id: int = 2, model: str = "m", owner: int = 0) -> Spender:
    return Spender(guild_id=guild_id, channel_id=5, member_id=member_id, model=model, owner=owner)


async def test_use_of_a_day_is_added_up_and_told_apart(tmp_path: Path) -> None:
    async with open_store(tmp_path) as store:
        usage = store.usage
        await usage.add(DAY, spender(), Amount(turns=1, prompt_tokens=10, cached_tokens=4))
        await usage.add(DAY, spender(), Amount(turns=1, prompt_tokens=5, completion_tokens=1))
        await usage.add(DAY, spender(member_id=3, model="n"), Amount(turns=1, prompt_tokens=100))
        await usage.add(DAY, spender(guild_id=9, owner=9), Amount(turns=7))
        await usage.add(DAY + timedelta(days=1), spender(), Amount(turns=20))
        of = {"since": DAY, "until": DAY}
        mine = await usage.total(Whose(guild_id=1, member_id=2), **of)
        assert mine == Amount(turns=2, prompt_tokens=15, cached_tokens=4, completion_tokens=1)
        assert mine.tokens == 16
        assert (await usage.total(Whose(guild_id=1), **of)).turns == 3
        assert (await usage.total(Whose(owner=0), **of)).turns == 3
        assert (await usage.total(Whose(), **of)).turns == 10
        assert await usage.total(Whose(channel_id=6), **of) == Amount()
        assert [name for name, _ in await usage.models(Whose(guild_id=1), **of)] == ["n", "m"]
        days = await usage.days(Whose(guild_id=1), since=DAY, until=DAY + timedelta(days=9))
        assert [(day, amount.turns) for day, amount in days.items()] == [
            (DAY, 3),
            (DAY + timedelta(days=1), 20),
        ]


async def test_a_warning_is_given_once_a_day(tmp_path: Path) -> None:
    async with open_store(tmp_path) as store:
        asked = [(1, DAY), (1, DAY), (0, DAY), (1, DAY + timedelta(days=1))]
        assert [await store.usage.warn_once(*one) for one in asked] == [True, False, True, True]


async def test_what_is_old_is_dropped_when_the_store_opens(tmp_path: Path) -> None:
    today = datetime.now(UTC).date()
    async with open_store(tmp_path) as store:
        for day in (today, today - KEPT - timedelta(days=2)):
            await store.usage.add(day, spender(), Amount(turns=1))
    async with open_store(tmp_path) as store:
        total = await store.usage.total(Whose(), since=date(2000, 1, 1), until=today)
        assert total.turns == 1
