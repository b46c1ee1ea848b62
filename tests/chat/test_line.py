"""The line and the slots, under arrivals, departures and cancellations in any order."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat import line
from chat.line import FairLine, Lane, Slots, Ticket, place_in_words

LANES: Sequence[Lane] = [(guild, channel) for guild in range(3) for channel in range(2)]

moves = st.lists(
    st.tuples(st.sampled_from(["come", "come", "take", "go"]), st.integers(0, 50)), max_size=40
)


@dataclass(eq=False)
class Item:
    lane: Lane
    number: int


def in_line(line: FairLine[Item]) -> list[Item]:
    return list(line)


class Watch:
    """Fails if anyone is served twice while a guild, or a channel beside it, waits for its turn."""

    def __init__(self) -> None:
        self._passed_by: dict[Lane, Counter[Lane]] = {}

    def served(self, lane: Lane) -> None:
        for share in (lane[:1], lane):
            self._passed_by.pop(share, None)
            for other, passed_by in self._passed_by.items():
                if len(other) == len(share) and other[:-1] == share[:-1]:
                    passed_by[share] += 1
                    assert passed_by[share] == 1, f"{share} went twice before {other}"

    def wait(self, lanes: set[Lane]) -> None:
        waiting = lanes | {lane[:1] for lane in lanes}
        kept = {lane: found for lane, found in self._passed_by.items() if lane in waiting}
        self._passed_by = {lane: kept.get(lane, Counter()) for lane in waiting}


# The order.


def test_an_empty_line_has_nothing_to_take() -> None:
    with pytest.raises(ValueError, match="empty"):
        FairLine[int]().take()


def test_guilds_take_turns_and_then_their_channels() -> None:
    line = FairLine[str]()
    for lane, item in (
        ((1, 1), "busy guild, one"),
        ((1, 1), "busy guild, one again"),
        ((1, 2), "busy guild, two"),
        ((1, 1), "busy guild, one once more"),
        ((2, 3), "quiet guild"),
    ):
        line.add(lane, item)
    assert list(line) == [
        "busy guild, one",
        "quiet guild",
        "busy guild, two",
        "busy guild, one again",
        "busy guild, one once more",
    ]


def test_who_was_just_served_goes_behind_who_was_not() -> None:
    line = FairLine[str]()
    line.add((1, 1), "first")
    assert line.take() == "first"
    line.add((1, 2), "the same guild")
    line.add((2, 1), "another")
    assert list(line) == ["another", "the same guild"]
    line.forget()
    assert list(line) == ["the same guild", "another"]


@given(moves)
def test_the_line_is_fair_and_tells_its_order_truly(steps: list[tuple[str, int]]) -> None:
    line = FairLine[Item]()
    waiting: list[Item] = []
    watch = Watch()
    for number, (what, which) in enumerate(steps):
        before = in_line(line)
        assert sorted(item.number for item in before) == [item.number for item in waiting]
        if what == "come":
            item = Item(lane=LANES[which % len(LANES)], number=number)
            line.add(item.lane, item)
            waiting.append(item)
            after = in_line(line)
            for other in before:
                back = after.index(other) - before.index(other)
                if other.lane[0] != item.lane[0]:
                    assert back in {0, 1}
                else:
                    assert back == 0 or (back > 0 and other.lane != item.lane)
        elif what == "go" and waiting:
            item = waiting.pop(which % len(waiting))
            line.remove(item.lane, item)
            line.remove(item.lane, item)
            after = in_line(line)
            assert all(after.index(other) <= before.index(other) for other in after)
        elif what == "take" and waiting:
            item = line.take()
            assert item is before[0]
            assert item.number == min(o.number for o in waiting if o.lane == item.lane)
            waiting.remove(item)
            assert in_line(line) == before[1:]
            watch.served(item.lane)
        watch.wait({item.lane for item in waiting})


@pytest.mark.parametrize(
    ("position", "words"), [(1, "next"), (3, "third"), (10, "tenth"), (11, "number 11")]
)
def test_places_in_words(position: int, words: str) -> None:
    assert place_in_words(position) == words


# The slots.


@dataclass(eq=False)
class Guest:
    """A task that wants a slot, and keeps it until it is told to go."""

    slots: Slots
    lane: Lane
    most: int | None = None
    positions: list[int] = field(default_factory=list[int])
    inside: bool = False
    done: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.ticket = Ticket(self.lane, moved=self.positions.append, most=self.most, raises=True)
        self.task = asyncio.create_task(self._visit())

    async def _visit(self) -> None:
        await self.slots.enter(self.ticket)
        self.inside = True
        try:
            await self.done.wait()
        finally:
            self.inside = False
            self.slots.leave(self.ticket)


async def settle() -> None:
    for _ in range(3):
        await asyncio.sleep(0)


actions = st.lists(
    st.tuples(
        st.sampled_from(["come", "come", "cancel", "end", "end and cancel", "widen", "narrow"]),
        st.integers(0, 50),
        st.booleans(),
    ),
    max_size=40,
)


@settings(max_examples=150, deadline=None)
@given(st.integers(1, 3), actions)
def test_no_slot_is_lost_or_given_twice(limit: int, steps: list[tuple[str, int, bool]]) -> None:
    asyncio.run(visit(limit, steps))


async def visit(limit: int, steps: list[tuple[str, int, bool]]) -> None:
    slots = Slots(limit)
    guests: list[Guest] = []
    widest = limit
    for what, which, pause in steps:
        if what == "come":
            guests.append(Guest(slots, LANES[which % len(LANES)]))
        elif what == "widen":
            slots.limit += 1
        elif what == "narrow":
            slots.limit = max(1, slots.limit - 1)
        present = [guest for guest in guests if not guest.task.done()]
        if "end" in what and (inside := [guest for guest in present if guest.inside]):
            inside[which % len(inside)].done.set()
        if "cancel" in what and present:
            # Those who wait, and those who were let in a moment ago and do not know it yet.
            outside = [guest for guest in present if not guest.inside] or present
            outside[which % len(outside)].task.cancel()
        widest = max(widest, slots.limit)
        if pause:
            # Without the pause, several of these meet in the same moment.
            await settle()
            present = [guest for guest in guests if not guest.task.done()]
            inside = [guest for guest in present if guest.inside]
            assert {guest.ticket for guest in inside} == slots.held
            assert len(inside) <= widest
            outside = [guest for guest in present if not guest.inside]
            assert not outside or len(inside) >= slots.limit, "someone waits beside a free slot"
            places = sorted(guest.positions[-1] for guest in outside)
            assert places == list(range(1, len(outside) + 1))
    for guest in guests:
        guest.done.set()
    if guests:
        await asyncio.wait([guest.task for guest in guests])
    assert all(guest.task.cancelled() or guest.task.exception() is None for guest in guests)
    assert not slots
    assert not slots.held


async def test_without_arrivals_a_place_only_gets_better() -> None:
    slots = Slots(1)
    guests = [Guest(slots, lane) for lane in (*LANES, *LANES)]
    await settle()
    arrived = [len(guest.positions) for guest in guests]
    while any(not guest.task.done() for guest in guests):
        next(guest for guest in guests if guest.inside).done.set()
        await settle()
    assert guests[0].positions == []
    for guest, begun in zip(guests[1:], arrived[1:], strict=True):
        later = guest.positions[begun - 1 :]
        assert later == list(range(later[0], -1, -1))


async def test_cancelling_frees_the_place_and_the_slot_at_once() -> None:
    slots = Slots(1)
    first, second, third = (Guest(slots, (guild, 0)) for guild in range(3))
    await settle()
    assert (second.positions, third.positions) == ([1], [2])
    second.task.cancel()
    await settle()
    assert third.positions == [2, 1]
    first.task.cancel()
    await settle()
    assert third.inside
    assert third.positions == [2, 1, 0]
    third.done.set()
    await third.task


async def test_one_in_the_middle_of_the_line_leaves_no_gap() -> None:
    slots = Slots(1)
    guests = [Guest(slots, (guild, 0)) for guild in range(4)]
    await settle()
    guests[2].task.cancel()
    await settle()
    assert [guest.positions for guest in guests] == [[], [1], [2], [3, 2]]
    returning = asyncio.create_task(
        slots.enter(Ticket((0, 1), moved=list[int]().append), returning=True)
    )
    await settle()
    returning.cancel()
    await settle()
    assert [guest.positions for guest in guests] == [[], [1, 2, 1], [2], [3, 2, 3, 2]]
    for guest in (guests[0], guests[1], guests[3]):
        guest.done.set()
        await guest.task


async def test_a_slot_granted_to_a_task_that_was_just_cancelled_goes_on() -> None:
    slots = Slots(1)
    first, second, third = (Guest(slots, (guild, 0)) for guild in range(3))
    await settle()
    slots.leave(first.ticket)  # the slot is granted to the second ...
    second.task.cancel()  # ... which is cancelled before it could notice
    await settle()
    assert not second.inside
    assert third.inside
    for guest in (first, third):
        guest.done.set()
        await guest.task


async def test_who_was_cancelled_a_moment_ago_is_passed_over() -> None:
    slots = Slots(1)
    first, second, third = (Guest(slots, (guild, 0)) for guild in range(3))
    await settle()
    second.task.cancel()
    slots.leave(first.ticket)  # before the second task could leave the line by itself
    assert slots.held == {third.ticket}
    for guest in (first, third):
        guest.done.set()
        await guest.task


async def test_once_nobody_is_left_all_begin_anew() -> None:
    slots = Slots(1)
    early = Guest(slots, (1, 1))
    await settle()
    early.done.set()
    await early.task
    guests = [Guest(slots, lane) for lane in ((3, 0), (1, 2), (2, 0))]
    await settle()
    assert [guest.positions for guest in guests] == [[], [1], [2]]
    for guest in guests:
        guest.done.set()
        await guest.task


async def test_who_returns_goes_before_all_that_have_not_begun() -> None:
    slots = Slots(1)
    first = Guest(slots, (0, 0))
    waiting = [Guest(slots, (guild, 0)) for guild in (1, 2)]
    await settle()
    moved: list[int] = []
    returning = Ticket((0, 1), moved=moved.append)
    entered = asyncio.create_task(slots.enter(returning, returning=True))
    await settle()
    assert (moved, waiting[0].positions, waiting[1].positions) == ([1], [1, 2], [2, 3])
    first.done.set()
    await entered
    assert slots.held == {returning}
    slots.leave(returning)
    await settle()
    assert waiting[0].inside
    for guest in waiting:
        guest.done.set()
        await guest.task


async def test_a_number_of_its_own_binds_only_its_ticket() -> None:
    slots = Slots(1)
    first = Guest(slots, (0, 0))
    second = Guest(slots, (1, 0), most=2)
    third = Guest(slots, (2, 0))
    await settle()
    assert [guest.inside for guest in (first, second, third)] == [True, True, False]
    first.done.set()
    await settle()
    assert not third.inside
    second.done.set()
    await settle()
    assert third.inside
    third.done.set()
    await third.task


def test_lanes_without_end_are_not_all_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line, "MOST_SERVED", 10)
    waiting = FairLine[str]()
    for number in range(40):
        waiting.add((number,), "x")
        waiting.take()
    waiting.add((39,), "just served")
    waiting.add((0,), "long ago")
    assert list(waiting) == ["long ago", "just served"]
    assert len(waiting._served) <= 10  # pyright: ignore[reportPrivateUsage]
