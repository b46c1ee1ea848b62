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

    `brought` tells that it is the guild's own, `notes` what is wrong with it. `exposure` says how
    tools are shown to the model; `deferred` are those that only a search shows.
    """

    endpoint: str
    model: str
    mode: WireMode
    verdict: Verdict
    tool_mode: str
    context_window: int | None
    switches: Sequence[Switch]
    brought: bool = False
    notes: Sequence[str] = ()
    exposure: str = ""
    deferred: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class ExposureChange:
    """What of a guild's exposure is to be set; None leaves a part as it is.

    `mode` is `upfront` or `search`. `dispatch` are the models of the endpoint that serves the
    guild now for which the stable dispatcher is on, `*` for all of them.
    """

    mode: str | None = None
    read_only: bool | None = None
    web: bool | None = None
    images: bool | None = None
    dispatch: Sequence[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Exposure:
    """How a guild's tools are exposed. `now` says what comes of it, `allowlist` is None where
    every tool may be used."""

    mode: str
    read_only: bool
    web: bool
    images: bool
    dispatch: Sequence[str]
    allowlist: Sequence[str] | None
    now: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolListing:
    """A tool, whether a guild's turns are offered it, and why or why not."""

    name: str
    description: str
    enabled: bool
    why: str
    read_only: bool
    source: str
