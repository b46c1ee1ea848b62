"""What admins see of a guild's endpoint, switches and tools, and how they change it.

Invariant: what is shown is worked out as a turn works it out, from the same stored values.
"""

from collections.abc import Callable, Sequence

from chat.config import DEFAULT, TurnConfig, checked, spec_of, switches, turn_config
from chat.endpoints import Route, Routes
from chat.generation import Generation
from chat.learning import Learning
from chat.overview import Overview, ToolListing
from chat.switches import MAX_PARALLEL
from data.store import Store
from prompt.surface import ToolSurface
from prompt.verbatim import wire_mode
from tools.registry import Registry


class Switchboard:
    """Overviews and switches, each for the endpoint that `routes` gives a guild.

    `generation_of` tells how replies of an endpoint are sampled, `surface` which tools a
    configuration offers, `is_operator` whether a user runs this bot.
    """

    def __init__(
        self,
        *,
        store: Store,
        routes: Routes,
        registry: Registry,
        generation_of: Callable[[Route], Generation],
        surface: Callable[[TurnConfig], ToolSurface],
        is_operator: Callable[[int], bool],
    ) -> None:
        self._store = store
        self._routes = routes
        self._registry = registry
        self._generation_of = generation_of
        self._surface = surface
        self._is_operator = is_operator

    async def overview(self, guild_id: int | None) -> Overview:
        """The endpoint, what is known of it, and the guild's switches. Raises EndpointError if
        no endpoint serves the guild."""
        async with self._routes.serving(guild_id) as route:
            provider = route.provider
        stored = await self._store.settings.values(guild_id or 0, provider.model)
        verdict = await Learning(store=self._store, route=route).verdict()
        config = turn_config(stored, verdict.learnt)
        return Overview(
            endpoint=provider.endpoint,
            model=provider.model,
            mode=wire_mode(config.tools, verdict, self._surface(config)),
            verdict=verdict,
            tool_mode=config.tools.tool_mode,
            context_window=self._generation_of(route).holding(config.context_window).context_window,
            switches=switches(stored, verdict.learnt),
            brought=route.owner != 0,
        )

    async def configure(
        self, guild_id: int | None, name: str, value: str, *, by: int | None = None
    ) -> None:
        """Set a switch of a guild, or with the value `default` no longer. ValueError says what is
        wrong with the name or value.

        How many requests the operator's endpoint takes is set for all guilds if the operator,
        user `by`, sets it for one.
        """
        stored = checked(name, value) if value != DEFAULT or spec_of(name) is None else None
        async with self._routes.serving(guild_id) as route:
            if not route.provider.model:
                raise ValueError(
                    "The endpoint has not named its model yet. Start it, or set VERBATIM_MODEL."
                )
            scopes = {guild_id or 0}
            operators = not route.owner and by is not None and self._is_operator(by)
            if operators and name == MAX_PARALLEL:
                scopes.add(0)
            for scope in scopes:
                await self._store.settings.put(scope, route.provider.model, name, stored)

    async def tools(self, guild_id: int | None) -> Sequence[ToolListing]:
        """Every tool there is."""
        overview = await self.overview(guild_id)
        why = (
            "tools are off for this guild and model (/config workarounds)"
            if overview.mode == "off"
            else "built in"
        )
        return [
            ToolListing(
                name=tool.spec.name,
                description=tool.spec.description,
                enabled=overview.mode != "off",
                why=why,
                read_only=tool.spec.read_only,
                source=tool.spec.source,
            )
            for tool in self._registry
        ]
