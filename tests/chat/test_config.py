from typing import get_args

import pytest

from chat.config import SWITCHES, checked, switches, tool_config
from prompt.verbatim import ToolConfig, ToolMode


def test_the_switches_their_values_and_defaults() -> None:
    """Stored by admins: none of these may change its meaning."""
    assert {spec.name: (spec.default, *spec.choices) for spec in SWITCHES} == {
        "tool_mode": ("auto", "auto", "native", "verbatim", "verbatim_only", "off"),
        "has_tools": ("on", "on", "off"),
        "nudge": ("on", "on", "off"),
    }
    assert set(get_args(ToolMode)) == set(SWITCHES[0].choices)
    assert all(spec.help.endswith(".") for spec in SWITCHES)


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
    assert [switch.value for switch in switches(stored)] == ["off", "off", "off"]


@pytest.mark.parametrize("damaged", ["loud", None, 5, True, ["off"], {}])
def test_what_is_stored_but_no_longer_valid_counts_as_default(damaged: object) -> None:
    assert tool_config({"tool_mode": damaged, "nudge": damaged}) == ToolConfig()
