"""Finds the endpoints that serve a guild, in order, and keeps their connections.

Invariant: a guild's own endpoints serve that guild alone, and the operator's only guilds that the
operator approved and that brought none, or asked for them as a last resort. A provider is closed
when nothing uses it any more and never during a turn: one whose settings changed serves the turns
that have begun, and then closes.
"""

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeAlias, cast

from chat.personas import Whereabouts
from chat.ports import Place
from data.endpoints import GuildEndpoint
from data.keys import KeyLost, KeyRing
from data.store import Store
from prompt.values import Json, JsonObject
from providers.base import EndpointError, Provider

log = logging.getLogger(__name__)

MODEL = "model"
"""The guild-wide setting that names another model of the operator's endpoint."""

CHANNEL_MODELS = "channel_models"
"""The guild-wide setting that names models, and endpoints by their URLs, for channels by ids."""

_OF_CHANNEL = "channel:"
"""Begins the name of what a channel has first; its id follows."""

LAST_RESORT = "operator_as_last_resort"
"""The guild-wide setting that lets the operator's endpoint answer where the guild's own fail."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """An endpoint that serves a guild.

    `key` is what verdicts on it are kept under: a server at another address is another one. `id`
    names its place in what admins have set, whatever its address. `owner` is the guild that brought
    it, 0 for the operator. `rank` is its place in the guild's order, 0 for the first.
    `settings_hold` tells that it is the endpoint for which the operator's settings name a window.
    `secrets` are the guild's.
    """

    provider: Provider
    key: str
    id: str = ""
    owner: int = 0
    rank: int = 0
    settings_hold: bool = True
    secrets: tuple[str, ...] = field(default=(), repr=False)

    @property
    def names(self) -> Sequence[str]:
        """What settings may call it: by its id, and earlier by its key."""
        return (self.id, self.key) if self.id else (self.key,)

    @property
    def in_place_of_another(self) -> str:
        """Which endpoint it is, in words and without its address; empty for the first."""
        if not self.rank:
            return ""
        return (
            f"endpoint {self.rank + 1} in this server's order, with the model {self.provider.model}"
        )


class NotServed(EndpointError):
    """No endpoint serves this guild; says what its admins can do."""


class KeyUnreadable(NotServed):
    """The key of a guild's endpoint is lost; its other endpoints may still serve it."""


class NoFurther(Exception):
    """A guild has fewer endpoints than that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """Which endpoint and model of a guild is meant: the one at a place in its order, or the one
    that a channel has first."""

    rank: int = 0
    channel_id: int | None = None


FIRST_SPOT = Spot()


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """One of the endpoints that are tried for a guild, or the one that a channel has first.

    `name` stays with it when the order changes, and tells nothing. `url` is empty for the
    operator's, `model` for the first one that the server lists. `spot` is where it is now.
    """

    name: str
    model: str
    url: str = ""
    spot: Spot = FIRST_SPOT


class Connect(Protocol):
    """Makes the provider for a guild's own endpoint."""

    def __call__(self, endpoint: GuildEndpoint, key: str | None, /) -> Provider:
        """`key` is the endpoint's key in the clear."""
        ...


class Routes(Protocol):
    """Where a turn asks for its endpoints."""

    def serving(
        self, guild_id: int | None, rank: int = 0, *, channel_id: int | None = None
    ) -> AbstractAsyncContextManager[Route]:
        """The route of a guild, None for direct messages and the console, for as long as the
        context is open; of a channel where one is named. Those of higher `rank` are to be tried
        when the ones before fail.
        Entering raises EndpointError if there is none, NoFurther if the ranks end before."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Operators:
    """An endpoint of the operator's: the first as it is or with another model, or a fallback."""

    place: int = 0
    model: str = ""

    @property
    def id(self) -> str:
        """Names it, and stays when its address or model changes."""
        return f"operator:{self.place}"


Wanted: TypeAlias = GuildEndpoint | Operators


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelModel:
    """The model of a channel, at the guild's endpoint of this URL, or without one at its first.
    `operators` tells that it is one of the operator's endpoint, chosen by the operator."""

    model: str
    url: str = ""
    operators: bool = False

    def of(self, order: Sequence[Wanted]) -> Wanted | None:
        """What of a guild's endpoints the channel is to have first; None if that is gone."""
        for each in order:
            if isinstance(each, Operators):
                return replace(each, model=self.model) if self.operators else None
            if not self.operators and self.url in ("", each.base_url):
                return replace(each, model=self.model)
        return None


