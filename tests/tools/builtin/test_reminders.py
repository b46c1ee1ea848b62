"""Reminders through their tools: set, listed and cancelled for the member who asks."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest

from data.reminders import MOST_OF_MEMBER
from data.store import Store
from tests.tools.conftest import NOW, Contexts
from tools.builtin.reminders import reminder_tools
from tools.registry import DeclaredTool, ToolContext, ToolFailure


@dataclass
class Tools:
    """The tools, and how often they have told of a change."""

    tools: Sequence[DeclaredTool]
    changes: int = 0

    def changed(self) -> None:
        self.changes += 1

    async def run(self, context: ToolContext, name: str, **arguments: str | int) -> str:
        (found,) = (each for each in self.tools if each.spec.name == name)
        return (await found.run(context, arguments)).text


@dataclass
class Readers:
    """Rights by which everyone here can read these channels."""

    channels: frozenset[int]

    async def may(self, permission: str) -> bool:
        return False

    async def can_read(self, channel_id: int) -> bool:
        return True

    async def can_all_read(self, channel_id: int) -> bool:
        return channel_id in self.channels


@pytest.fixture
def tools(store: Store) -> Tools:
    made = Tools(())
    made.tools = reminder_tools(store.reminders, made.changed)
    return made


async def test_a_reminder_is_set_listed_and_cancelled(tools: Tools, context: Contexts) -> None:
    told = await tools.run(context(), "set_reminder", text="buy\n tea", when="tomorrow at 9")
    assert told.splitlines() == [
        "Reminder 1 is set for Sunday, 5 July 2026, 09:00 (UTC): buy tea",
        "The member has chosen no time zone, so UTC was assumed: tell them that /reminders "
        "timezone sets theirs.",
    ]
    assert tools.changes == 1
    listed = "Reminder 1, Sunday, 5 July 2026, 09:00 (UTC): buy tea"
    assert await tools.run(context(), "list_reminders") == listed
    assert await tools.run(context(member_id=11), "list_reminders") == (
        "The member has no reminders."
    )
    for stranger in (context(member_id=11), context(guild_id=2)):
        with pytest.raises(ToolFailure, match="no reminder 1"):
            await tools.run(stranger, "cancel_reminder", reminder_id=1)
    told = await tools.run(context(), "cancel_reminder", reminder_id=1)
    assert told == "Reminder 1 is cancelled: buy tea"
    assert tools.changes == 2
    assert await tools.run(context(), "list_reminders") == "The member has no reminders."


async def test_times_are_read_in_the_zone_of_the_member(
    tools: Tools, store: Store, context: Contexts
) -> None:
    await store.reminders.choose_zone(1, 10, "Asia/Tokyo")
    told = await tools.run(context(), "set_reminder", text="tea", when="at 9:00")
    assert told == "Reminder 1 is set for Sunday, 5 July 2026, 09:00 (Asia/Tokyo): tea"
    told = await tools.run(
        context(), "set_reminder", text="tea", when="at 9:00", timezone="America/New_York"
    )
    assert told == "Reminder 2 is set for Sunday, 5 July 2026, 09:00 (America/New_York): tea"
    kept = await store.reminders.of_member(1, 10)
    assert [each.due.hour for each in kept] == [0, 13]
    with pytest.raises(ToolFailure, match="no time zone 'Mars/Olympus'"):
        await tools.run(context(), "set_reminder", text="x", when="at 9", timezone="Mars/Olympus")


@pytest.mark.parametrize(
    ("when", "reason"),
    [
        ("yesterday", "in the past"),
        ("every day at 9", "Repeating"),
        ("whenever", "not understood"),
        ("x" * 5000, "1 to 100 characters"),
    ],
)
async def test_what_is_no_time_is_refused_with_words(
    tools: Tools, store: Store, context: Contexts, when: str, reason: str
) -> None:
    with pytest.raises(ToolFailure, match=reason):
        await tools.run(context(), "set_reminder", text="tea", when=when)
    assert await store.reminders.of_member(1, 10) == []
    assert tools.changes == 0


async def test_what_was_assumed_is_told(tools: Tools, store: Store, context: Contexts) -> None:
    await store.reminders.choose_zone(1, 10, "Europe/Berlin")
    told = await tools.run(context(), "set_reminder", text="tea", when="monday")
    assert "No time of day was given" in told
    told = await tools.run(context(), "set_reminder", text="tea", when="2027-03-28 02:30")
    assert "28 March 2027, 03:30" in told
    assert "Clocks are put forward" in told


async def test_one_too_many_is_refused(tools: Tools, store: Store, context: Contexts) -> None:
    for number in range(MOST_OF_MEMBER):
        await store.reminders.add(
            guild_id=1,
            channel_id=5,
            member_id=10,
            message_id=50,
            text=f"tea {number}",
            due=NOW,
            now=NOW,
        )
    with pytest.raises(ToolFailure, match="cancel one first"):
        await tools.run(context(), "set_reminder", text="tea", when="in 5 minutes")


async def test_what_was_asked_for_elsewhere_is_told_where_all_may_read_it(
    tools: Tools, context: Contexts
) -> None:
    elsewhere = replace(context(), channel_id=6)
    for each, text in ((context(), "here"), (elsewhere, "dismiss Bob"), (elsewhere, "again")):
        await tools.run(each, "set_reminder", text=text, when="in 5 minutes")
    told = await tools.run(replace(context(), rights=Readers(frozenset({6}))), "list_reminders")
    assert "dismiss Bob" in told
    for rights in (Readers(frozenset()), None):
        guarded = replace(context(), rights=rights)
        told = await tools.run(guarded, "list_reminders")
        assert told.splitlines()[0].endswith("here")
        assert "dismiss Bob" not in told
        assert "2 more, set in channels that not everyone here can read" in told
    cancelled = await tools.run(
        replace(context(), rights=Readers(frozenset())), "cancel_reminder", reminder_id=2
    )
    assert cancelled == "Reminder 2 is cancelled."
