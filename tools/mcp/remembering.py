"""What servers listed last, kept over restarts.

Invariant: what is kept is what `vetting` made of a server's words, and is given back for a server
at the same place alone. Trouble with the database costs the memory, never a connection.
"""

import hashlib
import json
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import asdict
from typing import TypeAlias, cast

from data.errors import StoreError
from data.mcp_listings import McpListing, McpListings
from data.mcp_servers import HttpServer
from prompt.values import Json, JsonObject
from tools.mcp.link import Server
from tools.mcp.vetting import Hints, VettedTool

log = logging.getLogger(__name__)

Tools: TypeAlias = tuple[VettedTool, ...]


class Memory:
    """The listings of all servers, by scope (the guild, 0 for the operator) and name."""

    def __init__(self, listings: McpListings) -> None:
        self._listings = listings

    async def of(self, scope: int, servers: Collection[Server]) -> Mapping[str, Tools]:
        """The last known tools of some servers by name; those that have never been reached, or
        lie elsewhere now, are left out. What is kept of other servers of the scope is forgotten."""
        try:
            kept = await self._listings.of(scope)
            names = {server.name for server in servers}
            if not kept.keys() <= names:
                await self._listings.keep(scope, names)
        except StoreError as error:
            log.error("The tools of MCP servers are not known before they answer: %s", error)
            return {}
        return {
            server.name: _read(kept[server.name].tools)
            for server in servers
            if server.name in kept and kept[server.name].reached == _place(server)
        }

    def keeper(self, scope: int, server: Server) -> Callable[[Tools], Awaitable[None]]:
        """What takes note of a server's tools."""

        async def keep(tools: Tools) -> None:
            listing = McpListing(reached=_place(server), tools=[asdict(tool) for tool in tools])
            try:
                await self._listings.put(scope, server.name, listing)
            except StoreError as error:
                log.error("The tools of MCP server %s are not kept: %s", server.name, error)

        return keep


def _place(server: Server) -> str:
    """Names where a server lies, without its token: that may change, and its tools stay."""
    if isinstance(server, HttpServer):
        where: Json = ["http", server.url]
    else:
        where = ["stdio", server.command, server.args, server.cwd]
    return hashlib.sha256(json.dumps(where).encode()).hexdigest()


def _read(tools: Json) -> Tools:
    """The tools as they were kept; none where another version of the bot kept them otherwise."""
    try:
        return tuple(_tool(fields) for fields in cast("Sequence[JsonObject]", tools))
    except (KeyError, TypeError):
        return ()


def _tool(fields: JsonObject) -> VettedTool:
    return VettedTool(
        name=fields["name"],
        description=fields["description"],
        parameters=fields["parameters"],
        hints=Hints(**fields["hints"]),
        refused=fields["refused"],
        dropped=tuple(fields.get("dropped", ())),
    )
