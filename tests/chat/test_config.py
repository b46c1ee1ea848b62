from typing import get_args

import pytest

from chat.config import SWITCHES, checked, parallelism, switches, tool_config
from chat.scheduler import Parallelism
from prompt.verbatim import ToolConfig, ToolMode

PINNED = {
    "tool_mode": ("auto", "native", "verbatim", "verbatim_only", "off"),
    "has_tools": ("on", "off"),
    "nudge": ("on", "off"),
}


@pytest.mark.parametrize(("name", "choices"), PINNED.items())
def test_what_admins_have_stored_keeps_its_meaning(name: str, choices: tuple[str, ...]) -> None:
    """The values of a switch, the default first."""
    (spec,) = [spec for spec in SWITCHES if spec.name == name]
    assert (spec.choices, spec.default) == (choices, choices[0])


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


def test_nothing_stored_is_the_default() -> None:
    assert tool_config({}) == ToolConfig()
    assert all(switch.value == switch.default for switch in switches({}))


def test_what_is_stored_holds() -> None:
    stored = {"tool_mode": "off", "has_tools": "off", "nudge": "off", "persona": "x"}
    assert tool_config(stored) == ToolConfig(tool_mode="off", has_tools=False, nudge=False)
    values = {switch.name: switch.value for switch in switches(stored)}
    assert {values[name] for name in PINNED} == {"off"}


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
    "value", ["0", "65", "-1", "1.5", "two", "", "off", "yes", "²", "٣", "9" * 5000]
)
def test_other_numbers_are_answered_with_what_may_be_set(value: str) -> None:
    with pytest.raises(ValueError, match=r"^max_parallel is auto or a number from 1 to 64\.$"):
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
