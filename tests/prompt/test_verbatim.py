from typing import get_args

import pytest

from prompt.surface import ToolSurface
from prompt.verbatim import ToolConfig, ToolMode, Verdict, WireMode, verbatim_active, wire_mode
from tests.prompt.builders import SURFACE

UNKNOWN = Verdict()
CALLS = Verdict(structured_calls=True)
REFUSES = Verdict(refuses_tools_field=True)
BOTH = Verdict(structured_calls=True, refuses_tools_field=True)

TABLE: list[tuple[ToolMode, Verdict, WireMode]] = [
    ("auto", UNKNOWN, "verbatim"),
    ("auto", CALLS, "native"),
    ("auto", REFUSES, "verbatim_only"),
    ("auto", BOTH, "verbatim_only"),
    ("native", UNKNOWN, "native"),
    ("native", CALLS, "native"),
    ("native", REFUSES, "native"),
    ("native", BOTH, "native"),
    ("verbatim", UNKNOWN, "verbatim"),
    ("verbatim", CALLS, "verbatim"),
    ("verbatim", REFUSES, "verbatim_only"),
    ("verbatim", BOTH, "verbatim_only"),
    ("verbatim_only", UNKNOWN, "verbatim_only"),
    ("verbatim_only", CALLS, "verbatim_only"),
    ("verbatim_only", REFUSES, "verbatim_only"),
    ("verbatim_only", BOTH, "verbatim_only"),
    ("off", UNKNOWN, "off"),
    ("off", CALLS, "off"),
    ("off", REFUSES, "off"),
    ("off", BOTH, "off"),
]


def test_the_table_is_whole() -> None:
    assert {mode for mode, _, _ in TABLE} == set(get_args(ToolMode))
    assert {wire for _, _, wire in TABLE} == set(get_args(WireMode))


@pytest.mark.parametrize(("mode", "verdict", "wire"), TABLE)
def test_the_mode_of_a_request(mode: ToolMode, verdict: Verdict, wire: WireMode) -> None:
    config = ToolConfig(tool_mode=mode)
    assert wire_mode(config, verdict, SURFACE) == wire
    assert verbatim_active(config, verdict, SURFACE) == (wire in {"verbatim", "verbatim_only"})


@pytest.mark.parametrize(("mode", "verdict", "wire"), TABLE)
def test_without_tools_or_without_a_model_for_them_it_is_off(
    mode: ToolMode, verdict: Verdict, wire: WireMode
) -> None:
    assert wire_mode(ToolConfig(tool_mode=mode), verdict, ToolSurface()) == "off"
    assert wire_mode(ToolConfig(tool_mode=mode, has_tools=False), verdict, SURFACE) == "off"
