"""Decides whether a turn uses verbatim mode.

Invariant: one predicate. Demonstrations, tool block and nudge ask `verbatim_active` and are
therefore all present or all absent.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from prompt.surface import ToolSurface

ToolMode: TypeAlias = Literal["auto", "native", "verbatim", "verbatim_only", "off"]
"""What an admin sets."""

WireMode: TypeAlias = Literal["native", "verbatim", "verbatim_only", "off"]
"""What a request uses: `auto` resolved."""

ClockPlace: TypeAlias = Literal["tail", "off", "head"]
"""Where the present minute stands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What is known of an endpoint and model, and how it came to be known.

    `structured_calls`: a native call has been seen from it. `refuses_tools_field`: it answered
    the field with an error. `reason` says where from, in words an admin understands. `learnt` are
    switches of `/config workarounds` with the values that it turned out to need.
    `token_ratio` is how many tokens it counts for each that is estimated, None before it has told;
    `cut_at` the tokens that were left of a prompt which it cut without saying so.
    """

    structured_calls: bool = False
    refuses_tools_field: bool = False
    reason: str = "no tool call has been seen from this endpoint yet"
    learnt: Mapping[str, str] = field(default_factory=dict[str, str])
    token_ratio: float | None = None
    cut_at: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolConfig:
    """The switches that shape a prompt, a guild and model. Names as in `/config workarounds`, but
    for `clock`, which is time_in_prompt."""

    tool_mode: ToolMode = "auto"
    has_tools: bool = True
    nudge: bool = True
    clock: ClockPlace = "tail"


def wire_mode(config: ToolConfig, verdict: Verdict, surface: ToolSurface) -> WireMode:
    """The mode of this turn's requests. A surface without tools leaves nothing to switch on."""
    if not config.has_tools or not surface or config.tool_mode == "off":
        return "off"
    if verdict.refuses_tools_field and config.tool_mode in {"auto", "verbatim"}:
        return "verbatim_only"
    if config.tool_mode != "auto":
        return config.tool_mode
    return "native" if verdict.structured_calls else "verbatim"


def verbatim_active(config: ToolConfig, verdict: Verdict, surface: ToolSurface) -> bool:
    """Whether the prompt carries demonstrations, tool definitions and nudge."""
    return wire_mode(config, verdict, surface) in {"verbatim", "verbatim_only"}
