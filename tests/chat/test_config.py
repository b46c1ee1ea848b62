import re
from pathlib import Path
from typing import get_args

import pytest

from chat.config import (
    TurnConfig,
    as_word,
    checked,
    is_open,
    parallelism,
    switches,
    tool_config,
    turn_config,
)
from chat.reply import ReplyStyle
from chat.scheduler import Parallelism
from chat.switches import SWITCHES, THEMES
from prompt.values import Json
from prompt.verbatim import ToolConfig, ToolMode
from providers.wire import WIRE_NAMES, Change, Wire

PINNED = {
    "tool_mode": ("auto", "native", "verbatim", "verbatim_only", "off"),
    "has_tools": ("on", "off"),
    "nudge": ("on", "off"),
    "text_calls": ("on", "tagged_only", "off"),
    "call_in_reasoning": ("if_silent", "never"),
    "system_layout": ("merge_first", "as_is", "fold_into_user"),
    "merge_same_role": ("on", "off"),
    "tool_role": ("native", "as_user"),
    "empty_content": ("empty_string", "null"),
    "arguments_in_history": ("string", "object"),
    "reasoning_echo": ("same_turn", "drop", "all"),
    "vision": ("learn", "on", "off"),
    "schema_level": ("simple", "full", "names_only"),
    "tool_choice": ("omit", "string"),
    "stream_with_tools": ("stream", "whole"),
    "usage_in_stream": ("auto", "on", "off"),
    "parallel_calls": ("leave", "send_true", "one"),
    "thinking": ("server", "kwargs_off", "think_false", "effort_none"),
    "template_opens_think": ("learn", "yes", "no"),
    "server_answer_tool": ("show_text", "ignore"),
    "time_in_prompt": ("tail", "off", "head"),
    "slot_hint": ("off", "per_channel"),
    "warm_up": ("auto", "on", "off"),
    "empty_reply": ("nudge_once", "silent", "line"),
    "follow_up": ("queue", "interrupt"),
    "show_thinking": ("off", "on"),
}
NUMBERS = {
    "max_parallel": "auto",
    "context_window": "unknown",
    "repeat_limit": "2",
    "tool_budget_percent": "10",
    "long_answers": "10",
}
"""Switches that take a number, with their defaults."""


@pytest.mark.parametrize(("name", "choices"), PINNED.items())
def test_what_admins_have_stored_keeps_its_meaning(name: str, choices: tuple[str, ...]) -> None:
    """The values of a switch, the default first."""
    (spec,) = [spec for spec in SWITCHES if spec.name == name]
    assert (spec.choices, spec.default) == (choices, choices[0])


def test_every_switch_is_pinned_and_stands_on_a_page() -> None:
    assert {spec.name for spec in SWITCHES} == PINNED.keys() | NUMBERS.keys()
    numbered = {spec.name: spec.default for spec in SWITCHES if spec.numbers is not None}
    assert numbered == NUMBERS
    assert {spec.theme for spec in SWITCHES} == set(THEMES)
    assert all(len(spec.choices) <= 24 for spec in SWITCHES)  # a menu holds 25, one to take back


def test_switches_explain_themselves_and_have_names_of_their_own() -> None:
    assert all(spec.help.endswith(".") for spec in SWITCHES)
    assert len({spec.name for spec in SWITCHES}) == len(SWITCHES)
    (tool_mode,) = [spec for spec in SWITCHES if spec.name == "tool_mode"]
    assert set(get_args(ToolMode)) == set(tool_mode.choices)


@pytest.mark.parametrize(
    ("name", "value", "stored"),
    [
        ("tool_mode", "native", "native"),
        ("tool_mode", " Verbatim_Only ", "verbatim_only"),
        ("nudge", "no", "off"),
        ("nudge", "TRUE", "on"),
        ("has_tools", "0", "off"),
        ("has_tools", "yes", "on"),
        ("template_opens_think", "true", "yes"),
        ("template_opens_think", "off", "no"),
        ("template_opens_think", "on", "yes"),
        ("usage_in_stream", "false", "off"),
        ("slot_hint", "no", "off"),
    ],
)
def test_spellings_of_a_value(name: str, value: str, stored: str) -> None:
    assert checked(name, value) == stored


