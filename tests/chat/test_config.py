from typing import get_args

import pytest

from chat.config import SWITCHES, checked, switches, tool_config
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
