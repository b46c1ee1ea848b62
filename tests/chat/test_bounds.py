"""What one answer may ask for, and that no request is larger than its budget for it."""

import asyncio
from itertools import pairwise

import pytest

from chat.bounds import (
    MOST_CALLS,
    MOST_ERRORS,
    MOST_HELD,
    NO_ROOM_FOR_CALL,
)
from chat.toolwork import MOST_CALLS as MOST_IN_TURN
from chat.toolwork import MOST_TIMEOUTS, READS_AT_ONCE
from chat.turn import LAST_ROUND, NO_ROOM
from data.store import Store
from prompt.values import Outcome
from tests.chat.house import House
from tests.chat.scripted import Recorder, Step, call, say, soon, think, wrong
from tools.registry import Registry, Tool, ToolContext, tool


class Desk:
    """Tools that count who is at work, and one that never answers."""

    def __init__(self) -> None:
        self.ran: list[str] = []
        self.live = self.most_live = 0
        self.full = asyncio.Event()
        """Set once as many are at work as may be."""
        self.waits = False

    def registry(self) -> Registry:
        @tool(read_only=True)
        async def look(context: ToolContext, *, at: str, size: int = 10) -> str:
            """Look."""
            self.ran.append(at)
            self.live += 1
            self.most_live = max(self.most_live, self.live)
            if self.live == READS_AT_ONCE:
                self.full.set()
            if self.waits:
                await self.full.wait()
            self.live -= 1
            return "x" * size

        @tool()
        async def hang(context: ToolContext, *, at: str) -> str:
            """Hang."""
            self.ran.append(at)
            await asyncio.Event().wait()
            return ""

        return Registry(look, hang)


@pytest.fixture
def desk() -> Desk:
    return Desk()


def house_of(store: Store, desk: Desk, window: int | None = None) -> House:
    return House(store, registry=desk.registry(), window=window)


def outcomes(shown: Recorder) -> list[Outcome | None]:
    return [run.result.outcome if run.result else None for run in shown.reply.runs]


def looks(count: int, size: int = 10) -> Step:
    return [call("look", at=str(number), size=size) for number in range(count)]


@pytest.mark.parametrize("count", [MOST_CALLS + 1, 600])
async def test_of_very_many_calls_the_first_run_and_the_rest_is_told(
    store: Store, desk: Desk, count: int
) -> None:
    house = house_of(store, desk)
    shown = await house.ask("Look!", looks(count), [say("Seen.")])
    assert sorted(desk.ran) == sorted(str(number) for number in range(MOST_CALLS))
    assert len(shown.reply.runs) == MOST_CALLS
    second = house.requests[1]
    assert f"You made {count} calls at once. Only the first {MOST_CALLS} ran" in second.last
    assert (len(second.words) < 10_000, second.prompt.room >= 0) == (True, True)
    stored = await house.stored(shown)
    assert sum(len(turn.parts) for turn in stored) == 2 * MOST_CALLS + 1
    house.model.check()


async def test_as_many_as_may_run_all_run(store: Store, desk: Desk) -> None:
    house = house_of(store, desk)
    await house.ask("Look!", looks(MOST_CALLS), [say("Seen.")])
    assert len(desk.ran) == MOST_CALLS
    assert "at once" not in house.requests[1].last


async def test_calls_of_the_last_round_are_bounded_too(store: Store, desk: Desk) -> None:
    house = house_of(store, desk)
    rounds: list[Step] = [[call("look", at=f"round {n}")] for n in range(7)]
    shown = await house.ask("Look!", *rounds, looks(600))
    parts = [part for turn in await house.stored(shown) for part in turn.parts]
    assert len(parts) < 2 * (7 + MOST_CALLS) + 2


async def test_only_some_calls_read_at_once(store: Store, desk: Desk) -> None:
    house = house_of(store, desk)
    desk.waits = True
    await soon(house.ask("Look!", looks(MOST_CALLS), [say("Seen.")]))
    assert (len(desk.ran), desk.most_live) == (MOST_CALLS, READS_AT_ONCE)


