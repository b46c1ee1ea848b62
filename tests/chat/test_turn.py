import re

import pytest

from chat.bounds import LEFT_BY_RESULTS
from chat.ending import CUT_BY_FILTER, CUT_BY_LENGTH, INCOMPLETE
from chat.turn import (
    ANSWER_NUDGE,
    CALL_FAILED,
    LAST_ROUND,
    MAX_ROUNDS,
    NO_ANSWER,
    TOO_MANY_ROUNDS,
)
from data.store import Store
from prompt.events import AFTER_CALLS, CallErrorCode, Dropped, Finished, Reclassified
from prompt.values import TextPart, ToolCall, ToolResult, Turn
from providers.base import EndpointError, Unavailable
from tests.chat.house import House
from tests.chat.scripted import Recorder, Step, call, end, say, think, wrong
from tools.builtin import builtin_registry
from tools.registry import Registry, ToolContext, tool

ROLL = call("roll_dice", dice="1d6")
TIME = call("current_time", timezone="UTC")
RAW = "<tool_call>nonsense</tool_call>"


def results(turns: tuple[Turn, ...]) -> list[ToolResult]:
    return [part for turn in turns for part in turn.parts if isinstance(part, ToolResult)]


def calls(turns: tuple[Turn, ...]) -> list[ToolCall]:
    return [part for turn in turns for part in turn.parts if isinstance(part, ToolCall)]


def words(text: str) -> Turn:
    return Turn(role="assistant", parts=(TextPart(text=text),))


def down() -> EndpointError:
    return Unavailable("The model is not reachable.", remedy="Start the server.", detail="refused")


async def test_an_answer_in_words(house: House) -> None:
    shown = await house.ask("Hello!", [say("Hel"), say("lo.")])
    assert (shown.reply.text, shown.reply.state, shown.reply.notices) == ("Hello.", "done", [])
    assert [seen.text for seen in shown.seen] == ["", "", "Hel", "Hello.", "Hello."]
    assert shown.states == ["thinking", "writing", "done"]
    assert await house.stored(shown) == (words("Hello."),)


async def test_what_a_request_asks_for(house: House) -> None:
    await house.ask("Hello!", [say("Hi.")])
    (request,) = house.requests
    assert request.options.turn_id == str(house.channel.messages[0].id)
    assert (request.options.round, request.options.max_tokens) == (1, 200)
    assert request.options.temperature == 0.5
    assert "Hello!\n[from Ada]" in request.last
    assert "4 May 2026, 12:30 UTC]" in request.last


async def test_a_call_runs_and_the_model_goes_on_with_its_result(house: House) -> None:
    shown = await house.ask("Roll!", [say("Let me roll."), ROLL], [say("There you go.")])
    assert shown.reply.text == "Let me roll.\n\nThere you go."
    assert shown.states == ["thinking", "writing", "tool", "thinking", "writing", "done"]
    (run,) = shown.reply.runs
    assert run.result is not None
    assert run.result.outcome == "ok"
    assert any(seen.running == ("roll_dice",) for seen in shown.seen)
    first, second = house.requests
    assert second.messages[: len(first.messages)] == first.messages
    assert [m["content"] for m in second.messages[-2:]] == [
        'Let me roll.\n`roll_dice({"dice": "1d6"})`',
        f"[tool result] roll_dice: {run.result.text}",
    ]
    assert (second.options.turn_id, second.options.round) == (first.options.turn_id, 2)
    stored = await house.stored(shown)
    assert [turn.role for turn in stored] == ["assistant", "tool", "assistant"]
    assert results(stored) == [run.result]
    assert [made.id for made in calls(stored)] == [run.result.call_id]


async def test_several_rounds_and_several_calls(house: House) -> None:
    shown = await house.ask("Both!", [ROLL, TIME], [call("recall")], [say("Done.")])
    assert [run.call.name for run in shown.reply.runs] == ["roll_dice", "current_time", "recall"]
    stored = await house.stored(shown)
    assert [turn.role for turn in stored] == ["assistant", "tool", "assistant", "tool", "assistant"]
    assert [result.call_id for result in results(stored)] == [made.id for made in calls(stored)]
    assert len({made.id for made in calls(stored)}) == 3


async def test_identical_calls_of_one_message_run_once_and_both_are_answered(house: House) -> None:
    again = call("remember", fact="I like tea.")
    shown = await house.ask("Remember!", [again, ROLL, again], [say("Done.")])
    assert [run.call.name for run in shown.reply.runs] == ["remember", "roll_dice"]
    first, _, second = results(await house.stored(shown))
    assert first.text == second.text == "Remembered as fact 1: I like tea."
    assert first.call_id != second.call_id
    assert house.requests[1].last.count("Remembered as fact 1") == 2


