"""What admins see of a guild's endpoint, switches and tools, and how they change it.

Invariant: what is shown is worked out as a turn works it out, from the same stored values.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager

from chat.breaker import in_words as in_time
from chat.config import DEFAULT, checked, spec_of, switches, turn_config
from chat.endpoints import FIRST_SPOT, Route, Routes, Spot
from chat.generation import Generation
from chat.learning import Learning
from chat.overview import Exposure, ExposureChange, Overview, ToolListing
from chat.switches import MAX_PARALLEL
from chat.tool_settings import (
    ALLOWLIST,
    DISPATCH_MODELS,
    EXPOSURE,
    IMAGES,
    MODES,
    READ_ONLY,
    TOOLS,
    WEB,
    checked_models,
    tool_settings,
)
from chat.toolbox import Toolbox, Toolboxes
from data.store import Store
from prompt.values import Json
from prompt.verbatim import Verdict, wire_mode
from tools.exposure import in_words
from tools.toolset import Offered


class Switchboard:
    """Overviews and switches, each for the endpoint that `routes` gives a guild.

    `generation_of` tells how replies of an endpoint are sampled, `toolboxes` which tools a guild
    has, `is_operator` whether a user runs this bot, `resting` for how many seconds an endpoint is
    left alone, None where it is not.
    """

    def __init__(
        self,
        *,
        store: Store,
        routes: Routes,
        toolboxes: Toolboxes,
        generation_of: Callable[[Route], Generation],
        is_operator: Callable[[int], bool],
        resting: Callable[[Route], float | None] = lambda _: None,
    ) -> None:
        self._store = store
        self._routes = routes
        self._toolboxes = toolboxes
        self._generation_of = generation_of
        self._is_operator = is_operator
        self._resting = resting

    async def overview(self, guild_id: int | None, spot: Spot = FIRST_SPOT) -> Overview:
        """The endpoint, what is known of it, and the guild's switches for its model. Raises
        EndpointError if no endpoint serves the guild, NoFurther if it has no such one."""
        return (await self._seen(guild_id, spot))[0]

    async def _seen(
        self, guild_id: int | None, spot: Spot = FIRST_SPOT
    ) -> tuple[Overview, Toolbox]:
        async with self._at(guild_id, spot) as route:
            provider = route.provider
            if spot != FIRST_SPOT and not provider.model:
                await provider.resolve_model()  # no turn may ever have asked it
        stored = await self._store.settings.values(guild_id or 0, provider.model)
        verdict = await Learning(store=self._store, route=route).verdict()
        config = turn_config(stored, verdict.learnt)
        generation = self._generation_of(route)
        toolbox = await self._toolboxes.gather(route, guild_id or 0, generation.window)
        surface = toolbox.surface(config)
        overview = Overview(
            endpoint=provider.endpoint,
            model=provider.model,
            mode=wire_mode(config.tools, verdict, surface),
            verdict=verdict,
            tool_mode=config.tools.tool_mode,
            context_window=generation.holding(config.context_window).context_window,
            switches=switches(stored, verdict.learnt),
            brought=route.owner != 0,
            notes=_notes(self._resting(route), verdict),
            exposure=in_words(surface),
            deferred=frozenset(spec.registered or spec.name for spec in surface.deferred),
        )
        return overview, toolbox

    def _at(self, guild_id: int | None, spot: Spot) -> AbstractAsyncContextManager[Route]:
        return self._routes.serving(guild_id, spot.rank, channel_id=spot.channel_id)

    async def configure(
        self,
        guild_id: int | None,
        name: str,
        value: str,
        *,
        by: int | None = None,
        spot: Spot = FIRST_SPOT,
    ) -> None:
        """Set a switch of a guild for the model of `spot`, or with the value `default` no longer.
        ValueError says what is wrong with the name or value.

        How many requests the operator's endpoint takes is set for all guilds if the operator,
        user `by`, sets it for one.
        """
        stored = checked(name, value) if value != DEFAULT or spec_of(name) is None else None
        async with self._at(guild_id, spot) as route:
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
        """Every tool that the guild has, on or off."""
        overview, toolbox = await self._seen(guild_id)
        return [_listing(entry, overview, toolbox) for entry in toolbox.offered]

    async def exposure(self, guild_id: int | None) -> Exposure:
        """How the guild's tools are exposed."""
        async with self._routes.serving(guild_id) as route:
            names = route.names
        overview, toolbox = await self._seen(guild_id)
        settings, gates = toolbox.settings, toolbox.settings.gates
        return Exposure(
            mode=settings.mode,
            read_only=gates.read_only,
            web=gates.web,
            images=gates.images,
            dispatch=settings.models_of(names),
            allowlist=None if gates.allowlist is None else sorted(gates.allowlist),
            now=overview.exposure,
        )

    async def expose(self, guild_id: int | None, change: ExposureChange) -> Exposure:
        """Set what `change` names; how tools are exposed then. ValueError says what is wrong."""
        if change.mode is not None and change.mode not in MODES:
            raise ValueError(f"The mode is one of: {', '.join(MODES)}.")
        given: dict[str, Json] = {
            EXPOSURE: change.mode,
            READ_ONLY: change.read_only,
            WEB: change.web,
            IMAGES: change.images,
        }
        if change.dispatch is not None:
            models = checked_models(change.dispatch)
            async with self._routes.serving(guild_id) as route:
                id_, *former = route.names

            def dispatched(present: Json) -> Json:
                lists = tool_settings({DISPATCH_MODELS: present}).dispatch_models
                others = {name: each for name, each in lists.items() if name not in former}
                stored = {**others, id_: models}
                return {name: list(each) for name, each in stored.items() if each} or None

            await self._store.settings.change(guild_id or 0, "", DISPATCH_MODELS, dispatched)
        for name, value in given.items():
            if value is not None:
                await self._store.settings.put(guild_id or 0, "", name, value)
        return await self.exposure(guild_id)

    async def allow(self, guild_id: int | None, names: Sequence[str] | None) -> Exposure:
        """Let a guild's turns use these tools alone, or with None all. ValueError names a tool
        that there is not."""
        if names is not None:
            await self._known(guild_id, names)
        allowed = None if names is None else sorted(set(names))
        await self._store.settings.put(guild_id or 0, "", ALLOWLIST, allowed)
        return await self.exposure(guild_id)

    async def toggle(self, guild_id: int | None, name: str, on: bool | None) -> ToolListing:
        """Switch one tool on or off, or with None back to its default; how it is listed then.
        ValueError says that there is no such tool."""
        await self._known(guild_id, [name])

        def change(present: Json) -> Json:
            switched = dict(tool_settings({TOOLS: present}).gates.switched)
            switched.pop(name, None)
            if on is not None:
                switched[name] = on
            return {**switched} or None

        await self._store.settings.change(guild_id or 0, "", TOOLS, change)
        return next(tool for tool in await self.tools(guild_id) if tool.name == name)

    async def _known(self, guild_id: int | None, names: Sequence[str]) -> None:
        there = {tool.name for tool in await self.tools(guild_id)}
        for name in names:
            if name not in there:
                raise ValueError(f"There is no tool named {name}. /tool list shows all there are.")


def _listing(entry: Offered, overview: Overview, toolbox: Toolbox) -> ToolListing:
    spec = entry.tool.spec
    why_off = toolbox.why_off(entry, overview.mode)
    if overview.mode == "off":
        why_off = why_off or "tools are off for this guild and model (/config workarounds)"
    origin = "built in" if spec.source == "builtin" else spec.source
    why_on = f"{origin}, found by search" if spec.name in overview.deferred else origin
    return ToolListing(
        name=spec.name,
        description=spec.description,
        enabled=not why_off,
        why=why_off or why_on,
        read_only=spec.read_only,
        source=spec.source,
    )


def _notes(resting: float | None, verdict: Verdict) -> Sequence[str]:
    """What is wrong with an endpoint, and what helps, a sentence or two each."""
    notes: list[str] = []
    if resting is not None:
        notes.append(f"Paused, since it has not answered lately; tried again {in_time(resting)}.")
    if verdict.cut_at is not None:
        notes.append(
            f"It cut a longer prompt to {verdict.cut_at:,} tokens without saying so. Give it a "
            "larger window (Ollama: OLLAMA_CONTEXT_LENGTH, or PARAMETER num_ctx in the Modelfile), "
            "and set context_window to that."
        )
    return notes
