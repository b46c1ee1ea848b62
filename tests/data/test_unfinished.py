"""Which replies were being written when a process ended."""

from pathlib import Path

from data.store import open_store
from data.unfinished import HalfWritten, OpenQuestion


def half_written(message_id: int, *, asked: int = 5) -> HalfWritten:
    return HalfWritten(
        message_id=message_id,
        guild_id=1,
        channel_id=2,
        member_id=3,
        asked_message_id=asked,
        turn_id=asked,
    )


async def test_what_has_not_ended_is_found_after_a_restart_in_order(path: Path):
    async with open_store(path.parent) as store:
        for message_id in (30, 10, 20):
            await store.unfinished.begun(half_written(message_id))
        await store.unfinished.begun(half_written(20, asked=6))
        await store.unfinished.ended([10, 40])
    async with open_store(path.parent) as store:
        assert await store.unfinished.all() == [half_written(20, asked=6), half_written(30)]
        await store.unfinished.ended([20, 30])
        assert await store.unfinished.all() == []


def question(asked: int) -> OpenQuestion:
    return OpenQuestion(guild_id=1, channel_id=2, member_id=3, asked_message_id=asked, turn_id=9)


async def test_what_is_not_answered_is_found_after_a_restart_in_order(path: Path):
    async with open_store(path.parent) as store:
        for asked in (30, 10, 20, 30):
            await store.unfinished.asked(question(asked))
        await store.unfinished.answered(10)
        await store.unfinished.answered(40)
    async with open_store(path.parent) as store:
        assert await store.unfinished.questions() == [question(20), question(30)]
