"""The tools of MCP servers: the operator's for everyone, a guild's own for that guild.

Invariant: nothing of one guild's servers is seen or called for another guild. A server that is
away, or that was never reached, costs its own tools and nothing else.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace

from data.keys import KeyLost, KeyRing
from data.mcp_servers import GuildMcpServer, GuildMcpServers, HttpServer
from prompt.values import JsonObject, Rate, ToolSpec
from tools.mcp.connection import Connection, Limits, State
from tools.mcp.link import Changed, HttpRefused, Link, Opener, Server
from tools.mcp.listing import list_tools
from tools.mcp.names import ToolKey, wire_names
from tools.mcp.remembering import Memory, Tools
from tools.mcp.results import output_of
from tools.mcp.vetting import VettedTool, flags_of, vetted
from tools.mcp.words import in_words
from tools.registry import ToolContext, ToolOutput
from tools.toolset import Offered

OPERATORS = 0
"""The scope of the operator's servers, which are there for everyone."""

RATE = Rate(calls=30, seconds=60)
"""For each tool of a server: somebody else's machine does the work."""

_NO_TOKEN = {"Authorization": ""}
"""Headers of a server whose token is lost; no server has these otherwise."""

_KEY_LOST = "Its token can no longer be read. Add the server again, with the token."
_SWITCHED_OFF = "its MCP server is switched off"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerView:
    """A server as people are shown it. `ours` tells that it is the operator's."""

    name: str
    ours: bool
    url: str
    enabled: bool
    trusted: bool
    state: State
    error: str
    tools: Sequence[VettedTool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tested:
    """What came of connecting to a server. `error` says in words what went wrong."""

    seconds: float
    tools: Sequence[VettedTool] = ()
    about: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class McpTool:
    """A tool of a server. It runs at the connection that it was listed at, by the server's own
    name for it."""

    spec: ToolSpec
    _connection: Connection
    _name: str

    async def run(self, context: ToolContext, arguments: JsonObject) -> ToolOutput:
        """See Tool. Nothing of the context is sent."""
        return output_of(await self._connection.call(self._name, arguments), tool=self._name)


@dataclass(frozen=True, slots=True)
class _Entry:
    server: Server
    connection: Connection


class McpToolset:
    """A toolset over `servers` of guilds and those of the operator.

    Connections are made by `opener` when a guild is first asked about, or by `start`.
    """

    def __init__(
        self,
        servers: GuildMcpServers,
        keys: KeyRing,
        *,
        operators: Sequence[Server] = (),
        opener: Opener | None = None,
        limits: Limits | None = None,
        connection: Callable[..., Connection] = Connection,
    ) -> None:
        self._servers = servers
        self._memory = Memory(servers.listings)
        self._keys = keys
        self._operators = operators
        self._opener = opener or Opener()
        self._limits = limits or Limits()
        self._connection = connection
        self._entries: dict[tuple[int, str], _Entry] = {}
        self._stopping: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Connect to the operator's servers that are switched on, in the background."""
        await self._entries_of(OPERATORS, self._operators)

    async def serve(self, guild_ids: Collection[int]) -> None:
        """Connect to what these guilds have switched on, in the background, and disconnect from
        what others have: the bot is on no others."""
        for guild_id in {scope for scope, _ in self._entries} - {OPERATORS, *guild_ids}:
            self.leave(guild_id)
        known = dict.fromkeys(one.guild_id for one in await self._servers.everywhere())
        for guild_id in known:
            if guild_id in guild_ids:
                await self._of_guild(guild_id)

    async def close(self) -> None:
        """Disconnect from all servers."""
        for entry in self._entries.values():
            self._stop(entry.connection)
        self._entries.clear()
        if self._stopping:
            await asyncio.wait(self._stopping)

    def leave(self, guild_id: int) -> None:
        """Disconnect from the servers of a guild; asking about it connects to them again."""
        for key in [key for key in self._entries if key[0] == guild_id]:
            self._stop(self._entries.pop(key).connection)

    async def offered(self, guild_id: int) -> Sequence[Offered]:
        """See Toolset. Waits for servers that are just being connected to for the first time, no
        longer than connecting may take."""
        kept = await self._kept(guild_id)
        first = [entry.connection for _, entry in kept if entry.connection.is_new]
        if first:
            await asyncio.gather(*(connection.settled() for connection in first))
        found = [(scope, entry, tool) for scope, entry in kept for tool in entry.connection.tools]
        names = wire_names(
            [
                ToolKey(scope=scope, server=entry.server.name, tool=tool.name)
                for scope, entry, tool in found
            ]
        )
        return [
            Offered(
                tool=McpTool(_spec(name, entry.server, tool), entry.connection, tool.name),
                off=tool.refused or ("" if entry.server.enabled else _SWITCHED_OFF),
                guild_id=None if scope == OPERATORS else scope,
            )
            for name, (scope, entry, tool) in zip(names, found, strict=True)
        ]

    async def view(self, guild_id: int) -> Sequence[ServerView]:
        """The operator's servers and the guild's."""
        return [
            ServerView(
                name=entry.server.name,
                ours=scope == OPERATORS,
                # What the operator's lie at is the operator's own business.
                url=entry.server.url
                if scope != OPERATORS and isinstance(entry.server, HttpServer)
                else "",
                enabled=entry.server.enabled,
                trusted=entry.server.trusted,
                state=entry.connection.state,
                error=entry.connection.error,
                tools=entry.connection.tools,
            )
            for scope, entry in await self._kept(guild_id)
        ]

    def is_operators(self, name: str) -> bool:
        """Whether a server of the operator is called so."""
        return any(server.name == name for server in self._operators)

    async def test(self, guild_id: int, name: str) -> Tested | None:
        """Connect anew to a guild's own server and list its tools; None if there is none."""
        record = await self._servers.get(guild_id, name)
        if record is None:
            return None
        began = time.monotonic()
        about = ""
        try:
            async with (
                asyncio.timeout(self._limits.discovery),
                self._opens(self._server_of(record))(_ignore) as link,
            ):
                tools = vetted(await list_tools(link.client))
                if (info := link.client.server_info) is not None:
                    about = f"{info.name} {info.version}"
                seconds = time.monotonic() - began
        except Exception as error:  # a server's faults are of every kind
            return Tested(seconds=time.monotonic() - began, error=in_words(error))
        if (entry := self._entries.get((guild_id, name))) is not None:
            entry.connection.retry()
        return Tested(seconds=seconds, tools=tools, about=about)

    async def _kept(self, guild_id: int) -> list[tuple[int, _Entry]]:
        operators = await self._entries_of(OPERATORS, self._operators)
        kept = [(OPERATORS, entry) for entry in operators]
        if guild_id != OPERATORS:
            kept += [(guild_id, entry) for entry in await self._of_guild(guild_id)]
        return kept

    async def _of_guild(self, guild_id: int) -> list[_Entry]:
        servers = [self._server_of(one) for one in await self._servers.all(guild_id)]
        return await self._entries_of(guild_id, servers)

    async def _entries_of(self, scope: int, servers: Sequence[Server]) -> list[_Entry]:
        """The entries of a scope. What servers listed before is read where one is new or gone."""
        if {(scope, server.name) for server in servers} == {
            key for key in self._entries if key[0] == scope
        }:
            return self._keep(scope, servers, {})
        return self._keep(scope, servers, await self._memory.of(scope, servers))

    def _keep(
        self, scope: int, servers: Iterable[Server], known: Mapping[str, Tools]
    ) -> list[_Entry]:
        """The entries of a scope, each as it is configured now, and none but these. `known` are
        the tools of servers that were listed before."""
        kept: dict[tuple[int, str], _Entry] = {}
        for server in servers:
            key = scope, server.name
            former = self._entries.pop(key, None)
            if former is not None and _reached_alike(former.server, server):
                connection = former.connection
            else:
                if former is not None:
                    self._stop(former.connection)
                connection = self._connection(
                    server.name,
                    self._opens(server),
                    limits=self._limits,
                    tools=known.get(server.name, ()),
                    listed=self._memory.keeper(scope, server),
                )
            kept[key] = _Entry(server, connection)
            if server.enabled:
                connection.start()
            elif connection.state != "stopped":
                self._stop(connection)
        for key in [key for key in self._entries if key[0] == scope]:
            self._stop(self._entries.pop(key).connection)
        self._entries.update(kept)
        return list(kept.values())

    def _stop(self, connection: Connection) -> None:
        stopping = asyncio.create_task(connection.stop())
        self._stopping.add(stopping)
        stopping.add_done_callback(self._stopping.discard)

    def _server_of(self, record: GuildMcpServer) -> HttpServer:
        headers: dict[str, str] = {}
        if record.sealed_token is not None:
            try:
                token = self._keys.decrypt_for(record.url, record.sealed_token)
            except KeyLost:
                headers = _NO_TOKEN
            else:
                headers = {"Authorization": f"Bearer {token}"}
        return HttpServer(
            name=record.name,
            url=record.url,
            headers=headers,
            allow_private=record.allow_private,
            trusted=record.trusted,
            enabled=record.enabled,
        )

    def _opens(self, server: Server) -> Callable[[Changed], AbstractAsyncContextManager[Link]]:
        def opens(changed: Changed) -> AbstractAsyncContextManager[Link]:
            if isinstance(server, HttpServer) and server.headers == _NO_TOKEN:
                return _keyless()
            return self._opener.open(server, changed)

        return opens


@asynccontextmanager
async def _keyless() -> AsyncGenerator[Link]:
    """Without its token, a server is not even tried."""
    raise HttpRefused(_KEY_LOST)
    yield  # what makes it a generator


async def _ignore() -> None:
    """News of a connection that lasts for one list."""


def _reached_alike(one: Server, other: Server) -> bool:
    """Whether the same connection serves both; trust and the switch are of no concern to it."""
    return replace(one, trusted=other.trusted, enabled=other.enabled) == other


def _spec(name: str, server: Server, tool: VettedTool) -> ToolSpec:
    flags = flags_of(tool.hints, trusted=server.trusted)
    return ToolSpec(
        name=name,
        description=tool.description,
        parameters=tool.parameters,
        source=f"mcp:{server.name}",
        read_only=flags.read_only,
        destructive=flags.destructive,
        egress=flags.egress,
        foreign=True,
        trusted=server.trusted,
        rate=RATE,
    )