async def test_a_turn_ends_its_calls_after_so_many(store: Store, desk: Desk) -> None:
    house = house_of(store, desk, window=30_000)
    full = MOST_IN_TURN // MOST_CALLS
    rounds: list[Step] = [
        [call("look", at=f"{number} {place}") for place in range(MOST_CALLS)]
        for number in range(full)
    ]
    shown = await house.ask("Look!", *rounds, [say("Enough.")])
    assert len(desk.ran) == MOST_IN_TURN
    assert [LAST_ROUND in request.last for request in house.requests] == [False] * full + [True]
    assert shown.reply.text == "Enough."


async def test_calls_beyond_the_limit_of_a_turn_are_refused_in_words(
    store: Store, desk: Desk
) -> None:
    house = house_of(store, desk, window=30_000)
    rounds: list[Step] = [[call("look", at="first")]]
    rounds += [
        [call("look", at=f"{number} {place}") for place in range(MOST_CALLS)]
        for number in range(MOST_IN_TURN // MOST_CALLS)
    ]
    shown = await house.ask("Look!", *rounds, [say("Enough.")])
    assert outcomes(shown) == ["ok"] * MOST_IN_TURN + ["denied"]
    assert '"error":"calls_ended"' in house.requests[-1].last


async def test_a_tool_that_does_not_answer_is_not_waited_for_again_and_again(
    store: Store, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chat.toolwork.CALL_TIMEOUT", 0.01)
    house = house_of(store, desk)
    calls = [*(call("hang", at=str(n)) for n in range(5)), call("look", at="there")]
    shown = await house.ask("Go!", calls, [say("It is slow.")])
    waited: list[Outcome] = ["timeout"] * MOST_TIMEOUTS
    assert outcomes(shown) == [*waited, "denied", "denied", "denied", "ok"]
    assert desk.ran == ["0", "1", "there"]
    assert '"error":"no_answer"' in house.requests[1].last


WORDS = "word " * 40


@pytest.mark.parametrize("window", [2200, 2600, 3500, 6000])
@pytest.mark.parametrize(
    "step",
    [
        looks(1, 50_000),
        looks(3, 5_000),
        looks(MOST_CALLS, 700),
        [say(WORDS), think(WORDS), *looks(2, 2_000)],
        [call("look", at="far " * 60), call("look", at="near", size=9_000)],
        [wrong("invalid_arguments", "x" * 9_000, name="look", message="wrong " * 900)] * 9,
        [wrong("unknown_tool", "x", name="look" * 900), *looks(4, 3_000)],
    ],
    ids=["one", "three", "many", "thinking", "long", "failed", "both"],
)
async def test_no_request_is_larger_than_its_budget(
    store: Store, desk: Desk, window: int, step: Step
) -> None:
    house = house_of(store, desk, window)
    more: list[Step] = [[call("look", at=f"round {n}", size=3_000)] for n in range(6)]
    try:
        await house.ask("Look!", step, *more, [say("Seen.")])
    finally:
        house.model.problems.clear()
    assert len(house.requests) > 1
    assert all(request.prompt.room >= 0 for request in house.requests)
    assert all(
        later.prompt.room < earlier.prompt.room for earlier, later in pairwise(house.requests)
    )


async def test_a_call_without_room_does_not_run_and_is_not_repeated_whole(
    store: Store, desk: Desk
) -> None:
    house = house_of(store, desk)
    shown = await house.ask("Look!", [call("look", at="x" * 160_000)], [say("Too much.")])
    assert desk.ran == []
    second = house.requests[1]
    assert NO_ROOM_FOR_CALL in second.last
    assert (second.prompt.room >= 0, len(second.words) < 10_000) == (True, True)
    assert shown.reply.text == "Too much."
    assert "x" * 200 not in str(await house.stored(shown))


async def test_a_call_that_waits_for_a_value_is_bounded_too(store: Store, desk: Desk) -> None:
    house = house_of(store, desk)
    large = call("look", at="x" * 160_000, size="?")
    shown = await house.ask("Look!", [large], [say("Too much.")])
    second = house.requests[1]
    assert NO_ROOM_FOR_CALL in second.last
    assert (second.prompt.room >= 0, len(second.words) < 10_000) == (True, True)
    waiting: Step = [call("look", at=str(number), size="?") for number in range(50)]
    await house.ask("Look!", waiting, [say("Fine.")])
    assert house.requests[3].last.count("look") <= MOST_HELD
    assert house.requests[3].prompt.room >= 0
    assert (desk.ran, shown.reply.text) == ([], "Too much.")


async def test_calls_that_wait_beyond_the_bound_are_told_of_and_run_no_earlier(
    store: Store, desk: Desk
) -> None:
    house = house_of(store, desk)
    waiting: Step = [call("look", at=str(number), size="?") for number in range(MOST_HELD + 2)]
    again: Step = [call("look", at=str(MOST_HELD + 1), size="?")]
    await house.ask("Look!", waiting, again, [say("Fine.")])
    assert "2 more of your calls wait too." in house.requests[1].last
    assert "waits for size" in house.requests[2].last
    assert desk.ran == []


@pytest.mark.parametrize("window", [2600, 3400])
@pytest.mark.parametrize("asked", ["look at it " * 40, "查看这个东西" * 60])
async def test_reminders_of_calls_that_wait_keep_to_the_budget(
    store: Store, desk: Desk, window: int, asked: str
) -> None:
    async def move(context: ToolContext, *, thing_id: int) -> str:
        """Move."""
        return "moved"

    others: list[Tool] = []
    for number in range(MOST_HELD):
        move.__name__ = f"move_{number}"
        others.append(tool()(move))
    registry = Registry(*desk.registry(), *others)
    house = House(store, registry=registry, window=window)
    waiting: Step = [call(other.spec.name, thing_id=4711) for other in others]
    shown = await house.ask(asked, waiting, looks(1, 50_000), looks(1), [say("Seen.")])
    assert all(request.prompt.room >= 0 for request in house.requests)
    assert (shown.reply.text, shown.reply.notices) == ("Seen.", [])
    house.model.check()


async def test_calls_run_as_far_as_there_is_room(store: Store, desk: Desk) -> None:
    house = house_of(store, desk, window=2600)
    await house.ask("Look!", looks(MOST_CALLS, 700), [say("Seen.")])
    first, second = house.requests
    assert 0 < len(desk.ran) < MOST_CALLS
    assert f"Only the first {len(desk.ran)} ran" in second.last
    assert first.prompt.room > second.prompt.room >= 0


async def test_where_nothing_fits_any_more_the_turn_ends_before_the_request(
    store: Store, desk: Desk
) -> None:
    house = house_of(store, desk, window=3000)
    shown = await house.ask("Look!", [say("word " * 3000), call("look", at="there")])
    assert len(house.requests) == 1
    assert (shown.reply.notices, shown.reply.state) == ([NO_ROOM], "done")
    house.model.check()


async def test_of_many_failed_calls_the_first_are_told(store: Store, desk: Desk) -> None:
    house = house_of(store, desk)
    failed = wrong("malformed", "<tool_call>?</tool_call>")
    await house.ask("Look!", [failed] * 50, [say("Sorry.")])
    told = house.requests[1].last
    assert told.count('"error":"malformed"') == MOST_ERRORS
    assert f"{50 - MOST_ERRORS} more of your calls could not be understood." in told


async def test_in_a_full_prompt_fewer_failed_calls_are_told_and_the_model_still_answers(
    store: Store, desk: Desk
) -> None:
    house = house_of(store, desk, window=2600)
    failed = wrong("malformed", "<tool_call>?</tool_call>", message="wrong " * 90)
    shown = await house.ask("Look!", looks(1, 50_000), [failed] * MOST_ERRORS, [say("Sorry.")])
    told = house.requests[2].last
    assert 0 < told.count('"error":"malformed"') < MOST_ERRORS
    assert "more of your calls could not be understood." in told
    assert house.requests[2].prompt.room >= 0
    assert (shown.reply.text, shown.reply.notices) == ("Sorry.", [])
