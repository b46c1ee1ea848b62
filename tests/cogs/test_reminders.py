"""Reminders on Discord: told to their member, once, where they were asked for or else alone."""

import asyncio
import json
from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from chat.moderation import Moderation
from chat.screening import MASK
from data.reminders import Reminder
from data.store import open_store
from tests.cogs.town import Town, town
from tests.loopback.discord_server import Channel, LoopbackDiscord, Message, Permission, User
from tests.loopback.discord_server.faults import LostAnswer, Reset
from tests.loopback.endpoint import Step
from tests.loopback.process import BotProcess

NOW = timedelta()


@pytest.fixture
async def here(tmp_path: Path) -> AsyncGenerator[Town]:
    async with town(tmp_path, approved="all", dms="on") as made:
        yield made


async def due(
    here: Town,
    *,
    channel: Channel | None = None,
    channel_id: int | None = None,
    guild_id: int | None = None,
    member: User | None = None,
    ago: timedelta = NOW,
    text: str = "tea",
) -> Reminder:
    """A reminder that was due some time ago."""
    kept = await here.store.reminders.add(
        guild_id=here.home.id if guild_id is None else guild_id,
        channel_id=channel_id or (channel or here.home_channel).id,
        member_id=(member or here.alice).id,
        message_id=1,
        text=text,
        due=datetime.now(UTC) - ago,
        now=datetime.now(UTC),
    )
    here.desk.reminding.changed()
    return kept


async def told(here: Town, channel: Channel) -> Message:
    return await here.server.wait_for_message(channel, lambda m: "Reminder" in m.text)


async def none_left(here: Town) -> None:
    async with asyncio.timeout(10):
        while await here.store.reminders.next_at() is not None:
            await asyncio.sleep(0.01)


async def test_a_reminder_pings_its_member_and_nobody_else(here: Town) -> None:
    kept = await due(here, text=f"tea @everyone {here.operator.mention}")
    message = await told(here, here.home_channel)
    assert message.text == f"{here.alice.mention} Reminder: {kept.text}"
    assert (message.pings.users, message.pings.everyone) == ({here.alice.id}, False)
    assert message.nonce == f"reminder-{kept.id}"
    await none_left(here)


async def test_words_that_were_listed_since_are_masked(here: Town) -> None:
    listed = Moderation(words=("kraken",))
    await here.desk.moderation.change(here.home.id, lambda _: listed)
    await due(here, text="feed the Kraken")
    message = await told(here, here.home_channel)
    assert message.text == f"{here.alice.mention} Reminder: feed the {MASK}"


async def test_a_late_one_says_how_late(here: Town) -> None:
    late = {
        "2 minutes late": timedelta(minutes=2),
        "3 hours late": timedelta(hours=3),
        "1 day late": timedelta(hours=25),
    }
    for words, ago in late.items():
        await due(here, ago=ago, text=f"tea {ago}")
        message = await here.server.wait_for_message(
            here.home_channel, lambda m, ago=ago: f"tea {ago}" in m.text
        )
        assert message.text.splitlines()[1].startswith(f"-# {words}")


async def test_where_it_cannot_be_told_it_goes_to_the_member_alone(here: Town) -> None:
    build = here.server.build
    mute, closed = build.channel(here.home, "mute"), build.channel(here.home, "closed")
    build.overwrite(mute, here.server.bot, deny=Permission.SEND_MESSAGES)
    build.overwrite(closed, here.alice, deny=Permission.VIEW_CHANNEL)
    direct = build.direct_messages(here.alice)
    for number, channel_id in enumerate((mute.id, closed.id, 12345678901234567), 1):
        await due(here, channel_id=channel_id, text=f"tea {number}")
        message = await here.server.wait_for_message(
            direct, lambda m, number=number: f"tea {number}" in m.text
        )
        assert message.text == f"Reminder from <#{channel_id}>: tea {number}"
    await none_left(here)
    assert here.server.messages(mute) == here.server.messages(closed) == []


async def test_an_archived_thread_is_opened_and_a_locked_one_left_alone(here: Town) -> None:
    build = here.server.build
    for locked in (False, True):
        thread = build.thread(here.home_channel, f"locked {locked}", owner=here.alice)
        assert thread.thread is not None
        thread.thread.archived, thread.thread.locked = True, locked
        build.updated(thread)
        await due(here, channel=thread)
        await told(here, build.direct_messages(here.alice) if locked else thread)
        assert thread.thread.archived == locked
    await none_left(here)


async def test_whoever_has_left_is_not_told(here: Town) -> None:
    del here.home.members[here.alice.id]
    await due(here)
    await none_left(here)
    assert here.server.messages(here.home_channel) == []
    assert here.server.messages(here.server.build.direct_messages(here.alice)) == []


