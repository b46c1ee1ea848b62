"""Gives each guild its embeddings endpoint.

Invariant: an embedder serves a guild only while that endpoint is what the guild, or the operator
for it, has set; one that another took the place of is closed.
"""

from collections.abc import Callable
from typing import Protocol

from chat.services import ChosenServices
from data.knowledge import Embedder
from net.transport import PinnedTransport
from providers.openai.embeddings import OpenAIEmbedder
from tools.services import Missing, Service


class ClosableEmbedder(Embedder, Protocol):
    """An embedder that holds connections."""

    async def close(self) -> None:
        """Release them."""
        ...


def connected(service: Service) -> ClosableEmbedder:
    """The embedder at a service. One that a guild has named is connected to at vetted addresses
    alone."""
    return OpenAIEmbedder(
        base_url=service.url,
        model=service.model,
        api_key=service.key,
        transport=None if service.allow_private else PinnedTransport(allow_private=False),
    )


class ChosenEmbedders:
    """See data.knowledge.Embedders."""

    def __init__(
        self,
        services: ChosenServices,
        connect: Callable[[Service], ClosableEmbedder] = connected,
    ) -> None:
        self._services = services
        self._connect = connect
        self._held: dict[int, tuple[Service, ClosableEmbedder]] = {}

    async def of(self, guild_id: int) -> Embedder | None:
        """See Embedders."""
        service = await self._services.embeddings(guild_id)
        held = self._held.get(guild_id)
        if held is not None and held[0] == service:
            return held[1]
        if held is not None:
            del self._held[guild_id]
            await held[1].close()
            return await self.of(guild_id)
        if isinstance(service, Missing):
            return None
        embedder = self._connect(service)
        self._held[guild_id] = service, embedder
        return embedder

    async def close(self) -> None:
        """Close every embedder."""
        while self._held:
            _, (_, embedder) = self._held.popitem()
            await embedder.close()
