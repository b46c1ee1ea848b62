"""What tools need to know of the services that they call for a guild.

Invariant: values alone. A key is in no repr, and goes to the URL beside it and nowhere else.
"""

from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """A service that a guild may use.

    `provider` is its kind of protocol. `url` and `model` are empty where the provider has none.
    `allow_private` tells that the operator set the URL, which may lie in their own network.
    """

    provider: str
    url: str = ""
    model: str = ""
    key: str | None = field(default=None, repr=False)
    allow_private: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """Why a guild has no such service, and what would give it one."""

    why: str


class Services(Protocol):
    """Knows the services of each guild. Guild 0 stands for direct messages and the console."""

    async def search(self, guild_id: int) -> Service | Missing:
        """Who searches the web: `searxng`, `brave` or `ddgs`."""
        ...

    async def images(self, guild_id: int) -> Service | Missing:
        """Who draws: an endpoint with OpenAI's images route."""
        ...
