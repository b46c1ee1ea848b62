import json
import re
from itertools import pairwise
from typing import Any

import pytest

from prompt import stages
from prompt.demonstrations import ACKNOWLEDGEMENT, EXAMPLE_CLOCK, demonstrations
from prompt.events import CallError
from prompt.open_values import waits_for
from prompt.stages import NUDGE
from prompt.surface import ToolSurface
from prompt.values import ToolCall, ToolSpec
from prompt.verbatim import ToolConfig
from providers.verbatim import VerbatimParser
from tests.prompt.builders import NOTE, ROLL, snapshot
from tools.builtin import builtin_registry

MESSAGES = demonstrations("[tail]")


def made_up() -> ToolSurface:
    """The tools of the worked turns, read out of their own definitions."""
    (found,) = re.findall(r"```json\n(.+)\n```", MESSAGES[0][1])
    entries: list[dict[str, Any]] = [entry["function"] for entry in json.loads(found)]
    return ToolSurface(direct=tuple(ToolSpec(**entry) for entry in entries))


def turns() -> list[list[tuple[str, str]]]:
    """The worked turns, each opened by a member's message."""
    found: list[list[tuple[str, str]]] = []
    for role, text in MESSAGES[2:]:
        if role == "user" and not text.startswith("[tool result]"):
            found.append([])
        found[-1].append((role, text))
    return found


def read(text: str, surface: ToolSurface) -> list[ToolCall | CallError]:
    parser = VerbatimParser(surface)
    events = [*parser.feed(text), *parser.close("stop")]
    return [event for event in events if isinstance(event, ToolCall | CallError)]


def calls(text: str, surface: ToolSurface) -> list[ToolCall]:
    return [event for event in read(text, surface) if isinstance(event, ToolCall)]


def test_definitions_stand_first_and_roles_alternate() -> None:
    assert MESSAGES[1] == ("assistant", ACKNOWLEDGEMENT)
    assert [role for role, _ in MESSAGES[:2]] == ["user", "assistant"]
    assert all(first != second for (first, _), (second, _) in pairwise(MESSAGES))
    assert MESSAGES[-1][0] == "assistant"


def test_every_call_in_them_is_read_by_the_parser_as_it_is_taught() -> None:
    surface = made_up()
    found = [read(text, surface) for role, text in MESSAGES if role == "assistant"]
    made = [call for each in found for call in each]
    assert [type(call) for call in made] == [ToolCall, ToolCall, CallError, ToolCall]
    assert not any(isinstance(call, ToolCall) and call.repaired for call in made)
    assert {call.name for call in made} <= set(surface.callable)


def test_one_leaves_a_value_open_that_another_brings_and_is_called_again_with_it() -> None:
    surface = made_up()
    found = [read(text, surface) for role, text in MESSAGES if role == "assistant"]
    ((look_up, left_open), (again,)) = [each for each in found if each][1:]
    assert isinstance(left_open, CallError)
    assert (left_open.code, left_open.waits) == ("open_argument", ("book_id",))
    (told,) = [text for _, text in MESSAGES if "waits" in text]
    assert told.startswith(f"[tool result] {look_up.name}: ")
    assert told.endswith(f"[tool result] {left_open.name}: {waits_for(left_open.waits)}")
    assert isinstance(again, ToolCall)
    assert str(again.arguments["book_id"]) in told


def test_each_call_is_followed_by_its_result_and_words() -> None:
    surface = made_up()
    for turn in turns():
        texts = [text for _, text in turn]
        called = [call.name for text in texts for call in read(text, surface)]
        results = re.findall(r"^\[tool result\] (\w+):", "\n".join(texts), re.MULTILINE)
        assert results == called
        assert not calls(texts[-1], surface)


def test_half_of_them_or_more_get_along_without_a_call() -> None:
    surface = made_up()
    silent = [turn for turn in turns() if not any(calls(text, surface) for _, text in turn)]
    assert len(silent) * 2 >= len(turns())


@pytest.mark.parametrize(
    ("config", "tail"),
    [
        (ToolConfig(), f"{EXAMPLE_CLOCK}\n\n{NUDGE}"),
        (ToolConfig(nudge=False), EXAMPLE_CLOCK),
        (ToolConfig(clock="off"), NUDGE),
    ],
)
def test_calls_and_silences_both_follow_the_lines_that_end_a_live_turn(
    config: ToolConfig, tail: str
) -> None:
    """The others look like older messages: a name, and no more."""
    items = stages.demonstrations(snapshot(config=config))[2:]
    surface = made_up()
    followed: list[bool] = []
    for asked, answer in pairwise(items):
        if asked.role != "user" or asked.text.startswith("[tool result]"):
            continue
        if asked.text.endswith(f"[from Kim]\n\n{tail}"):
            followed.append(bool(calls(answer.text, surface)))
        else:
            assert asked.text.endswith("\n[from Kim]")
    assert set(followed) == {True, False}


def test_they_show_what_small_models_get_wrong_without() -> None:
    surface = made_up()
    made = [call for role, text in MESSAGES if role == "assistant" for call in calls(text, surface)]
    assert {len(call.arguments) for call in made} == {0, 1, 2}
    chained = [turn for turn in turns() if sum(bool(calls(t, surface)) for _, t in turn) > 1]
    assert chained
    assert any(not text.isascii() for _, text in MESSAGES[2:])


@pytest.mark.parametrize("surface", [ToolSurface(direct=(ROLL,)), ToolSurface(direct=(NOTE, ROLL))])
def test_they_never_change_with_the_live_tools(surface: ToolSurface) -> None:
    assert stages.demonstrations(snapshot(surface=surface)) == stages.demonstrations(snapshot())


def test_no_made_up_tool_has_the_name_of_a_real_one() -> None:
    real = {tool.spec.name for tool in builtin_registry()}
    assert not real & set(made_up().callable)
