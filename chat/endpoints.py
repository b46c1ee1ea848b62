"""Finds the endpoint that serves a guild, and keeps its connections.

Invariant: a guild's own endpoint serves that guild alone, and the operator's only guilds that the
operator approved. A provider is closed when nothing uses it any more and never during a turn: one
whose settings changed serves the turns that have begun, and then closes.
"""

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Protocol

from data.endpoints import GuildEndpoint
from data.keys import KeyLost, KeyRing
from data.store import Store
from providers.base import EndpointError, Provider

log = logging.getLogger(__name__)

MODEL = "model"
"""The guild-wide setting that names another model of the operator's endpoint."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """The endpoint that serves a guild.

    `key` is what verdicts on it are kept under. `owner` is the guild that brought it, 0 for the
    operator. `secrets` are the guild's own.
    """

    provider: Provider
    key: str
    owner: int = 0
    secrets: tuple[str, ...] = field(default=(), repr=False)


class NotServed(EndpointError):
    """No endpoint serves this guild; says what its admins can do."""


class Connect(Protocol):
    """Makes the provider for a guild's own endpoint."""

    def __call__(self, endpoint: GuildEndpoint, key: str | None, /) -> Provider:
        """`key` is the endpoint's key in the clear."""
        ...


class Routes(Protocol):
    """Where a turn asks for its endpoint."""

    def serving(self, guild_id: int | None) -> AbstractAsyncContextManager[Route]:
        """The route of a guild, None for direct messages and the console, for as long as the
        context is open. Entering raises EndpointError if there is none."""
        ...


@dataclass(slots=True, kw_only=True)
class _Open:
    """A provider with the settings that it was made from, and how many turns use it."""

    made_from: GuildEndpoint | str | None
    route: Route
    users: int = 0
    retired: bool = False

    async def retire(self) -> None:
        """Close it now, or with the last turn that uses it."""
        self.retired = True
        if not self.users:
            await self.route.provider.close()


class Endpoints:
    """The operator's endpoint, which stays its maker's to close, and those of guilds.

    `connect` makes the provider of a guild's own endpoint, `with_model` one of the operator's
    with another model. `is_approved` tells whether the operator's may serve a guild.
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
    ) -> None:
        self._store = store
        self._keys = keys
        self._operators = operators
        self._connect = connect
        self._with_model = with_model
        self._is_approved = is_approved
        self._open: dict[int, _Open] = {}

    @property
    def operators(self) -> Provider:
        """The operator's endpoint with the operator's model."""
        return self._operators

    @asynccontextmanager
    async def serving(self, guild_id: int | None) -> AsyncGenerator[Route]:
        """See Routes. Raises NotServed, and StoreError."""
        wanted = await self._wanted(guild_id)
        used = self._open.get(guild_id or 0)
        if used is None or used.made_from != wanted:
            outdated = self._open.pop(guild_id or 0, None)
            used = _Open(made_from=wanted, route=self._route(wanted))
            if wanted is not None:
                self._open[guild_id or 0] = used
            if outdated is not None:
                await outdated.retire()
        used.users += 1
        try:
            yield used.route
        finally:
            used.users -= 1
            if used.retired and not used.users:
                await used.route.provider.close()

    async def close(self) -> None:
        """Close the providers of guilds; those in use close with their turns."""
        while self._open:
            _, used = self._open.popitem()
            await used.retire()

    def unsealed(self, endpoint: GuildEndpoint) -> str | None:
        """The key of a guild's own endpoint. Raises KeyLost."""
        if endpoint.sealed_key is None:
            return None
        return self._keys.decrypt_for(endpoint.base_url, endpoint.sealed_key)

    def sealed(self, url: str, key: str) -> str:
        """A key as it is kept: encrypted, and bound to the origin of its URL."""
        return self._keys.encrypt_for(url, key)

    async def _wanted(self, guild_id: int | None) -> GuildEndpoint | str | None:
        """The guild's own endpoint, a model of the operator's, or None for the operator's as it
        is."""
        if guild_id is None:
            return None
        if (own := await self._store.endpoints.get(guild_id)) is not None:
            return own
        if not await self._is_approved(guild_id):
            raise NotServed(
                "No model serves this server yet. Its admins can bring an endpoint with "
                "/config setup, or wait for my operator to let the server use theirs.",
                remedy=f"Approve the server {guild_id} in the direct message about it, or in "
                "VERBATIM_APPROVED_GUILDS.",
            )
        model = (await self._store.settings.values(guild_id, "")).get(MODEL)
        return model if isinstance(model, str) and model != self._operators.model else None

    def _route(self, wanted: GuildEndpoint | str | None) -> Route:
        if wanted is None:
            return Route(provider=self._operators, key=self._operators.endpoint)
        if isinstance(wanted, str):
            return Route(provider=self._with_model(wanted), key=self._operators.endpoint)
        try:
            key = self.unsealed(wanted)
        except KeyLost as error:
            raise NotServed(
                "The key of this server's endpoint can no longer be read. Its admins can enter it "
                "again with /config setup.",
                remedy=str(error),
            ) from None
        provider = self._connect(wanted, key)
        secrets = (key,) if key else ()
        return Route(provider=provider, key=wanted.id, owner=wanted.guild_id, secrets=secrets)
