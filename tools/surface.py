"""Builds a turn's ToolSurface out of the tools that a guild has and what it set about them.

Invariant: this is the only place where tools are filtered, their schemas made simpler, their
names made fit for endpoints and some of them deferred; what they are in their toolset stays on
the spec.
"""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import replace

from prompt.dispatcher import EXECUTE_TOOL, META_TOOLS, USE_LOADED_TOOL
from prompt.schema_level import SchemaLevel, written
from prompt.surface import ToolSurface, advertisement, canonical_json
from prompt.tokens import estimate
from prompt.values import ToolSpec
from tools.exposure import ALWAYS_UPFRONT, ExposureMode, Gates, apply, exclude_up
from tools.toolset import Offered

_LONGEST_NAME = 64
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]+")
_DIGEST = 6
_ALL_OPEN = Gates()


def build_surface(
    tools: Iterable[Offered],
    *,
    gates: Gates = _ALL_OPEN,
    level: SchemaLevel = "simple",
    mode: ExposureMode = "upfront",
    stable: bool = False,
    most_tokens: int | None = None,
) -> ToolSurface:
    """The tools that a guild's turn offers, with as much of their schemas as `level` has.

    `stable` defers them behind the dispatcher that keeps requests the same whatever was loaded.
    `most_tokens` is what the array may cost: beyond it, tools are deferred too if that at least
    halves the cost, since every deferred tool costs the model a round before its first use.
    """
    specs = [entry.tool.spec for entry in tools if not gates.why_off(entry)]
    names = _wire_names(spec.name for spec in specs)
    converted = {names[spec.name]: _offering(spec, names[spec.name], level) for spec in specs}
    permitted = gates.allowlist and frozenset(names.get(name, name) for name in gates.allowlist)
    if stable:
        return _exposed(converted, "search", USE_LOADED_TOOL, permitted)
    surface = _exposed(converted, mode, EXECUTE_TOOL, permitted)
    if mode == "search" or most_tokens is None or (cost := tokens(surface)) <= most_tokens:
        return surface
    smaller = _exposed(converted, "search", EXECUTE_TOOL, permitted)
    return replace(smaller, over_budget=True) if tokens(smaller) * 2 <= cost else surface


def tokens(surface: ToolSurface) -> int:
    """What its tools take of every prompt: the array as it is sent, once, and the line that names
    deferred ones."""
    named = advertisement(surface.advertised)
    return estimate(surface.block) + (estimate(named) if named else 0)


def _exposed(
    tools: dict[str, ToolSpec],
    mode: ExposureMode,
    dispatcher: str,
    permitted: frozenset[str] | None,
) -> ToolSurface:
    exposed = apply(tools, mode, ALWAYS_UPFRONT, dispatcher=dispatcher)
    direct = tuple(exposed.tools.values())
    if not exposed.advertised:
        return ToolSurface(direct=direct, permitted=permitted)
    return ToolSurface(
        direct=direct,
        deferred=tuple(tools[name] for name in exposed.advertised),
        catalog=tuple(exclude_up(tools, ALWAYS_UPFRONT).values()),
        dispatcher=dispatcher,
        permitted=permitted,
    )


def _offering(spec: ToolSpec, name: str, level: SchemaLevel) -> ToolSpec:
    got = written(spec.parameters, level)
    shown = got.parameters
    return replace(
        spec,
        name=name,
        description=" ".join(filter(None, (spec.description.strip() or name, got.note))),
        offered=None if canonical_json(shown) == canonical_json(spec.parameters) else shown,
        registered=None if name == spec.name else spec.name,
    )


def _wire_names(names: Iterable[str]) -> dict[str, str]:
    """Names of 1 to 64 letters, digits, `_` and `-`, each its own.

    A name that is fit stays. Another one may end in a digest of itself, so that it depends on no
    other tool but those whose name it would take.
    """
    listed = list(names)
    taken = {name for name in listed if _is_fit(name)} | META_TOOLS
    wire: dict[str, str] = {}
    for name in listed:
        fit = name
        if not _is_fit(name):
            fit = _NOT_IN_NAMES.sub("_", name).strip("_")[:_LONGEST_NAME]
            if not fit or fit in taken:
                digest = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:_DIGEST]
                fit = f"{fit[: _LONGEST_NAME - _DIGEST - 1] or 'tool'}_{digest}"
            taken.add(fit)
        wire[name] = fit
    return wire


def _is_fit(name: str) -> bool:
    if name in META_TOOLS:
        return False
    return 0 < len(name) <= _LONGEST_NAME and not _NOT_IN_NAMES.search(name)