def channel_models(wide: Mapping[str, Json]) -> dict[int, ChannelModel]:
    """The models of channels by id, out of a guild's settings."""
    stored = wide.get(CHANNEL_MODELS)
    if not isinstance(stored, Mapping):
        return {}
    found = {id_: read_channel_model(value) for id_, value in cast("JsonObject", stored).items()}
    return {int(id_): each for id_, each in found.items() if each is not None and id_.isdecimal()}


def read_channel_model(value: Json) -> ChannelModel | None:
    """The model of one channel as it is stored; None if it is not."""
    if not isinstance(value, Mapping):
        return None
    fields = cast("JsonObject", value)
    model, url = fields.get("model"), fields.get("url", "")
    if not isinstance(model, str) or not isinstance(url, str) or not model:
        return None
    return ChannelModel(model=model, url=url, operators=fields.get("operators") is True)


@dataclass(slots=True, kw_only=True)
class _Open:
    """A provider with the settings that it was made from, and how many turns use it."""

    made_from: Wanted
    route: Route
    users: int = 0
    retired: bool = False

    async def retire(self) -> None:
        """Close it now, or with the last turn that uses it."""
        self.retired = True
        if not self.users:
            await self.close()

    async def close(self) -> None:
        """Close the provider, unless it is the operator's, which its maker closes."""
        if isinstance(self.made_from, GuildEndpoint) or self.made_from.model:
            await self.route.provider.close()