@pytest.mark.parametrize("value", ["", "loud", "on", "yes", "autoo"])
def test_a_wrong_value_is_answered_with_the_right_ones(value: str) -> None:
    with pytest.raises(ValueError, match="tool_mode is one of: auto, native, verbatim"):
        checked("tool_mode", value)


def test_a_wrong_name_is_answered_with_the_right_ones() -> None:
    with pytest.raises(ValueError, match=r"no switch 'mode'. There are: tool_mode, has_tools"):
        checked("mode", "auto")


@pytest.mark.parametrize(
    ("name", "stored", "value"),
    [
        ("nudge", False, "off"),
        ("nudge", True, "on"),
        ("template_opens_think", False, "no"),
        ("template_opens_think", True, "yes"),
        ("usage_in_stream", False, "off"),
        ("context_window", 8192, "8192"),
        ("context_window", 8192.0, "8192"),
        ("repeat_limit", 3, "3"),
    ],
)
def test_what_json_has_for_a_value_is_one(name: str, stored: Json, value: str) -> None:
    """Settings that were brought along, or written by another version."""
    (switch,) = [each for each in switches({name: stored}) if each.name == name]
    assert (switch.value, switch.is_set) == (value, True)
    assert checked(name, as_word(stored)) == value


def test_nothing_stored_is_the_default() -> None:
    assert tool_config({}) == ToolConfig()
    assert all(switch.value == switch.default for switch in switches({}))


def test_what_is_stored_holds() -> None:
    stored = {"tool_mode": "off", "has_tools": "off", "nudge": "off", "persona": "x"}
    assert tool_config(stored) == ToolConfig(tool_mode="off", has_tools=False, nudge=False)
    values = {switch.name: switch.value for switch in switches(stored)}
    assert {values[name] for name in ("tool_mode", "has_tools", "nudge")} == {"off"}


@pytest.mark.parametrize("damaged", ["loud", None, 5, True, ["off"], {}])
def test_what_is_stored_but_no_longer_valid_counts_as_default(damaged: object) -> None:
    assert tool_config({"tool_mode": damaged, "nudge": damaged}) == ToolConfig()


# Numbers.


@pytest.mark.parametrize(
    ("value", "stored"),
    [("auto", "auto"), (" 7 ", "7"), ("1", "1"), ("064", "64"), ("AUTO", "auto")],
)
def test_a_number_or_auto(value: str, stored: str) -> None:
    assert checked("max_parallel", value) == stored


@pytest.mark.parametrize(
    "value", ["0", "257", "-1", "1.5", "two", "", "off", "yes", "²", "٣", "9" * 5000]
)
def test_other_numbers_are_answered_with_what_may_be_set(value: str) -> None:
    with pytest.raises(ValueError, match=r"^max_parallel is auto or a number from 1 to 256\.$"):
        checked("max_parallel", value)


def test_a_number_that_is_not_offered_is_shown_beside_those_that_are() -> None:
    by_name = {switch.name: switch for switch in switches({"max_parallel": "7"})}
    switch = by_name["max_parallel"]
    assert (switch.value, switch.default) == ("7", "auto")
    assert switch.choices.count("7") == 1
    assert "7" not in {switch.name: switch for switch in switches({})}["max_parallel"].choices


@pytest.mark.parametrize(
    ("stored", "operators", "most", "raises"),
    [
        ({}, None, None, True),
        ({"max_parallel": "8"}, None, 8, True),
        ({}, {}, None, False),
        ({"max_parallel": "8"}, {}, 8, False),
        ({}, {"max_parallel": "4"}, 4, True),
        ({"max_parallel": "8"}, {"max_parallel": "4"}, 4, True),
        ({"max_parallel": "2"}, {"max_parallel": "4"}, 2, True),
        ({"max_parallel": "0"}, {"max_parallel": "many"}, None, False),
    ],
)
def test_only_the_operator_widens_the_operators_endpoint(
    stored: dict[str, str], operators: dict[str, str] | None, most: int | None, raises: bool
) -> None:
    assert parallelism(stored, operators) == Parallelism(most=most, raises=raises)


