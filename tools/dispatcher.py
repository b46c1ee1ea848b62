"""execute_tool and use_loaded_tool: run a tool that does not stand in the array.

Invariant: a dispatcher bypasses the schema checks of servers, so what it is asked for passes, in
this order: well-formed, allowed, exists, not a direct tool, schema. Names are looked up in the
surface's map and nowhere else.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from prompt.dispatcher import (
    EXECUTE_TOOL,
    META_SOURCE,
    USE_LOADED_TOOL,
    dispatched,
    is_dispatcher,
)
from prompt.schema import problems
from prompt.surface import ToolSurface, canonical_json
from prompt.values import Json, JsonObject, ToolCall, ToolSpec

Refusal: TypeAlias = Literal[
    "malformed_dispatch", "not_permitted", "unknown_tool", "call_directly", "invalid_arguments"
]


def _spec(name: str, description: str) -> ToolSpec:
    return ToolSpec(
        name=name,
        description=description,
        parameters={
            "type": "object",
            "properties": {
                "name": {"type": "string", "description": "name of the tool"},
                "arguments": {"type": "object", "description": "the tool's own arguments"},
            },
            "required": ["name"],
            "additionalProperties": False,
        },
        source=META_SOURCE,
    )


DISPATCHER_SPECS: Mapping[str, ToolSpec] = {
    EXECUTE_TOOL: _spec(EXECUTE_TOOL, "Run a tool that tool_search has found."),
    USE_LOADED_TOOL: _spec(USE_LOADED_TOOL, "Run a tool that tool_search has loaded."),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """What a call comes down to.

    `call` is the one that is to run: that of a dispatcher's payload, else the call itself. `spec`
    is its tool, None where none may run; `refusal` then says why, and `more` what else the model
    is told.
    """

    call: ToolCall
    spec: ToolSpec | None = None
    refusal: Refusal | None = None
    more: JsonObject = field(default_factory=dict[str, Json])


def resolve(surface: ToolSurface, call: ToolCall) -> Resolved:
    """What `call` asks for, checked against the surface and the tool's schema."""
    outer = surface.callable.get(call.name)
    if outer is not None and is_dispatcher(outer):
        inner = dispatched(call.arguments)
        if inner is None:
            schema: JsonObject = {"schema": outer.parameters}
            return Resolved(call=call, refusal="malformed_dispatch", more=schema)
        name, arguments = inner
        raw = canonical_json(arguments)
        asked = replace(call, name=name, arguments=arguments, raw_arguments=raw)
        return _checked(surface, asked, through=outer.name)
    return _checked(surface, call)


def _checked(surface: ToolSurface, call: ToolCall, *, through: str = "") -> Resolved:
    direct = {spec.name: spec for spec in surface.direct}
    spec = surface.callable.get(call.name)
    hidden = call.name not in direct
    asks_list = through or (hidden and (spec is not None or surface.dispatcher))
    if asks_list and not _permitted(surface, call.name, direct):
        return Resolved(call=call, refusal="not_permitted")
    if spec is None or call.name == through:
        return Resolved(call=call, refusal="unknown_tool")
    if through and not hidden:
        return Resolved(call=call, refusal="call_directly")
    if wrong := problems(spec.parameters, call.arguments):
        more: JsonObject = {"problems": list(wrong), "schema": spec.parameters}
        return Resolved(call=call, refusal="invalid_arguments", more=more)
    return Resolved(call=call, spec=spec)


def _permitted(surface: ToolSurface, name: str, direct: Mapping[str, ToolSpec]) -> bool:
    """The guild's allowlist, asked again: a dispatcher may outlive what it was built over."""
    meta = name in direct and direct[name].source == META_SOURCE
    return surface.permitted is None or name in surface.permitted or meta
