"""The one list of tools that a turn is built on.

Invariant: array, in-band JSON block, search catalog, advertised names and the map that dispatch
and the parser look calls up in all derive from the same specs. Nothing else filters or edits tools.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast

from prompt.dispatcher import EXECUTE_TOOL
from prompt.values import Json, JsonObject, ToolSpec


def canonical_json(value: Json) -> str:
    """JSON in the one spelling that we send: compact, key order kept, no escapes but needed.

    JSON has no infinite numbers. Where one comes all the same, out of a server's schema say, it
    becomes null: a body that is no JSON would cost every answer of the channel.
    """
    try:
        return _written(value)
    except ValueError:
        return _written(_finite(value))


def _written(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _finite(value: Json) -> Json:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(inner) for key, inner in cast("JsonObject", value).items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in cast("Sequence[Json]", value)]
    return value


@dataclass(frozen=True, kw_only=True)
class ToolSurface:
    """The tools of one turn, frozen for its whole length.

    `direct` tools stand in the array; `deferred` ones are dispatchable without standing in it.
    Names are unique across both. `catalog` is what a search looks through, `dispatcher` the name
    of the tool that runs deferred ones, empty where none is needed. `permitted` are the names
    that a dispatcher may run, None for all. `over_budget` tells that tools are deferred because
    all of them would have taken too much of the window.
    """

    direct: tuple[ToolSpec, ...] = ()
    deferred: tuple[ToolSpec, ...] = ()
    catalog: tuple[ToolSpec, ...] = ()
    dispatcher: str = ""
    permitted: frozenset[str] | None = None
    over_budget: bool = False

    def __post_init__(self) -> None:
        names = [spec.name for spec in (*self.direct, *self.deferred)]
        if len(set(names)) != len(names):
            raise ValueError(f"two tools share a name: {sorted(names)}")

    def __bool__(self) -> bool:
        return bool(self.direct or self.deferred)

    @cached_property
    def native(self) -> tuple[JsonObject, ...]:
        """The `tools` array of the request, OpenAI shape, in registry order."""
        return tuple(definition(spec) for spec in self.direct)

    @cached_property
    def block(self) -> str:
        """`native` as canonical JSON: the same surface always gives the same bytes."""
        return canonical_json(self.native)

    @cached_property
    def callable(self) -> Mapping[str, ToolSpec]:
        """Every tool that may run in this turn, by the exact name that the model was told."""
        return {spec.name: spec for spec in (*self.direct, *self.deferred)}

    @cached_property
    def advertised(self) -> tuple[str, ...]:
        """Deferred tools that the prompt names. None with the stable dispatcher, whose prompts
        stay the same whatever is deferred."""
        if self.dispatcher != EXECUTE_TOOL:
            return ()
        return tuple(spec.name for spec in self.deferred)


def definition(spec: ToolSpec) -> JsonObject:
    """A tool as the `tools` array has it."""
    return {
        "type": "function",
        "function": {
            "name": spec.name,
            "description": spec.description,
            "parameters": spec.parameters if spec.offered is None else spec.offered,
        },
    }


def advertisement(names: Sequence[str]) -> str:
    """The line that names tools which a search finds; empty where there are none."""
    if not names:
        return ""
    return (
        f"More tools can be found with tool_search and run with {EXECUTE_TOOL}: {', '.join(names)}."
    )
