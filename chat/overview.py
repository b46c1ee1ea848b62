"""What people are shown of an endpoint and of the tools, for a guild.

Invariant: values alone; nothing here is a secret.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from chat.config import Switch
from prompt.verbatim import Verdict, WireMode


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """What is known of the endpoint, and how a guild is set up for it.

    `brought` tells that it is the guild's own. `exposure` says how tools are shown to the model;
    `deferred` are those that only a search shows.
    """

    endpoint: str
    model: str
    mode: WireMode
    verdict: Verdict
    tool_mode: str
    context_window: int | None
    switches: Sequence[Switch]
    brought: bool = False
    exposure: str = ""
    deferred: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolListing:
    """A tool, whether a guild's turns are offered it, and why or why not."""

    name: str
    description: str
    enabled: bool
    why: str
    read_only: bool
    source: str
