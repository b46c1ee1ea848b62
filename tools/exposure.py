"""Which tools a turn may have at all, and which of them stand in the array from the start.

Invariant: gates come first and alone decide what exists; the split only decides where it stands,
so no promotion brings back what a gate took out.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from prompt.dispatcher import EXECUTE_TOOL, TOOL_SEARCH, USE_LOADED_TOOL
from prompt.surface import ToolSurface, advertisement
from prompt.values import ToolSpec
from tools.dispatcher import DISPATCHER_SPECS
from tools.search import SEARCH_SPEC
from tools.toolset import Offered

ExposureMode: TypeAlias = Literal["upfront", "search"]
"""All tools in the array, or the core there and the rest behind a search."""

CORE = frozenset({"read_channel", "knowledge_search", "current_time", "remember", "recall"})
"""Tools that stand in the array whatever the mode."""

ALWAYS_UPFRONT = frozenset({"web_search", "generate_image"})
"""Tools whose own toggle takes them out before a guild's allowlist is asked and adds them again
after it. The dispatcher asks the allowlist once more and would refuse them, so they are never
deferred. `web_fetch` shares a toggle but not this way past the allowlist."""

WEB = frozenset({"web_search", "web_fetch"})
IMAGES = frozenset({"generate_image"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Gates:
    """What a guild lets its turns have.

    `read_only` takes out every tool that does not only read. `web` and `images` are toggles of a
    few tools. `switched` holds single tools by name, on or off. `allowlist` are the names that
    may be used, None for all.
    """

    read_only: bool = False
    web: bool = False
    images: bool = False
    switched: Mapping[str, bool] = field(default_factory=dict[str, bool])
    allowlist: frozenset[str] | None = None

    def why_off(self, offered: Offered) -> str:
        """Why a guild's turns are not offered this tool, in words; empty where they are."""
        spec = offered.tool.spec
        if offered.off:
            return offered.off
        if self.read_only and not spec.read_only:
            return "it changes something, and this server is read-only (/config exposure)"
        if spec.name in WEB and not self.web:
            return "the web is off (/config exposure)"
        if spec.name in IMAGES and not self.images:
            return "images are off (/config exposure)"
        if not self.switched.get(spec.name, not offered.optional):
            return "switched off" if spec.name in self.switched else "off by default"
        past_allowlist = spec.name in ALWAYS_UPFRONT
        if self.allowlist is not None and spec.name not in self.allowlist and not past_allowlist:
            return "not on this server's allowlist (/config allowlist)"
        return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exposed:
    """The tools of the array, and the names of those that only a search shows."""

    tools: Mapping[str, ToolSpec]
    advertised: tuple[str, ...] = ()

    @property
    def prompt(self) -> str:
        """What the prompt says of the others."""
        return advertisement(self.advertised)


def split(
    tools: Mapping[str, ToolSpec], up: Collection[str] = ()
) -> tuple[dict[str, ToolSpec], dict[str, ToolSpec]]:
    """Direct tools, which are core or in `up`, and deferred ones; each in its order."""
    direct = {name: spec for name, spec in tools.items() if name in CORE or name in up}
    return direct, {name: spec for name, spec in tools.items() if name not in direct}


def exclude_up(tools: Mapping[str, ToolSpec], up: Collection[str]) -> dict[str, ToolSpec]:
    """What a search looks through: core too, but not what stands in the array by a toggle."""
    return {name: spec for name, spec in tools.items() if name not in up}


def apply(
    tools: Mapping[str, ToolSpec],
    mode: ExposureMode,
    up: Collection[str] = (),
    *,
    dispatcher: str = EXECUTE_TOOL,
) -> Exposed:
    """`tools` themselves if the mode is upfront or nothing would be deferred. Otherwise core, then
    those in `up`, then the search and the dispatcher."""
    direct, deferred = split(tools, up)
    if mode == "upfront" or not deferred:
        return Exposed(tools=tools)
    core = {name: spec for name, spec in direct.items() if name not in up}
    promoted = {name: spec for name, spec in direct.items() if name in up}
    meta = {TOOL_SEARCH: SEARCH_SPEC, dispatcher: DISPATCHER_SPECS[dispatcher]}
    return Exposed(tools={**core, **promoted, **meta}, advertised=tuple(deferred))


def in_words(surface: ToolSurface) -> str:
    """How a surface shows its tools to the model."""
    array, waiting = len(surface.direct), len(surface.deferred)
    if not waiting:
        return "upfront: 1 tool" if array == 1 else f"upfront: {array} tools"
    how = "stable dispatcher" if surface.dispatcher == USE_LOADED_TOOL else "search"
    if not surface.over_budget:
        return f"{how}: {array} tools at hand, {waiting} found by search"
    return (
        f"{how}: {array} tools at hand, {waiting} found by search, since all of them pass "
        "tool_budget_percent"
    )
