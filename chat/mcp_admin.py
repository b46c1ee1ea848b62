"""What a guild's admins do with MCP servers: bring, look at, test, switch and remove them.

Invariant: a guild's admins see and change their own guild's servers alone, a private address is
the operator's to set, and a token is never handed out again in any form.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from data.keys import KeyRing
from data.store import Store
from net.guard import AddressRefused, check_url
from tools.mcp.names import is_server_name
from tools.mcp.toolset import McpToolset, ServerView, Tested

MOST_SERVERS = 10
"""Servers of one guild."""

LONGEST_NAME = 32
LONGEST_URL = 500


class McpRefused(Exception):
    """Something that cannot be done so. The text tells the admin why and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewServer:
    """A server as an admin entered it. Without a token, the one that is kept for the same name and
    address stays."""

    name: str
    url: str
    token: str = ""
    trusted: bool = False


class McpAdmin:
    """Over the store and the toolset that speaks to servers. `is_operator` tells whether a user
    runs this bot."""

    def __init__(
        self,
        *,
        store: Store,
        keys: KeyRing,
        toolset: McpToolset,
        is_operator: Callable[[int], bool],
    ) -> None:
        self._store = store
        self._keys = keys
        self._is_operator = is_operator
        self._adding = asyncio.Lock()
        self.toolset = toolset

    async def names(self, guild_id: int) -> Sequence[str]:
        """The guild's own servers."""
        return [server.name for server in await self._store.mcp_servers.all(guild_id)]

    async def servers(self, guild_id: int) -> Sequence[ServerView]:
        """The operator's servers and the guild's, as they are at this moment."""
        return await self.toolset.view(guild_id)

    async def add(self, guild_id: int, server: NewServer, *, by: int) -> Tested:
        """Keep a server and connect to it. Raises McpRefused; a server that does not answer is
        kept all the same, since it may later."""
        name, url = server.name.strip(), server.url.strip()
        if not is_server_name(name) or len(name) > LONGEST_NAME:
            raise McpRefused(
                f"A name has 1 to {LONGEST_NAME} letters, digits, - and _, without two _ in a row."
            )
        if self.toolset.is_operators(name):
            raise McpRefused(f"My operator has a server called {name}. Choose another name.")
        allow_private = self._is_operator(by)
        if len(url) > LONGEST_URL:
            raise McpRefused(f"The URL has more than {LONGEST_URL} characters.")
        try:
            await check_url(url, allow_private=allow_private)
        except AddressRefused as error:
            raise McpRefused(str(error)) from error
        except (OSError, TimeoutError) as error:
            raise McpRefused("The host could not be looked up. Try again in a minute.") from error
        token = server.token.strip()
        if token and not (token.isascii() and token.isprintable()):
            raise McpRefused("The token has characters that no token can have. Copy it again.")
        async with self._adding:
            present = await self._store.mcp_servers.all(guild_id)
            if len(present) >= MOST_SERVERS and name not in {one.name for one in present}:
                raise McpRefused(
                    f"This server has {MOST_SERVERS} MCP servers already. Remove one first with "
                    "/mcp remove."
                )
            await self._store.mcp_servers.put(
                guild_id,
                name,
                url=url,
                sealed_token=self._keys.encrypt_for(url, token) if token else None,
                trusted=server.trusted,
                allow_private=allow_private,
                set_by=by,
            )
        await self.toolset.view(guild_id)  # which connects to it
        return await self.test(guild_id, name)

    async def test(self, guild_id: int, name: str) -> Tested:
        """Connect to one of the guild's servers now. Raises McpRefused."""
        tested = await self.toolset.test(guild_id, name)
        if tested is None:
            raise self._unknown(name)
        return tested

    async def toggle(self, guild_id: int, name: str) -> bool:
        """Switch a server off or on; whether it is on now. Raises McpRefused."""
        server = await self._store.mcp_servers.get(guild_id, name)
        if server is None:
            raise self._unknown(name)
        await self._store.mcp_servers.set_enabled(guild_id, name, enabled=not server.enabled)
        await self.toolset.view(guild_id)
        return not server.enabled

    async def trust(self, guild_id: int, name: str) -> bool:
        """Trust a server, or no longer; whether it is trusted now. Raises McpRefused."""
        server = await self._store.mcp_servers.get(guild_id, name)
        if server is None:
            raise self._unknown(name)
        await self._store.mcp_servers.set_trusted(guild_id, name, trusted=not server.trusted)
        return not server.trusted

    async def remove(self, guild_id: int, name: str) -> None:
        """Forget a server with its token. Raises McpRefused."""
        if not await self._store.mcp_servers.remove(guild_id, name):
            raise self._unknown(name)
        await self.toolset.view(guild_id)

    def _unknown(self, name: str) -> McpRefused:
        if self.toolset.is_operators(name):
            return McpRefused(f"{name} is my operator's; it is set up in their mcp.json.")
        return McpRefused("There is no such MCP server here. /mcp list shows those that are.")


def is_plain(url: str) -> bool:
    """Whether a token would travel to this address in the clear."""
    return urlsplit(url).scheme == "http"
