"""Where a guild's tools come from.

Invariant: a toolset lists every tool that it has for a guild, also those that are off there, with
the reason. Whoever builds a turn's surface leaves those out; whoever lists tools tells why.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from tools.registry import Tool


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered:
    """A tool of a guild.

    `off` says in words why its turns cannot be offered it; empty where they can. An `optional`
    tool is off until an admin switches it on. `guild_id` is the guild that alone has the tool,
    None where every guild may.
    """

    tool: Tool
    off: str = ""
    optional: bool = False
    guild_id: int | None = None


class Toolset(Protocol):
    """Tools with one origin: those built in, or those of MCP servers."""

    async def offered(self, guild_id: int) -> Sequence[Offered]:
        """The tools that a guild has, always in the same order while nothing is configured anew.
        Guild 0 stands for direct messages and the console."""
        ...


def offering(tools: Iterable[Tool], *, on: Iterable[str] | None = None) -> tuple[Offered, ...]:
    """These tools for any guild; those that are not in `on` wait for an admin, none where it is
    None."""
    names = None if on is None else frozenset(on)
    return tuple(
        Offered(tool=tool, optional=names is not None and tool.spec.name not in names)
        for tool in tools
    )


class FixedTools:
    """A toolset that has the same tools for every guild, and for as long as it lives."""

    def __init__(self, offered: Sequence[Offered]) -> None:
        self._offered = tuple(offered)

    async def offered(self, guild_id: int) -> Sequence[Offered]:
        """See Toolset."""
        return self._offered
