"""Builds a turn's ToolSurface out of the registry and a guild's switches.

Invariant: this is the only place where tools are filtered, their schemas made simpler and their
names made fit for endpoints; what they are in the registry stays on the spec.
"""

import hashlib
import re
from collections.abc import Collection, Iterable
from dataclasses import replace

from prompt.schema_level import SchemaLevel, offered
from prompt.surface import ToolSurface, canonical_json
from prompt.values import ToolSpec
from tools.registry import Registry

_LONGEST_NAME = 64
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]+")
_DIGEST = 6


def build_surface(
    registry: Registry, *, disabled: Collection[str] = (), level: SchemaLevel = "simple"
) -> ToolSurface:
    """The tools that a guild's turn offers: all but those that are switched off, with as much of
    their schemas as `level` has."""
    specs = [tool.spec for tool in registry if tool.spec.name not in disabled]
    names = _wire_names(spec.name for spec in specs)
    return ToolSurface(direct=tuple(_offering(spec, names[spec.name], level) for spec in specs))


def _offering(spec: ToolSpec, name: str, level: SchemaLevel) -> ToolSpec:
    shown = offered(spec.parameters, level)
    return replace(
        spec,
        name=name,
        description=spec.description.strip() or name,
        offered=None if canonical_json(shown) == canonical_json(spec.parameters) else shown,
        registered=None if name == spec.name else spec.name,
    )


def _wire_names(names: Iterable[str]) -> dict[str, str]:
    """Names of 1 to 64 letters, digits, `_` and `-`, each its own.

    A name that is fit stays. Another one may end in a digest of itself, so that it depends on no
    other tool but those whose name it would take.
    """
    listed = list(names)
    taken = {name for name in listed if _is_fit(name)}
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
    return 0 < len(name) <= _LONGEST_NAME and not _NOT_IN_NAMES.search(name)
