import asyncio
from collections.abc import Callable

from cogs.queueing import ChannelQueue

ADA, BOB = 1, 2


class Queue:
    """A channel in which each question is answered when the test says so."""

    def __init__(self, *, tell_after: float = 60.0) -> None:
        self.queue = ChannelQueue(tell_after=tell_after)
        self.begun: list[str] = []
        self.shown: list[tuple[str, str]] = []
        self._ends: dict[str, asyncio.Event] = {}
        self.tasks: dict[str, asyncio.Task[None]] = {}

    async def ask(self, *questions: str, member: int = ADA) -> None:
        for question in questions:
            self._ends[question] = asyncio.Event()
            self.tasks[question] = asyncio.create_task(self._attend(question, member))
        await asyncio.sleep(0)

    async def answered(self, question: str) -> None:
        self._ends[question].set()
        await self.tasks[question]
        await asyncio.sleep(0)

    async def _attend(self, question: str, member: int) -> None:
        async with self.queue.turn(member, self._show(question)):
            self.begun.append(question)
            await self._ends[question].wait()

    def _show(self, question: str) -> Callable[[str], None]:
        return lambda place: self.shown.append((question, place))


async def test_members_take_turns_and_keep_their_own_order() -> None:
    queue = Queue()
    await queue.ask("a1", "a2", "a3")
    await queue.ask("b1", "b2", member=BOB)
    for question in ("a1", "b1", "a2", "b2", "a3"):
        assert queue.begun[-1] == question
        await queue.answered(question)
    assert not queue.queue
    assert queue.shown == []


async def test_one_who_stops_waiting_lets_the_next_in() -> None:
    queue = Queue()
    await queue.ask("a1", "a2", "a3")
    queue.tasks["a2"].cancel()
    await queue.answered("a1")
    assert queue.begun == ["a1", "a3"]


async def test_a_long_wait_is_told_once_a_member_and_when_it_changes() -> None:
    queue = Queue(tell_after=0.05)
    await queue.ask("a1")
    await queue.ask("b1", "b2", member=BOB)
    await queue.ask("a2")
    assert queue.shown == []
    await asyncio.sleep(0.1)
    assert queue.shown == [
        ("b1", "you are next in this channel"),
        ("a2", "you are second in this channel"),
    ]
    queue.shown.clear()
    await queue.answered("a1")
    assert queue.shown == [
        ("a2", "you are next in this channel"),
        ("b2", "you are second in this channel"),
    ]


async def test_who_is_served_in_time_is_told_nothing() -> None:
    queue = Queue(tell_after=0.05)
    await queue.ask("a1", "a2")
    await queue.answered("a1")
    await asyncio.sleep(0.1)
    assert queue.begun == ["a1", "a2"]
    assert queue.shown == []
