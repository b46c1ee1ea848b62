"""Where a guild's tools come from.

Invariant: a toolset lists every tool that it has for a guild, also those that are off there, with
the reason. Whoever builds a turn's surface leaves those out; whoever lists tools tells why.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from tools.registry import Tool


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered:
    """A tool of a guild. `off` says in words why its turns are not offered it; empty where they
    are."""

    tool: Tool
    off: str = ""


class Toolset(Protocol):
    """Tools with one origin: those built in, or those of MCP servers."""

    async def offered(self, guild_id: int) -> Sequence[Offered]:
        """The tools that a guild has, always in the same order while nothing is configured anew.
        Guild 0 stands for direct messages and the console."""
        ...