def test_a_slot_hint_is_the_guilds_own() -> None:
    hint = {"slot_hint": "per_channel"}
    assert parallelism(hint).slot_hint
    assert parallelism(hint, {}).slot_hint
    assert not parallelism({}, hint).slot_hint


@pytest.mark.parametrize(
    ("name", "right", "wrong", "told"),
    [
        ("context_window", "1024", "1023", "unknown or a number from 1024 to 10000000"),
        ("repeat_limit", "100", "0", "a number from 1 to 100"),
        ("repeat_limit", "7", "unknown", "a number from 1 to 100"),
    ],
)
def test_numbers_keep_to_their_range(name: str, right: str, wrong: str, told: str) -> None:
    assert checked(name, right) == right
    with pytest.raises(ValueError, match=rf"^{name} is {told}\.$"):
        checked(name, wrong)


# What was learnt.


def test_a_set_value_wins_over_a_learnt_one_and_that_over_the_default() -> None:
    learnt = {"tool_role": "as_user", "system_layout": "fold_into_user", "nudge": "loud"}
    stored = {"system_layout": "merge_first"}
    found = {switch.name: switch for switch in switches(stored, learnt)}
    role, layout, nudge = (found[name] for name in ("tool_role", "system_layout", "nudge"))
    assert (role.value, role.is_set, role.is_learnt) == ("as_user", False, True)
    assert (layout.value, layout.is_set, layout.is_learnt) == ("merge_first", True, False)
    assert layout.learnt == "fold_into_user"
    assert (nudge.value, nudge.is_learnt) == ("on", False)


@pytest.mark.parametrize(
    ("stored", "learnt", "change", "is_free"),
    [
        ({}, {}, Change(name="tool_role", value="as_user"), True),
        ({"tool_role": "native"}, {}, Change(name="tool_role", value="as_user"), False),
        ({"tool_role": 5}, {}, Change(name="tool_role", value="as_user"), True),
        ({}, {"tool_role": "as_user"}, Change(name="tool_role", value="as_user"), False),
        ({}, {}, Change(name="tool_role", value="native"), False),
        ({}, {}, Change(name="tool_role", value="loud"), False),
        ({}, {}, Change(name="volume", value="loud"), False),
        ({}, {}, Change(name="context_window", value="4096"), True),
        ({"context_window": "8192"}, {}, Change(name="context_window", value="4096"), False),
    ],
)
def test_what_errors_may_change(
    stored: dict[str, object], learnt: dict[str, str], change: Change, is_free: bool
) -> None:
    assert is_open(stored, learnt, change) is is_free


def test_a_turn_is_run_with_what_holds() -> None:
    assert turn_config({}) == TurnConfig()
    stored = {
        "context_window": "4096",
        "empty_reply": "line",
        "repeat_limit": "5",
        "thinking": "kwargs_off",
        "time_in_prompt": "off",
        "follow_up": "interrupt",
        "long_answers": "off",
        "show_thinking": "on",
    }
    config = turn_config(stored, {"schema_level": "names_only", "tool_role": "as_user"})
    assert config == TurnConfig(
        tools=ToolConfig(clock="off"),
        wire=Wire(thinking="kwargs_off", tool_role="as_user"),
        schema_level="names_only",
        context_window=4096,
        on_empty="line",
        repeats=5,
        style=ReplyStyle(most_messages=None, yields=True, shows_thinking=True),
    )


def test_the_defaults_of_adapters_are_those_of_the_table() -> None:
    for name in WIRE_NAMES:
        (spec,) = [spec for spec in SWITCHES if spec.name == name]
        assert Wire().value(name) == spec.default, name


def test_the_documentation_lists_every_switch_with_its_values() -> None:
    page = (Path(__file__).parents[2] / "docs/endpoints.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| (\*\*[^|]+) \|", page, re.MULTILINE))
    assert rows.keys() == {spec.name for spec in SWITCHES}
    for spec in SWITCHES:
        default, *others = spec.choices
        listed = ", ".join([f"**{default}**", *others])
        told = rows[spec.name]
        assert told == listed if spec.numbers is None else told.startswith(f"**{default}**, or a")
