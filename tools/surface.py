"""Builds a turn's ToolSurface out of the registry and a guild's switches.

Invariant: this is the only place where tools are filtered.
"""

from collections.abc import Collection

from prompt.surface import ToolSurface
from tools.registry import Registry


def build_surface(registry: Registry, *, disabled: Collection[str] = ()) -> ToolSurface:
    """The tools that a guild's turn offers: all but those that are switched off."""
    return ToolSurface(
        direct=tuple(tool.spec for tool in registry if tool.spec.name not in disabled)
    )
