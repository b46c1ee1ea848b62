"""The requests of whole turns to one endpoint."""

import asyncio
from dataclasses import dataclass

import pytest

from chat import scheduler
from chat.ports import Place
from chat.scheduler import Ask, Parallelism, Scheduler, Schedulers, assumed_slots
from providers.base import EndpointError, Refused, Unavailable

AUTO = Parallelism()


async def nothing_told() -> int | None:
    return None


async def settle() -> None:
    for _ in range(4):
        await asyncio.sleep(0)


def place(guild: int, channel: int | None = None) -> Place:
    return Place(guild_id=guild, channel_id=channel or guild * 10)


@dataclass(frozen=True, slots=True)
class Server:
    """An endpoint's scheduler, and how its server answers."""

    scheduler: Scheduler
    ask: Ask = nothing_told


class Turn:
    """A turn whose requests begin and end when the test says so."""

    def __init__(self, server: Server, where: Place, parallelism: Parallelism = AUTO) -> None:
        self.positions: list[int] = []
        self.slots: list[int | None] = []
        self.streaming = False
        self._server = server
        self._place = where
        self._parallelism = parallelism
        self._go: asyncio.Queue[BaseException | None] = asyncio.Queue()
        self._next = asyncio.Event()
        self._last = False
        self.task = asyncio.create_task(self._run())

    async def _run(self) -> None:
        async with self._server.scheduler.turn(
            self._place,
            self._parallelism,
            ask=self._server.ask,
            moved=self.positions.append,
        ) as lease:
            while not self._last:
                async with lease.request() as slot:
                    self.slots.append(slot)
                    self.streaming = True
                    try:
                        if (trouble := await self._go.get()) is not None:
                            raise trouble
                    finally:
                        self.streaming = False
                await self._next.wait()
                self._next.clear()

    async def ends_request(self) -> None:
        """The stream is over; tools run now."""
        self._go.put_nowait(None)
        await settle()

    async def goes_on(self) -> None:
        """The tools are done; the next request is due."""
        self._next.set()
        await settle()

    async def ends(self) -> None:
        self._last = True
        if self.streaming:
            self._go.put_nowait(None)
        self._next.set()
        await self.task

    async def breaks(self, trouble: BaseException) -> None:
        self._go.put_nowait(trouble)
        await asyncio.wait([self.task])
        assert self.task.exception() is trouble

    async def is_cancelled(self) -> None:
        self.task.cancel()
        await asyncio.wait([self.task])
        assert self.task.cancelled()


def one_at_a_time(*, kept: float = 60.0, ask: Ask = nothing_told) -> Server:
    return Server(Scheduler(assumed=1, kept=kept), ask)


# Whose request goes.


async def test_more_than_the_endpoint_takes_wait_their_turn() -> None:
    server = Server(Scheduler(assumed=2))
    turns = [Turn(server, place(guild)) for guild in (1, 2, 3, 4)]
    await settle()
    assert [turn.streaming for turn in turns] == [True, True, False, False]
    assert [turn.positions for turn in turns] == [[], [], [1], [2]]
    await turns[1].ends()
    await settle()
    assert [turn.streaming for turn in turns] == [True, False, True, False]
    assert [turn.positions for turn in turns] == [[], [], [1, 0], [2, 1]]
    for turn in (turns[0], turns[2], turns[3]):
        await turn.ends()


@pytest.mark.parametrize("way", ["end", "endpoint error", "bug", "cancelled", "between rounds"])
async def test_whatever_ends_a_turn_gives_its_slot_back(way: str) -> None:
    server = one_at_a_time()
    first, second = Turn(server, place(1)), Turn(server, place(2))
    await settle()
    if way == "end":
        await first.ends()
    elif way == "endpoint error":
        await first.breaks(Refused("No.", remedy="Other name."))
    elif way == "bug":
        await first.breaks(RuntimeError("a bug"))
    else:
        if way == "between rounds":
            await first.ends_request()
        await first.is_cancelled()
    await settle()
    assert second.streaming
    await second.ends()


async def test_cancelling_while_waiting_frees_the_place() -> None:
    server = one_at_a_time()
    first, second, third = (Turn(server, place(guild)) for guild in (1, 2, 3))
    await settle()
    await second.is_cancelled()
    await settle()
    assert third.positions == [2, 1]
    assert (second.slots, second.positions) == ([], [1])
    await first.ends()
    await settle()
    assert third.streaming
    await third.ends()


async def test_quick_tools_keep_the_slot() -> None:
    server = one_at_a_time(kept=60)
    first, second = Turn(server, place(1)), Turn(server, place(2))
    await settle()
    for _ in range(3):
        await first.ends_request()
        assert not second.streaming
        await first.goes_on()
        assert first.streaming
    assert first.positions == []
    await first.ends()
    await settle()
    assert second.streaming
    await second.ends()