async def test_in_direct_messages_it_is_told_there(here: Town) -> None:
    direct = here.server.build.direct_messages(here.alice)
    await due(here, channel=direct, guild_id=0)
    assert (await told(here, direct)).text == "Reminder: tea"
    await none_left(here)


@pytest.mark.parametrize("fault", [LostAnswer(), Reset()])
async def test_what_may_have_arrived_is_not_told_twice(
    here: Town, fault: LostAnswer | Reset
) -> None:
    await due(here, text="tea time")
    await none_left(here)
    here.server.faults.plant("/messages$", fault, method="POST")
    kept = await due(here, ago=timedelta(seconds=20))
    async with asyncio.timeout(10):
        while not await is_postponed(here):
            await asyncio.sleep(0.02)
    await here.store.reminders.postpone(kept.id, datetime.now(UTC))
    here.desk.reminding.changed()
    await none_left(here)
    told = [message.text.partition(": ")[2] for message in here.server.messages(here.home_channel)]
    assert told == ["tea time", "tea"]


async def is_postponed(here: Town) -> bool:
    """Whether the reminder waits for its next attempt; a claim lasts longer."""
    at = await here.store.reminders.next_at()
    assert at is not None
    return timedelta(seconds=15) < at - datetime.now(UTC) < timedelta(seconds=31)


async def test_a_member_sees_and_cancels_their_own(here: Town) -> None:
    later = timedelta(hours=-1)
    for member, text in ((here.alice, "tea `x` @everyone"), (here.operator, "coffee")):
        await due(here, member=member, text=text, ago=later)
    channel = here.home_channel
    listed = await here.said(channel, here.alice, "reminders list")
    assert "`tea 'x' @everyone`" in listed
    assert "coffee" not in listed
    assert "`UTC`" in listed
    typed = here.server.driver.autocomplete(channel, here.alice, "reminders cancel", "number", "")
    await here.server.driver.acknowledged(typed)
    assert [choice["value"] for choice in typed.choices] == [1]
    assert "You have no reminder 2 here" in await here.said(
        channel, here.alice, "reminders cancel", number=2
    )
    assert "Cancelled: `tea" in await here.said(channel, here.alice, "reminders cancel", number=1)
    assert "You have no reminders here." in await here.said(channel, here.alice, "reminders list")
    assert len(await here.store.reminders.of_member(here.home.id, here.operator.id)) == 1


async def test_a_member_chooses_a_time_zone_and_the_tool_uses_it(here: Town) -> None:
    channel = here.home_channel
    typed = here.server.driver.autocomplete(
        channel, here.alice, "reminders timezone", "zone", "new york"
    )
    await here.server.driver.acknowledged(typed)
    assert [choice["value"] for choice in typed.choices] == ["America/New_York"]
    assert "There is no time zone `Mars`" in await here.said(
        channel, here.alice, "reminders timezone", zone="Mars"
    )
    several = await here.said(channel, here.alice, "reminders timezone", zone="Istanbul")
    assert "There is no time zone `Istanbul`" in several
    saved = await here.said(channel, here.alice, "reminders timezone", zone=" new York ")
    assert "Saved: `America/New_York`" in saved
    await here.said(channel, here.operator, "tool toggle", name="set_reminder", state="on")
    arguments = {"text": "tea", "when": "2027-05-04 18:00"}
    here.operators.add(Step(text=f"set_reminder({json.dumps(arguments)})"), Step(text="Done."))
    await here.answer(here.ask(channel, here.alice, "remind me"), contains="Done.")
    assert "18:00 (America/New_York): tea" in str(here.operators.received[-1].messages[-1])
    (kept,) = await here.store.reminders.of_member(here.home.id, here.alice.id)
    assert kept.due == datetime(2027, 5, 4, 22, tzinfo=UTC)
    assert kept.channel_id == channel.id


async def test_what_was_missed_is_told_once_over_restarts(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with LoopbackDiscord() as server:
        guild = server.build.guild("Home")
        channel = server.build.channel(guild, "general")
        alice = server.build.user("alice", guild)
        async with open_store(home) as store:
            past = datetime.now(UTC) - timedelta(hours=2)
            await store.reminders.add(
                guild_id=guild.id,
                channel_id=channel.id,
                member_id=alice.id,
                message_id=1,
                text="tea",
                due=past,
                now=past,
            )
        for _ in range(2):
            async with BotProcess(server) as bot:
                await bot.start(
                    environment={
                        "VERBATIM_HOME": str(home),
                        "VERBATIM_BASE_URL": "http://127.0.0.1:9/v1",
                        "VERBATIM_MODEL": "absent",
                    }
                )
                await bot.wait_for_output("Connected as")
                await server.wait_for_message(channel, lambda m: "Reminder" in m.text)
                await asyncio.sleep(0.2)
        (message,) = server.messages(channel)
        assert message.text.startswith(f"{alice.mention} Reminder: tea\n-# 2 hours late")
        assert message.pings.users == {alice.id}
        assert server.violations() == []
