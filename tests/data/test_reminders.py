"""Reminders are handed out once when they are due, and belong to one member."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from data.database import Database
from data.reminders import MAX_CHARS, MOST_OF_MEMBER, Reminder, ReminderLimit, Reminders
from data.store import open_store

NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


async def added(
    reminders: Reminders, text: str = "tea", *, guild: int = 1, member: int = 2, minutes: float = 5
) -> Reminder:
    return await reminders.add(
        guild_id=guild,
        channel_id=3,
        member_id=member,
        message_id=4,
        text=text,
        due=NOW + MINUTE * minutes,
        now=NOW,
    )


async def test_a_reminder_is_claimed_once_when_it_is_due(database: Database) -> None:
    reminders = Reminders(database)
    kept = await added(reminders)
    assert await reminders.next_at() == kept.due
    assert await reminders.claim(kept.due - MINUTE, again_at=kept.due) is None
    claims = await asyncio.gather(
        *(reminders.claim(kept.due, again_at=kept.due + MINUTE) for _ in range(3))
    )
    claimed = [claim for claim in claims if claim is not None]
    assert [(claim.id, claim.attempts, claim.due) for claim in claimed] == [(kept.id, 1, kept.due)]
    again = await reminders.claim(kept.due + MINUTE, again_at=kept.due + 2 * MINUTE)
    assert again is not None
    assert again.attempts == 2
    await reminders.done(kept.id)
    assert await reminders.next_at() is None


async def test_a_claim_outlives_the_process_that_made_it(tmp_path: Path) -> None:
    async with open_store(tmp_path) as store:
        kept = await added(store.reminders)
        await store.reminders.claim(kept.due, again_at=kept.due + MINUTE)
    async with open_store(tmp_path) as store:
        assert await store.reminders.claim(kept.due, again_at=kept.due) is None
        again = await store.reminders.claim(kept.due + MINUTE, again_at=kept.due + 2 * MINUTE)
        assert again is not None
        assert (again.id, again.text, again.attempts) == (kept.id, "tea", 2)


async def test_the_longest_due_one_comes_first_and_a_postponed_one_later(
    database: Database,
) -> None:
    reminders = Reminders(database)
    late, soon = await added(reminders, minutes=9), await added(reminders, minutes=1)
    hour = NOW + 60 * MINUTE
    first = await reminders.claim(hour, again_at=hour + MINUTE)
    assert first is not None
    assert first.id == soon.id
    await reminders.postpone(first.id, hour + 5 * MINUTE)
    second = await reminders.claim(hour + MINUTE, again_at=hour + 9 * MINUTE)
    assert second is not None
    assert second.id == late.id
    assert await reminders.next_at() == hour + 5 * MINUTE


@pytest.mark.parametrize("text", ["", " \n ", "x" * (MAX_CHARS + 1)])
async def test_text_is_bounded(database: Database, text: str) -> None:
    with pytest.raises(ReminderLimit, match=f"1 to {MAX_CHARS} characters"):
        await added(Reminders(database), text)


async def test_a_member_has_so_many_in_a_guild(database: Database) -> None:
    reminders = Reminders(database)
    for number in range(MOST_OF_MEMBER):
        await added(reminders, f"tea {number}")
    with pytest.raises(ReminderLimit, match="cancel one first"):
        await added(reminders)
    assert len(await reminders.of_member(1, 2)) == MOST_OF_MEMBER
    await added(reminders, member=3)
    await added(reminders, guild=2)


async def test_a_guild_has_so_many_but_direct_messages_have_no_such_limit(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("data.reminders.MOST_OF_GUILD", 2)
    reminders = Reminders(database)
    for member in (2, 3):
        await added(reminders, member=member)
    with pytest.raises(ReminderLimit, match="This server has 2 reminders"):
        await added(reminders, member=4)
    for member in (2, 3, 4):
        await added(reminders, guild=0, member=member)


async def test_nobody_cancels_or_sees_anothers(database: Database) -> None:
    reminders = Reminders(database)
    kept = await added(reminders)
    for guild_id, member_id in ((1, 3), (2, 2), (0, 2)):
        assert await reminders.cancel(guild_id, member_id, kept.id) is None
        assert await reminders.of_member(guild_id, member_id) == []
    assert await reminders.cancel(1, 2, 2**70) is None
    assert await reminders.cancel(1, 2, kept.id) == kept
    assert await reminders.of_member(1, 2) == []


async def test_numbers_are_never_used_again(database: Database) -> None:
    reminders = Reminders(database)
    first = await added(reminders)
    await reminders.done(first.id)
    assert (await added(reminders)).id > first.id


async def test_a_time_zone_belongs_to_a_member_of_a_guild(database: Database) -> None:
    reminders = Reminders(database)
    await reminders.choose_zone(1, 2, "Europe/Oslo")
    await reminders.choose_zone(1, 2, "Asia/Tokyo")
    zones = [await reminders.zone(*pair) for pair in ((1, 2), (1, 3), (2, 2))]
    assert zones == ["Asia/Tokyo", None, None]