class Endpoints:
    """The operator's endpoints, which stay their maker's to close, and those of guilds.

    `connect` makes the provider of a guild's own endpoint, `with_model` one of the operator's
    first with another model. `fallbacks` are the operator's further ones. `is_approved` tells
    whether the operator's may serve a guild, `whereabouts` which channel a thread is in.
    """

    def __init__(
        self,
        *,
        store: Store,
        keys: KeyRing,
        operators: Provider,
        connect: Connect,
        with_model: Callable[[str], Provider],
        is_approved: Callable[[int], Awaitable[bool]],
        fallbacks: Sequence[Provider] = (),
        whereabouts: Whereabouts | None = None,
    ) -> None:
        self._store = store
        self._whereabouts = whereabouts or Whereabouts()
        self._keys = keys
        self._operators = [operators, *fallbacks]
        self._connect = connect
        self._with_model = with_model
        self._is_approved = is_approved
        self._open: dict[int, list[_Open]] = {}

    @property
    def operators(self) -> Provider:
        """The operator's first endpoint with the operator's model."""
        return self._operators[0]

    @asynccontextmanager
    async def serving(
        self, guild_id: int | None, rank: int = 0, *, channel_id: int | None = None
    ) -> AsyncGenerator[Route]:
        """See Routes. Raises NotServed, NoFurther, and StoreError."""
        order = await self._order(guild_id)
        choices = channel_models(await self._store.settings.values(guild_id or 0, ""))
        needed = [*order, *(first for each in choices.values() if (first := each.of(order)))]
        if guild_id is not None and channel_id is not None:
            around = self._whereabouts.of(Place(guild_id=guild_id, channel_id=channel_id))
            choice = choices.get(around.parent_id or channel_id)
            if choice is not None and (first := choice.of(order)) is not None:
                order = [first, *(each for each in order if each not in (first, order[0]))]
        if rank >= len(order):
            raise NoFurther
        wanted = order[rank]
        await self._retire_all_but(guild_id or 0, needed)
        made = self._open.setdefault(guild_id or 0, [])
        used = next((each for each in made if each.made_from == wanted), None)
        if used is None:
            used = _Open(made_from=wanted, route=self._route(wanted))
            made.append(used)
        used.users += 1
        try:
            yield replace(used.route, rank=rank)
        finally:
            used.users -= 1
            if used.retired and not used.users:
                await used.close()

    async def listed(self, guild_id: int) -> Sequence[Listed]:
        """What is tried for a guild, in order, and then what channels have first where that is
        another; nothing where no endpoint serves it."""
        try:
            order = await self._order(guild_id)
        except NotServed:
            return ()
        choices = channel_models(await self._store.settings.values(guild_id, ""))
        spots = [(each.id, each, Spot(rank=rank)) for rank, each in enumerate(order)]
        known = {(each.id, self._model_of(each)) for each in order}
        for channel_id, choice in choices.items():
            first = choice.of(order)
            if first is not None and (pair := (first.id, self._model_of(first))) not in known:
                known.add(pair)
                spots.append((f"{_OF_CHANNEL}{channel_id}", first, Spot(channel_id=channel_id)))
        return [
            Listed(
                name=name,
                model=self._model_of(each),
                url=each.base_url if isinstance(each, GuildEndpoint) else "",
                spot=spot,
            )
            for name, each, spot in spots
        ]

    async def spot(self, guild_id: int, wanted: str) -> Spot:
        """Where the one of this name, URL or number, as people count, is; the first of all where
        it is empty. Raises NoFurther."""
        if not wanted:
            return FIRST_SPOT
        for place, each in enumerate(await self.listed(guild_id)):
            if wanted in (each.name, each.url, f"{place + 1}"):
                return each.spot
        raise NoFurther

    def _model_of(self, wanted: Wanted) -> str:
        if isinstance(wanted, GuildEndpoint):
            return wanted.model
        return wanted.model or self._operators[wanted.place].model

    async def close(self) -> None:
        """Close the providers of guilds; those in use close with their turns."""
        for guild_id in list(self._open):
            await self._retire_all_but(guild_id, ())

    def unsealed(self, endpoint: GuildEndpoint) -> str | None:
        """The key of a guild's own endpoint. Raises KeyLost."""
        if endpoint.sealed_key is None:
            return None
        return self._keys.decrypt_for(endpoint.base_url, endpoint.sealed_key)

    def sealed(self, url: str, key: str) -> str:
        """A key as it is kept: encrypted, and bound to the origin of its URL."""
        return self._keys.encrypt_for(url, key)

    async def _retire_all_but(self, guild_id: int, wanted: Sequence[Wanted]) -> None:
        made = self._open.pop(guild_id, [])
        kept = [each for each in made if each.made_from in wanted]
        if kept:
            self._open[guild_id] = kept
        for each in made:
            if each.made_from not in wanted:
                await each.retire()

    async def _order(self, guild_id: int | None) -> Sequence[Wanted]:
        """The endpoints of a guild, the first to try first."""
        if guild_id is None:
            return self._operators_order("")
        own = await self._store.endpoints.all(guild_id)
        wide = await self._store.settings.values(guild_id, "")
        if own and not wide.get(LAST_RESORT):
            return own
        if await self._is_approved(guild_id):
            model = wide.get(MODEL)
            return [*own, *self._operators_order(model if isinstance(model, str) else "")]
        if own:
            return own
        raise NotServed(
            "No model serves this server yet. Its admins can bring an endpoint with "
            "/config setup, or wait for my operator to let the server use theirs.",
            remedy=f"Approve the server {guild_id} in the direct message about it, or in "
            "VERBATIM_APPROVED_GUILDS.",
        )

    def _operators_order(self, model: str) -> Sequence[Wanted]:
        other = model if model != self.operators.model else ""
        further = range(1, len(self._operators))
        return [Operators(model=other), *(Operators(place=place) for place in further)]

    def _route(self, wanted: Wanted) -> Route:
        if isinstance(wanted, Operators):
            made = self._operators[wanted.place]
            provider = self._with_model(wanted.model) if wanted.model else made
            return Route(
                provider=provider,
                key=made.endpoint,
                id=wanted.id,
                settings_hold=wanted.place == 0,
            )
        try:
            key = self.unsealed(wanted)
        except KeyLost as error:
            raise KeyUnreadable(
                "The key of this server's endpoint can no longer be read. Its admins can enter it "
                "again with /config setup.",
                remedy=str(error),
            ) from None
        provider = self._connect(wanted, key)
        secrets = (key,) if key else ()
        return Route(
            provider=provider,
            key=wanted.id,
            owner=wanted.guild_id,
            settings_hold=False,
            secrets=secrets,
        )
