"""The one list of tools that a turn is built on.

Invariant: array, in-band JSON block, advertised names and the map that dispatch and the
parser look calls up in all derive from the same specs. Nothing else filters or edits tools.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from prompt.values import Json, JsonObject, ToolSpec


def canonical_json(value: Json) -> str:
    """JSON in the one spelling that we send: compact, key order kept, no escapes but needed."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


@dataclass(frozen=True, kw_only=True)
class ToolSurface:
    """The tools of one turn, frozen for its whole length.

    `direct` tools stand in the array; `deferred` ones are dispatchable without standing in it.
    Names are unique across both.
    """

    direct: tuple[ToolSpec, ...] = ()
    deferred: tuple[ToolSpec, ...] = ()

    def __post_init__(self) -> None:
        names = [spec.name for spec in (*self.direct, *self.deferred)]
        if len(set(names)) != len(names):
            raise ValueError(f"two tools share a name: {sorted(names)}")

    def __bool__(self) -> bool:
        return bool(self.direct or self.deferred)

    @cached_property
    def native(self) -> tuple[JsonObject, ...]:
        """The `tools` array of the request, OpenAI shape, in registry order."""
        return tuple(
            {
                "type": "function",
                "function": {
                    "name": spec.name,
                    "description": spec.description,
                    "parameters": spec.parameters if spec.offered is None else spec.offered,
                },
            }
            for spec in self.direct
        )

    @cached_property
    def block(self) -> str:
        """`native` as canonical JSON: the same surface always gives the same bytes."""
        return canonical_json(self.native)

    @cached_property
    def callable(self) -> Mapping[str, ToolSpec]:
        """Every tool that may run in this turn, by the exact name that the model was told."""
        return {spec.name: spec for spec in (*self.direct, *self.deferred)}