async def test_a_slot_kept_between_rounds_is_not_given_away_in_the_next_one() -> None:
    server = one_at_a_time(kept=0.02)
    first, second = Turn(server, place(1)), Turn(server, place(2))
    await settle()
    await first.ends_request()
    await first.goes_on()
    await asyncio.sleep(0.06)
    assert not second.streaming
    await first.ends()
    await settle()
    await second.ends()


async def test_a_slow_tool_lets_others_in_and_its_turn_then_goes_first() -> None:
    """Were it to queue up anew, a busy endpoint could put a turn off for ever."""
    server = one_at_a_time(kept=0.01)
    first, *others = (Turn(server, place(guild)) for guild in (1, 2, 3, 4))
    await settle()
    await first.ends_request()
    await asyncio.sleep(0.05)
    assert [turn.streaming for turn in others] == [True, False, False]
    await first.goes_on()
    assert first.positions == [1]
    assert [turn.positions for turn in others] == [[1, 0], [2, 1, 2], [3, 2, 3]]
    await others[0].ends()
    await settle()
    assert first.streaming
    assert first.positions == [1, 0]
    assert not others[1].streaming
    await first.ends()
    for turn in others[1:]:
        await settle()
        await turn.ends()


async def test_turns_that_come_back_cannot_keep_new_ones_out_for_ever() -> None:
    server = one_at_a_time(kept=0.0)
    busy = [Turn(server, place(guild)) for guild in (1, 2)]
    fresh = Turn(server, place(3))
    await settle()
    rounds = 0
    while not fresh.streaming:
        turn = next(turn for turn in busy if turn.streaming)
        rounds += 1
        if rounds % 8:
            await turn.ends_request()
            await asyncio.sleep(0.001)
            await turn.goes_on()
        else:  # a turn has eight rounds at most
            await turn.ends()
        await settle()
    assert rounds <= 16
    await fresh.ends()
    for turn in busy:
        if not turn.task.done():
            await settle()
            await turn.ends()


async def test_direct_messages_share_like_one_guild() -> None:
    server = one_at_a_time()
    first = Turn(server, place(1))
    direct = [Turn(server, Place(guild_id=None, channel_id=channel)) for channel in (91, 92)]
    guild = Turn(server, place(2))
    await settle()
    assert [turn.positions[-1] for turn in (*direct, guild)] == [1, 3, 2]
    for turn in (first, direct[0], guild, direct[1]):
        await settle()
        await turn.ends()


async def test_a_guilds_number_counts_for_its_own_turns() -> None:
    server = one_at_a_time()
    pair = Parallelism(most=2, raises=True)
    turns = [
        Turn(server, place(1)),
        Turn(server, place(2, 20), pair),
        Turn(server, place(2, 21), pair),
    ]
    await settle()
    assert [turn.streaming for turn in turns] == [True, True, False]
    for turn in turns:
        await settle()
        await turn.ends()


async def test_a_number_that_does_not_raise_is_bound_by_the_endpoint() -> None:
    server = Server(Scheduler(assumed=2))
    many, one = Parallelism(most=9), Parallelism(most=1)
    turns = [Turn(server, place(guild), many) for guild in (1, 2, 3)]
    await settle()
    assert [turn.streaming for turn in turns] == [True, True, False]
    for turn in turns:
        await turn.ends()
        await settle()
    turns = [Turn(server, place(guild), one) for guild in (1, 2)]
    await settle()
    assert [turn.streaming for turn in turns] == [True, False]
    for turn in turns:
        await turn.ends()
        await settle()


# What the server tells.


async def test_a_server_that_tells_its_slots_is_asked_once() -> None:
    asked = 0

    async def ask() -> int | None:
        nonlocal asked
        asked += 1
        return 3

    server = one_at_a_time(ask=ask)
    turns = [Turn(server, place(guild)) for guild in (1, 2, 3, 4)]
    await settle()
    assert [turn.streaming for turn in turns] == [True, True, True, False]
    for turn in turns:
        await turn.ends()
        await settle()
    assert asked == 1


async def test_asking_delays_no_turn_and_ends_with_it() -> None:
    cancelled = 0

    async def ask() -> int | None:
        nonlocal cancelled
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled += 1
            raise
        return None

    server = one_at_a_time(ask=ask)
    for number in (1, 2):
        turn = Turn(server, place(1))
        await settle()
        assert turn.streaming
        await turn.ends()
        await settle()
        assert cancelled == number


async def test_a_turn_that_ends_before_it_could_ask_leaves_that_to_the_next() -> None:
    asked: list[str] = []

    async def ask() -> int | None:
        asked.append("slots")
        return 2

    server = one_at_a_time(ask=ask)
    async with server.scheduler.turn(place(1), AUTO, ask=ask, moved=list[int]().append):
        pass  # nothing is awaited: the task that asks has not begun
    turn = Turn(server, place(1))
    await settle()
    await turn.ends()
    assert asked == ["slots"]