async def test_the_same_call_runs_twice_in_a_turn_and_is_then_refused(house: House) -> None:
    other = call("roll_dice", dice="2d6")
    shown = await house.ask("Roll!", [ROLL], [ROLL], [ROLL, other], [say("Done.")])
    outcomes = [result.outcome for result in results(await house.stored(shown))]
    assert outcomes == ["ok", "ok", "denied", "ok"]
    assert '"error":"repeat_limit"' in house.requests[3].last


@pytest.mark.parametrize("code", ["unknown_tool", "malformed", "invalid_arguments", "truncated"])
async def test_a_failed_call_is_told_with_what_was_written(
    house: House, code: CallErrorCode
) -> None:
    failed = wrong(code, RAW, name="rol_dice", message="No tool has this name.")
    shown = await house.ask("Roll!", [say("Rolling."), failed], [ROLL], [say("A four.")])
    assert shown.reply.text == "Rolling.\n\nA four."
    assert shown.reply.notices == []
    wrote, told = house.requests[1].messages[-2:]
    assert (wrote["role"], wrote["content"]) == ("assistant", f"Rolling.\n{RAW}")
    assert told["content"] == (
        f'[tool result] rol_dice: {{"error":"{code}","tool":"rol_dice",'
        '"message":"No tool has this name."}'
    )
    assert RAW not in shown.ever_shown
    stored = await house.stored(shown)
    assert [turn.role for turn in stored] == ["assistant", "assistant", "tool", "assistant"]
    assert all(
        RAW not in part.text for turn in stored for part in turn.parts if isinstance(part, TextPart)
    )


async def test_after_two_tries_the_turn_ends_in_one_line(house: House) -> None:
    failed = wrong("malformed", RAW)
    shown = await house.ask("Roll!", [failed], [failed], [failed])
    assert (shown.reply.text, shown.reply.notices) == ("", [CALL_FAILED])
    assert shown.reply.state == "failed"
    assert "tool_call" not in shown.ever_shown
    assert await house.stored(shown) == ()


async def test_words_beside_failing_calls_stay(house: House) -> None:
    failed = wrong("malformed", RAW)
    shown = await house.ask("Roll!", [say("I try."), failed], [failed], [failed])
    assert (shown.reply.text, shown.reply.notices) == ("I try.", [CALL_FAILED])
    assert shown.reply.state == "done"


async def test_a_third_failure_beside_a_good_call_is_not_told(house: House) -> None:
    failed = wrong("malformed", RAW)
    await house.ask("Roll!", [failed], [failed], [failed, ROLL], [failed, TIME], [say("Done.")])
    told = [request.words.count('"error":"malformed"') for request in house.requests]
    assert told == [0, 1, 2, 2, 2]
    assert "[tool result] roll_dice:" in house.requests[3].last


@pytest.mark.parametrize("raw", ["", '{"sides": '])
async def test_a_failed_native_call_is_told_as_the_call_that_it_was(house: House, raw: str) -> None:
    failed = wrong("invalid_arguments", raw, name="roll_dice", native=True)
    await house.ask("Roll!", [failed], [say("Sorry.")])
    wrote, _ = house.requests[1].messages[-2:]
    assert (wrote["role"], wrote["content"]) == ("assistant", f"`roll_dice({raw})`")


@pytest.mark.parametrize("native", [True, False], ids=["native", "text"])
async def test_a_failed_call_is_not_repeated_whole(house: House, native: bool) -> None:
    raw = '{"dice": "' + "1d6+" * 40_000
    await house.ask(
        "Roll!", [wrong("truncated", raw, name="roll" * 900, native=native)], [say("No.")]
    )
    wrote, told = (message["content"] for message in house.requests[1].messages[-2:])
    assert raw[:100] in wrote
    assert len(wrote) < 600
    assert len(told) < 400


async def test_good_calls_run_beside_failed_ones(house: House) -> None:
    shown = await house.ask("Roll!", [ROLL, wrong("malformed", RAW)], [say("Done.")])
    assert [result.outcome for result in results(await house.stored(shown))] == ["ok"]
    told = house.requests[1].last
    assert told.index("[tool result] roll_dice") < told.index('"error":"malformed"')


async def test_the_last_round_says_so_and_runs_nothing(house: House) -> None:
    rounds: list[Step] = [[call("roll_dice", dice=f"{n}d6")] for n in range(1, MAX_ROUNDS + 1)]
    shown = await house.ask("Roll!", *rounds)
    assert len(house.requests) == MAX_ROUNDS == 8
    assert [request.last.count(LAST_ROUND) for request in house.requests] == [0] * 7 + [1]
    assert house.requests[-1].last.endswith(LAST_ROUND)
    assert len(shown.reply.runs) == MAX_ROUNDS - 1
    outcomes = [result.outcome for result in results(await house.stored(shown))]
    assert outcomes == ["ok"] * 7 + ["denied"]
    assert '"error":"round_limit"' in results(await house.stored(shown))[-1].text
    assert (shown.reply.notices, shown.reply.state) == ([TOO_MANY_ROUNDS], "failed")


