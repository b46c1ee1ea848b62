"""Reminders go out when they are due, once, whatever Discord and the process do meanwhile."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from chat.reminding import GIVEN_UP, Reminding, Told
from data.reminders import Reminder
from data.store import Store, open_store

START = datetime(2026, 12, 1, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now


class Sink:
    """Takes down what is told; answers as told to, then with "told"."""

    def __init__(self, *answers: Told | Exception) -> None:
        self.answers = list(answers)
        self.told: list[tuple[Reminder, timedelta | None]] = []

    async def tell(self, reminder: Reminder, *, late: timedelta | None) -> Told:
        self.told.append((reminder, late))
        answer = self.answers.pop(0) if self.answers else "told"
        if isinstance(answer, Exception):
            raise answer
        return answer

    @property
    def texts(self) -> list[str]:
        return [reminder.text for reminder, _ in self.told]


async def added(store: Store, text: str, due: datetime) -> Reminder:
    return await store.reminders.add(
        guild_id=1, channel_id=2, member_id=3, message_id=4, text=text, due=due, now=START
    )


@asynccontextmanager
async def running(reminding: Reminding, sink: Sink) -> AsyncGenerator[None]:
    task = asyncio.create_task(reminding.run(sink))
    try:
        yield
    finally:
        assert not task.done()
        task.cancel()
        await asyncio.wait([task])


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not condition():
            await asyncio.sleep(0.005)


async def gone(store: Store) -> None:
    async with asyncio.timeout(5):
        while await store.reminders.of_member(1, 3):
            await asyncio.sleep(0.005)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncGenerator[Store]:
    async with open_store(tmp_path) as opened:
        yield opened


async def test_each_is_told_when_its_time_has_come(store: Store) -> None:
    clock, sink = Clock(), Sink()
    reminding = Reminding(store.reminders, now=clock)
    await added(store, "later", START + 20 * MINUTE)
    async with running(reminding, sink):
        await asyncio.sleep(0.05)
        assert sink.told == []
        await added(store, "sooner", START + 5 * MINUTE)
        clock.now = START + 5 * MINUTE
        reminding.changed()
        await until(lambda: sink.texts == ["sooner"])
        clock.now = START + 21 * MINUTE
        reminding.changed()
        await until(lambda: sink.texts == ["sooner", "later"])
        await gone(store)
    assert [late for _, late in sink.told] == [None, None]


async def test_a_clock_that_is_set_tells_nothing_twice_and_loses_nothing(store: Store) -> None:
    clock, sink = Clock(), Sink()
    reminding = Reminding(store.reminders, now=clock)
    await added(store, "first", START + 10 * MINUTE)
    await added(store, "second", START + 90 * MINUTE)
    async with running(reminding, sink):
        clock.now = START + 60 * MINUTE
        reminding.changed()
        await until(lambda: sink.texts == ["first"])
        for minutes in (-1000, 5, 15, 89):
            clock.now = START + minutes * MINUTE
            reminding.changed()
            await asyncio.sleep(0.02)
        assert sink.texts == ["first"]
        clock.now = START + 90 * MINUTE
        reminding.changed()
        await until(lambda: sink.texts == ["first", "second"])
        await gone(store)


async def test_real_time_passes_by_itself(store: Store) -> None:
    sink = Sink()
    await added(store, "soon", datetime.now(UTC) + timedelta(seconds=0.2))
    async with running(Reminding(store.reminders), sink):
        await until(lambda: sink.texts == ["soon"])


async def test_what_was_missed_is_told_once_with_how_late_it_is(store: Store) -> None:
    clock, sink = Clock(), Sink()
    for text, minutes in (("first", 1), ("second", 2)):
        await added(store, text, START + minutes * MINUTE)
    clock.now = START + 62 * MINUTE
    async with running(Reminding(store.reminders, now=clock), sink):
        await gone(store)
    assert [(reminder.text, late) for reminder, late in sink.told] == [
        ("first", 61 * MINUTE),
        ("second", 60 * MINUTE),
    ]


@pytest.mark.parametrize("failure", ["later", RuntimeError("a defect")])
async def test_what_cannot_be_told_now_is_told_later(
    store: Store, failure: Told | Exception
) -> None:
    clock, sink = Clock(), Sink(failure, "later")
    reminding = Reminding(store.reminders, now=clock)
    kept = await added(store, "tea", START)
    async with running(reminding, sink):
        for attempt, seconds in ((1, 29), (2, 59)):
            await until(lambda attempt=attempt: len(sink.told) == attempt)
            clock.now += timedelta(seconds=seconds)
            reminding.changed()
            await asyncio.sleep(0.05)
            assert len(sink.told) == attempt, "too early"
            clock.now += timedelta(seconds=1)
            reminding.changed()
        await gone(store)
    assert [(each.id, each.attempts) for each, _ in sink.told] == [(kept.id, n) for n in (1, 2, 3)]


async def test_nobody_left_to_tell_ends_it(store: Store) -> None:
    sink = Sink("gone")
    await added(store, "tea", START)
    async with running(Reminding(store.reminders, now=Clock()), sink):
        await gone(store)
    assert len(sink.told) == 1


async def test_after_a_week_it_is_given_up(store: Store) -> None:
    clock, sink = Clock(), Sink("later")
    await added(store, "tea", START)
    clock.now = START + GIVEN_UP
    async with running(Reminding(store.reminders, now=clock), sink):
        await gone(store)
    assert len(sink.told) == 1


async def test_one_that_was_being_sent_at_a_crash_is_sent_again_and_says_so(store: Store) -> None:
    clock = Clock()
    kept = await added(store, "tea", START)

    class Hanging(Sink):
        async def tell(self, reminder: Reminder, *, late: timedelta | None) -> Told:
            await super().tell(reminder, late=late)
            await asyncio.Event().wait()
            raise AssertionError("it waits for ever")

    hanging, sink = Hanging(), Sink()
    async with running(Reminding(store.reminders, now=clock), hanging):
        await until(lambda: len(hanging.told) == 1)
    reminding = Reminding(store.reminders, now=clock)
    async with running(reminding, sink):
        await asyncio.sleep(0.05)
        assert sink.told == [], "somebody may still be sending it"
        clock.now += MINUTE
        reminding.changed()
        await gone(store)
    assert [(each.id, each.attempts) for each, _ in sink.told] == [(kept.id, 2)]