async def test_a_server_that_did_not_answer_is_asked_again_later() -> None:
    answers: list[int | EndpointError] = [Unavailable("Not there.", remedy="Start it."), 2, 5]

    async def ask() -> int | None:
        answer = answers.pop(0)
        if isinstance(answer, EndpointError):
            raise answer
        return answer

    server = one_at_a_time(ask=ask)
    for left in (2, 1, 1):
        turn = Turn(server, place(1))
        await settle()
        await turn.ends()
        assert len(answers) == left
    turn = Turn(server, place(1))
    await settle()
    await turn.breaks(Unavailable("Gone.", remedy="Start it."))
    turn = Turn(server, place(1))
    await settle()
    await turn.ends()
    assert answers == []


async def test_who_sets_a_number_and_no_hint_asks_nothing() -> None:
    asked: list[str] = []

    async def ask() -> int | None:
        asked.append("slots")
        return None

    turn = Turn(one_at_a_time(ask=ask), place(1), Parallelism(most=1))
    await settle()
    await turn.ends()
    assert asked == []


HINTED = Parallelism(most=4, raises=True, slot_hint=True)


async def two_slots() -> int | None:
    return 2


async def learnt(server: Server) -> None:
    """One turn, beside which the server was asked."""
    turn = Turn(server, place(99), HINTED)
    await settle()
    await turn.ends()
    assert turn.slots == [None]


async def test_a_channel_keeps_its_slot() -> None:
    server = one_at_a_time(ask=two_slots)
    await learnt(server)
    seen: list[int | None] = []
    for channel in (10, 12, 10, 14, 12, 10):
        turn = Turn(server, place(1, channel), HINTED)
        await settle()
        await turn.ends_request()
        await turn.goes_on()
        await turn.ends()
        assert len(set(turn.slots)) == 1
        seen += turn.slots[:1]
    assert seen == [0, 1, 0, 0, 1, 0]


async def test_a_slot_in_use_is_not_asked_for() -> None:
    """The server would let the request wait for that very slot, beside free ones."""
    server = one_at_a_time(ask=two_slots)
    await learnt(server)
    first, second, third = (Turn(server, place(1, channel), HINTED) for channel in (10, 11, 12))
    await settle()
    assert (first.slots, second.slots, third.slots) == ([0], [1], [None])
    await first.ends()
    await third.ends_request()
    await third.goes_on()
    assert third.slots == [None, 0]
    await second.ends()
    await third.ends()


async def test_without_the_switch_no_slot_is_asked_for() -> None:
    server = one_at_a_time(ask=two_slots)
    for _ in range(2):
        turn = Turn(server, place(1))
        await settle()
        await turn.ends()
        assert turn.slots == [None]


async def test_after_an_outage_slots_are_learnt_anew() -> None:
    server = one_at_a_time(ask=two_slots)
    await learnt(server)
    turn = Turn(server, place(1), HINTED)
    await settle()
    await turn.breaks(Unavailable("Gone.", remedy="Start it."))
    assert turn.slots == [0]
    await learnt(server)


async def test_channels_without_end_keep_no_more_slots_than_are_bound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(scheduler, "MOST_HOMES", 3)
    server = one_at_a_time(ask=two_slots)
    await learnt(server)
    seen: list[int | None] = []
    for channel in (10, 11, 12, 10, 13, 14, 10, 11):
        turn = Turn(server, place(1, channel), HINTED)
        await settle()
        await turn.ends()
        seen += turn.slots
    # 10 spoke in between and keeps its slot; 11 is forgotten and gets the next one.
    assert seen == [0, 1, 0, 0, 1, 0, 0, 1]


async def test_schedulers_that_nobody_uses_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduler, "MOST_IDLE", 3)
    house = Schedulers()
    urls = [f"https://{number}.example/v1" for number in range(8)]
    busy, resting = house.of(urls[0]), house.of(urls[1])
    turn = Turn(Server(busy), place(1))
    await settle()
    for _ in range(20):
        if resting.breaker.resting is None:
            with pytest.raises(Unavailable), resting.breaker.request():
                raise Unavailable("Gone.", remedy="Start it.")
    idle = house.of(urls[2])
    for url in urls[3:]:
        house.of(url)
    assert house.of(urls[0]) is busy
    assert house.of(urls[1]) is resting
    assert house.of(urls[2]) is not idle
    await turn.ends()


@pytest.mark.parametrize(
    ("endpoint", "slots"),
    [
        ("http://127.0.0.1:8080/v1", 1),
        ("http://[::1]:8080/v1", 1),
        ("http://192.168.1.20:11434/v1", 1),
        ("http://100.100.1.1/v1", 1),
        ("http://localhost:8080/v1", 1),
        ("http://ollama:11434/v1", 1),
        ("http://nas.local/v1", 1),
        ("http://host.docker.internal:1234/v1", 1),
        ("https://api.example.com/v1", 4),
        ("https://8.8.8.8/v1", 4),
        ("http://local.example/v1", 4),
    ],
)
def test_what_is_assumed_of_an_address(endpoint: str, slots: int) -> None:
    assert assumed_slots(endpoint) == slots