async def test_the_last_round_keeps_array_and_block(house: House) -> None:
    rounds: list[Step] = [[call("roll_dice", dice=f"{n}d6")] for n in range(1, MAX_ROUNDS)]
    shown = await house.ask("Roll!", *rounds, [say("Enough.")])
    assert (shown.reply.text, shown.reply.notices) == ("Enough.", [])
    first, *others = house.requests
    assert first.body["tools"]
    assert all(other.body["tools"] == first.body["tools"] for other in others)


async def test_an_empty_last_round_ends_in_a_line(house: House) -> None:
    rounds: list[Step] = [[call("roll_dice", dice=f"{n}d6")] for n in range(1, MAX_ROUNDS)]
    shown = await house.ask("Roll!", *rounds, [think("Hm.")])
    assert (shown.reply.text, shown.reply.notices) == ("", [NO_ANSWER])
    assert shown.reply.state == "failed"


@pytest.mark.parametrize("empty", [[], [say(" \n")], [think("The answer is 4.")]])
async def test_an_empty_answer_is_asked_for_once_more(house: House, empty: Step) -> None:
    shown = await house.ask("Hello!", empty, [say("Hello.")])
    assert (shown.reply.text, shown.reply.notices) == ("Hello.", [])
    assert house.requests[1].last.endswith(ANSWER_NUDGE)
    assert await house.stored(shown) == (words("Hello."),)


async def test_a_second_empty_answer_ends_in_an_honest_line(house: House) -> None:
    shown = await house.ask("Hello!", [think("The answer is 4.")], [])
    assert (shown.reply.text, shown.reply.notices) == ("", [NO_ANSWER])
    assert shown.reply.state == "failed"
    assert "The answer is 4" not in shown.ever_shown


async def test_silence_after_a_tool_is_told_although_there_were_words_before(house: House) -> None:
    shown = await house.ask("Roll!", [say("Let me roll."), ROLL], [], [])
    assert (shown.reply.text, shown.reply.notices) == ("Let me roll.", [NO_ANSWER])


async def test_reasoning_is_never_shown(house: House) -> None:
    shown = await house.ask("Hi", [think("secret plan"), say("Hello.")])
    assert shown.reply.text == "Hello."
    assert "secret" not in shown.ever_shown
    assert not any("secret" in str(turn) for turn in await house.stored(shown))


async def test_text_that_was_reasoning_is_taken_back(house: House) -> None:
    shown = await house.ask(
        "Hi",
        [
            say("Let me ", 0),
            say("think.", 7),
            Reclassified(text="Let me think.", span=(0, 13)),
            say("Hello.", 21),
        ],
    )
    assert [seen.text for seen in shown.seen if seen.text] == [
        "Let me",
        "Let me think.",
        "Hello.",
        "Hello.",
    ]
    assert await house.stored(shown) == (words("Hello."),)


@pytest.mark.parametrize(
    ("finished", "notice"),
    [
        (end("length"), CUT_BY_LENGTH),
        (end("content_filter"), CUT_BY_FILTER),
        (end("error"), INCOMPLETE),
        (Finished(reason=None, marked=False), INCOMPLETE),
    ],
    ids=["length", "filter", "error", "unmarked"],
)
async def test_an_answer_that_breaks_off_is_marked(
    house: House, finished: Finished, notice: str
) -> None:
    shown = await house.ask("Tell me", [say("Once upon"), finished])
    assert (shown.reply.text, shown.reply.notices) == ("Once upon", [notice])
    assert (shown.reply.state, shown.reply.is_cut) == ("done", True)
    assert await house.stored(shown) == (words("Once upon […]"),)


@pytest.mark.parametrize("finished", [end("stop"), end(None)], ids=["stop", "[DONE] alone"])
async def test_an_answer_with_an_end_is_whole(house: House, finished: Finished) -> None:
    shown = await house.ask("Tell me", [say("The end."), finished])
    assert (shown.reply.notices, shown.reply.is_cut) == ([], False)
    assert await house.stored(shown) == (words("The end."),)


async def test_words_before_a_tool_are_not_marked_for_what_follows(house: House) -> None:
    shown = await house.ask("Roll!", [say("I roll."), ROLL], [say("A fo"), end("error")])
    said = [turn for turn in await house.stored(shown) if turn.role == "assistant"]
    assert [turn.text.split("\n")[0] for turn in said] == ["I roll.", "A fo […]"]


