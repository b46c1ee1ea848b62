"""Decides which of a server's tools are offered, and what is told of them.

Invariant: what a server says of its own tools can make them less free and never freer, unless an
admin trusts the server. Every tool that is left out is listed, with a reason in words.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from mcp import types

from prompt.values import JsonObject
from tools.mcp.cleaning import clean
from tools.mcp.schemas import SchemaRefused, dropped_of, safe_schema

MOST_TOOLS = 32
"""Tools of one server."""

LONGEST_DESCRIPTION = 400
LONGEST_TOOL_NAME = 200
_NOTHING: JsonObject = {"type": "object", "properties": {}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Hints:
    """What a server claims of a tool; None where it says nothing."""

    read_only: bool | None = None
    destructive: bool | None = None
    open_world: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class VettedTool:
    """A tool as it may be offered. `name` is the server's own spelling, which calls use. `refused`
    says why it is left out; empty where it is not. `dropped` names arguments that it is offered
    without, since what the server has for their schemas is none."""

    name: str
    description: str
    parameters: JsonObject
    hints: Hints
    refused: str = ""
    dropped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Flags:
    """See ToolSpec."""

    read_only: bool
    destructive: bool
    egress: bool


def flags_of(hints: Hints, *, trusted: bool) -> Flags:
    """What a tool may do. A tool of a server without trust asks whatever the server claims."""
    if not trusted:
        return Flags(read_only=False, destructive=True, egress=True)
    destructive = hints.destructive is True and hints.read_only is not True
    return Flags(
        read_only=hints.read_only is True,
        destructive=destructive,
        egress=hints.open_world is not False,
    )


def vetted(listed: Sequence[types.Tool]) -> tuple[VettedTool, ...]:
    """The tools of a server in its order, each with a name of its own."""
    seen: set[str] = set()
    tools: list[VettedTool] = []
    for tool in listed:
        if tool.name in seen:
            continue  # a call could not tell them apart
        seen.add(tool.name)
        tools.append(_vet(tool, place=sum(not one.refused for one in tools)))
    return tuple(tools)


def _vet(tool: types.Tool, *, place: int) -> VettedTool:
    hints = tool.annotations or types.ToolAnnotations()
    parameters, refused, dropped = _NOTHING, "", ()
    if place >= MOST_TOOLS:
        refused = f"the server has more than {MOST_TOOLS} tools"
    elif not 0 < len(tool.name) <= LONGEST_TOOL_NAME:
        refused = f"its name is empty or has more than {LONGEST_TOOL_NAME} characters"
    else:
        try:
            parameters = safe_schema(tool.input_schema)
            dropped = dropped_of(tool.input_schema)
        except SchemaRefused as error:
            refused = str(error)
    return VettedTool(
        name=tool.name,
        description=clean(tool.description or "", most=LONGEST_DESCRIPTION),
        parameters=parameters,
        hints=Hints(
            read_only=hints.read_only_hint,
            destructive=hints.destructive_hint,
            open_world=hints.open_world_hint,
        ),
        refused=refused,
        dropped=dropped,
    )
