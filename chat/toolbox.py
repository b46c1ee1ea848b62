"""Gathers the tools that one guild has, for one turn or for a list of them.

Invariant: toolsets are asked once a turn. Surface and look-up come from the same answer, so a call
that the surface offers finds its tool, and a tool of another guild is in neither.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from chat.config import TurnConfig
from chat.endpoints import Route
from chat.hunt import Hunt, hunt_of, mark_of
from chat.learning import Learning
from chat.tool_settings import ToolSettings, tool_settings
from data.store import Store
from prompt.surface import ToolSurface
from prompt.values import ToolCall, Turn
from tools.registry import Tool
from tools.surface import build_surface
from tools.toolset import Offered, Toolset

log = logging.getLogger(__name__)


def _unknown_window(window: int | None) -> int | None:
    return window


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolbox:
    """The tools of one guild. `offered` are all, also those that are off.

    `hunt` knows which of them the endpoint cannot take. `stable` tells that the stable dispatcher
    is on for the model that answers. `window` gives the tokens that a configured context window
    comes to.
    """

    offered: tuple[Offered, ...] = ()
    settings: ToolSettings = field(default=ToolSettings())
    hunt: Hunt = field(default=Hunt())
    stable: bool = False
    window: Callable[[int | None], int | None] = _unknown_window

    @property
    def tools(self) -> Mapping[str, Tool]:
        """Every tool by its own name."""
        return {entry.tool.spec.name: entry.tool for entry in self.offered}

    def why_off(self, entry: Offered, mode: str) -> str:
        """Why turns in that mode are not offered this tool, in words; empty where they are."""
        return self.settings.gates.why_off(entry) or self._why_left_out(entry, mode)

    def _why_left_out(self, entry: Offered, mode: str) -> str:
        """Without the field, no server compiles a schema."""
        return "" if mode == "verbatim_only" else self.hunt.why_off(entry.tool.spec)

    def marks(self, surface: ToolSurface) -> tuple[str, ...]:
        """The marks of those of its tools whose schemas stand in a request's array."""
        tools = self.tools
        names = [spec.registered or spec.name for spec in surface.direct]
        return tuple(mark_of(tools[name].spec) for name in names if name in tools)

    def surface(self, config: TurnConfig) -> ToolSurface:
        """The tools that a turn run with `config` offers."""
        window = self.window(config.context_window)
        return build_surface(
            [each for each in self.offered if not self._why_left_out(each, config.tools.tool_mode)],
            gates=self.settings.gates,
            level=config.schema_level,
            mode=self.settings.mode,
            stable=self.stable,
            most_tokens=window and window * config.tool_budget_percent // 100,
        )

    def with_in_place(self, entry: Offered) -> "Toolbox":
        """This with `entry` instead of the tool with the same spec, where there is one."""
        spec = entry.tool.spec
        offered = (entry if each.tool.spec == spec else each for each in self.offered)
        return replace(self, offered=tuple(offered))

    def without_images(self) -> "Toolbox":
        """This where no images may be made."""
        gates = replace(self.settings.gates, images=False)
        return replace(self, settings=replace(self.settings, gates=gates))

    def over(self, dialogue: Sequence[Turn]) -> "Toolbox":
        """This for a turn with that history. Calls with one id could not be told apart once they
        are written as dispatcher calls, so the stable dispatcher is left off then."""
        ids = [part.id for turn in dialogue for part in turn.parts if isinstance(part, ToolCall)]
        return self if len(set(ids)) == len(ids) else replace(self, stable=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolboxes:
    """Gathers toolboxes for any guild; of two tools with one name the earlier toolset's counts."""

    store: Store
    toolsets: Sequence[Toolset]

    async def gather(
        self, route: Route, guild_id: int, window: Callable[[int | None], int | None]
    ) -> Toolbox:
        """The tools that a guild has, for turns that `route` answers. See Toolbox for `window`."""
        settings = tool_settings(await self.store.settings.values(guild_id, ""))
        offered = await self._offered(guild_id)
        verdict = await Learning(store=self.store, route=route).verdict()
        if hunt := hunt_of(verdict.learnt):
            may_be = [one.tool.spec for one in offered if not settings.gates.why_off(one)]
            hunt = hunt.among({mark_of(spec) for spec in may_be})
        return Toolbox(
            offered=offered,
            settings=settings,
            hunt=hunt,
            stable=settings.is_stable(route.names, route.provider.model),
            window=window,
        )

    async def _offered(self, guild_id: int) -> tuple[Offered, ...]:
        found: dict[str, Offered] = {}
        for toolset in self.toolsets:
            for entry in await toolset.offered(guild_id):
                name = entry.tool.spec.name
                if entry.guild_id not in (None, guild_id):
                    continue  # a tool of another guild does not exist here
                if name in found:
                    log.warning("two tools are called %s; the second one is left out", name)
                else:
                    found[name] = entry
        return tuple(found.values())