async def test_generation_is_cut_after_the_calls(house: House) -> None:
    async def never() -> None:
        raise AssertionError("the stream was read on")

    made_up = Dropped(span=(20, 40), why=AFTER_CALLS)
    shown = await house.ask("Roll!", [ROLL, made_up, never], [say("A four.")])
    assert shown.reply.text == "A four."


async def test_an_endpoint_that_fails_at_once(house: House) -> None:
    shown = await house.ask("Hi", [down()])
    assert (shown.reply.text, shown.reply.state) == ("", "failed")
    assert shown.reply.notices == ["The model is not reachable."]
    assert shown.reply.remedy == "Start the server."
    assert "refused" not in shown.ever_shown
    assert await house.stored(shown) == ()


async def test_words_before_a_failure_are_kept_and_marked(house: House) -> None:
    shown = await house.ask("Hi", [say("Hello, I"), down()])
    assert (shown.reply.text, shown.reply.state) == ("Hello, I", "done")
    assert shown.reply.notices == ["The model is not reachable.", INCOMPLETE]
    assert await house.stored(shown) == (words("Hello, I […]"),)


async def test_a_failure_after_a_tool_keeps_what_was_done(house: House) -> None:
    shown = await house.ask("Roll!", [ROLL], [down()])
    assert shown.reply.state == "failed"
    stored = await house.stored(shown)
    assert [turn.role for turn in stored] == ["assistant", "tool", "assistant"]
    assert stored[-1] == words("[…]")


async def test_calls_of_a_stream_that_failed_do_not_run(house: House) -> None:
    shown = await house.ask("Roll!", [say("I roll."), call("remember", fact="x"), down()])
    assert shown.reply.runs == []
    assert not await house.store.facts.recall(7, 10, None)


async def test_no_line_is_shown_twice(house: House) -> None:
    failed = wrong("malformed", RAW)
    endings: list[list[Step]] = [
        [[say("a"), down()]],
        [[], []],
        [[failed], [failed], [failed]],
        [[say("b"), end("length")]],
    ]
    for steps in endings:
        shown = await house.ask("Hi", *steps)
        assert len(set(shown.reply.notices)) == len(shown.reply.notices) > 0


@tool(read_only=True)
async def read_page(context: ToolContext, *, letter: str) -> str:
    """Read a page."""
    return letter * 7000


PAGE_TOKENS = 2004


async def test_results_keep_to_the_room_that_is_left(store: Store) -> None:
    house = House(store, registry=Registry(read_page), window=4500)
    pages = [call("read_page", letter=letter) for letter in "ab"]
    shown = await house.ask("Read!", pages, [say("Done.")])
    first, second = house.requests
    assert 2 * PAGE_TOKENS > first.prompt.report.room > PAGE_TOKENS
    assert 0 <= second.prompt.room <= LEFT_BY_RESULTS + 50
    assert LAST_ROUND not in second.last
    told = results(await house.stored(shown))
    assert abs(len(told[0].text) - len(told[1].text)) < 100
    assert all("\n[cut for lack of room: " in result.text for result in told)
    assert all(result.text in second.last for result in told)
    house.model.check()


async def test_a_small_result_leaves_its_share_to_the_others(store: Store) -> None:
    house = House(store, registry=Registry(read_page, *builtin_registry()), window=4500)
    shown = await house.ask(
        "Read!", [call("recall"), call("read_page", letter="a")], [say("Done.")]
    )
    assert results(await house.stored(shown))[1].text == "a" * 7000
    house.model.check()


async def test_the_turn_closes_when_its_room_is_used_up(store: Store) -> None:
    house = House(store, registry=Registry(read_page), window=3000)
    rounds: list[Step] = [[call("read_page", letter=letter)] for letter in "abc"]
    shown = await house.ask("Read!", *rounds)
    closing = [LAST_ROUND in request.last for request in house.requests]
    assert closing == [False, False, True]
    assert [result.outcome for result in results(await house.stored(shown))] == ["ok", "ok"]
    assert all(request.prompt.room >= 0 for request in house.requests)
    assert shown.reply.notices == [TOO_MANY_ROUNDS]
    house.model.check()


def raw_markup(shown: Recorder) -> list[str]:
    return re.findall(r"`\w+\(|tool_call|\{\"", shown.ever_shown)


async def test_a_bug_of_ours_ends_in_a_line_too(
    house: House, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(*_: object, **__: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr("chat.toolwork.run_call", broken)
    shown = await house.ask("Roll!", [say("Let me roll."), ROLL])
    assert shown.reply.text == "Let me roll."
    assert shown.reply.notices == ["Something went wrong inside the bot; its log tells what."]
    assert not raw_markup(shown)
    assert "a bug" in caplog.text
