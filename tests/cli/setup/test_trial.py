"""What a test turn is said to have shown."""

from dataclasses import replace

import pytest

from chat.overview import Overview
from chat.reply import Reply, ToolRun
from cli.setup.trial import judge
from prompt.values import Origin, Outcome, ToolCall, ToolResult
from prompt.verbatim import Verdict, WireMode
from tests.cli.setup.conftest import answered

OVERVIEW = Overview(
    endpoint="e",
    model="m",
    mode="verbatim",
    verdict=Verdict(),
    tool_mode="auto",
    context_window=None,
    switches=(),
)


def called(origin: Origin, outcome: Outcome = "ok") -> Reply:
    reply = answered("You rolled 7.")
    call = ToolCall(
        id="a", name="roll_dice", arguments={}, raw_arguments='{"dice":"2d6"}', origin=origin
    )
    result = ToolResult(call_id="a", name="roll_dice", text="3 + 4, total 7", outcome=outcome)
    reply.runs.append(ToolRun(call=call, result=result))
    return reply


@pytest.mark.parametrize(
    ("origin", "mode", "sentence"),
    [
        ("text", "verbatim", "The model called roll_dice as text; verbatim is on."),
        ("text", "verbatim_only", "The model called roll_dice as text; verbatim is on."),
        (
            "native",
            "native",
            "The model called roll_dice through the tools field; verbatim is off, as it is not "
            "needed.",
        ),
    ],
)
def test_a_call_is_told_with_its_way(origin: Origin, mode: WireMode, sentence: str) -> None:
    trial = judge(called(origin), replace(OVERVIEW, mode=mode))
    assert trial.works
    assert trial.sentence == sentence
    assert trial.call == 'roll_dice {"dice":"2d6"}: 3 + 4, total 7'
    assert trial.answer == "You rolled 7."


def test_a_call_that_failed_is_told_as_such() -> None:
    assert "did not go well (failed)" in judge(called("text", "failed"), OVERVIEW).sentence


def test_an_answer_without_a_call_is_chat_at_least() -> None:
    trial = judge(answered("I cannot roll dice."), OVERVIEW)
    assert trial.works
    assert "without calling a tool" in trial.sentence
    assert trial.answer == "I cannot roll dice."


def test_silence_and_failure_do_not_work() -> None:
    silent = judge(Reply(state="done", notices=["It ended early."]), OVERVIEW)
    assert (silent.works, silent.sentence) == (False, "The model said nothing. It ended early.")
    failed = Reply(state="failed", notices=["The model cannot be reached."], remedy="Start it.")
    trial = judge(failed, OVERVIEW)
    assert (trial.works, trial.sentence) == (False, "The model cannot be reached. Start it.")
