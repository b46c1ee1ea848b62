"""/mcp on a loopback Discord, with real MCP servers on loopback sockets."""

import asyncio
from pathlib import Path

from cogs.tree import NOT_ALLOWED
from tests.cogs.town import Town, town
from tests.loopback.discord_server import User
from tests.tools.mcp.unruly import Unruly, tool, unruly

TOKEN = "mcp-token-9876"


async def bring(here: Town, user: User, server: Unruly, name: str = "docs") -> str:
    return await here.submitted(
        here.away_channel, user, "mcp add", {"name": name, "url": server.url, "token": TOKEN}
    )


async def offered(here: Town, guild_id: int) -> list[str]:
    return [
        entry.tool.spec.name
        for entry in await here.desk.mcp.toolset.offered(guild_id)
        if not entry.off
    ]


async def test_every_command_is_for_those_who_may_manage_the_server(tmp_path: Path) -> None:
    async with town(tmp_path) as here:
        assert await here.said(here.home_channel, here.alice, "mcp add") == NOT_ALLOWED
        assert await here.said(here.home_channel, here.alice, "mcp list") == NOT_ALLOWED
        for path in ("mcp test", "mcp remove", "mcp toggle"):
            said = await here.said(here.home_channel, here.alice, path, server="docs")
            assert said == NOT_ALLOWED, path


async def test_a_server_is_brought_tested_listed_switched_and_removed(tmp_path: Path) -> None:
    async with town(tmp_path, away=True) as here, unruly() as server:
        server.token = TOKEN
        server.tools = [
            tool("look", "Looks *it* up", annotations={"readOnlyHint": True}),
            tool("bad", inputSchema={"type": "object", "properties": {"a": {"type": 5}}}),
            tool(
                "odd", inputSchema={"type": "object", "properties": {"type": "object", "n": True}}
            ),
        ]
        said = await bring(here, here.operator, server)
        assert "`docs` is added" in said
        assert "answered in" in said
        assert "`look` (asks first): Looks \\*it\\* up" in said
        assert "`bad`: its schema is not valid JSON Schema" in said
        assert TOKEN not in said
        assert "`odd` (asks first): Without `type`: no valid schema." in said
        assert await offered(here, here.away.id) == ["mcp__docs__look", "mcp__docs__odd"]
        assert await offered(here, here.home.id) == []

        channel, stranger = here.away_channel, here.stranger
        listed = await here.said(channel, stranger, "mcp list")
        assert f"`docs` (`{server.url}`): connected; 2 tools; not trusted" in listed
        assert "no MCP servers" in await here.said(here.home_channel, here.operator, "mcp list")

        trusted = await here.said(channel, stranger, "mcp toggle", server="docs", what="trust")
        assert "is trusted" in trusted
        tested = await here.said(channel, stranger, "mcp test", server="docs")
        assert "`look` (only reads)" in tested
        assert "is off" in await here.said(channel, stranger, "mcp toggle", server="docs")
        assert await offered(here, here.away.id) == []
        assert "is on" in await here.said(channel, stranger, "mcp toggle", server="docs")

        kept = b"".join(path.read_bytes() for path in tmp_path.glob("verbatim.db*"))
        assert TOKEN.encode() not in kept
        assert "forgotten" in await here.said(channel, stranger, "mcp remove", server="docs")
        assert await offered(here, here.away.id) == []
        unknown = await here.said(channel, stranger, "mcp test", server="docs")
        assert unknown.startswith("There is no such MCP server here.")
        await here.desk.mcp.toolset.close()


async def test_a_private_address_is_the_operators_to_set(tmp_path: Path) -> None:
    async with town(tmp_path, away=True) as here, unruly() as server:
        said = await bring(here, here.stranger, server)
        assert "Only the bot's operator may set such an address" in said
        assert server.heard == []
        assert await here.desk.mcp.names(here.away.id) == []


async def test_names_are_checked_and_a_dead_server_is_kept(tmp_path: Path) -> None:
    async with town(tmp_path, away=True) as here, unruly() as server:
        assert (await bring(here, here.operator, server, name="a__b")).startswith("A name has")
        server.token = "another"
        said = await bring(here, here.operator, server)
        assert "did not answer well" in said
        assert "It refuses the token (401)." in said
        assert await here.desk.mcp.names(here.away.id) == ["docs"]
        await here.desk.mcp.toolset.close()


async def test_a_guild_has_ten_servers_at_most(tmp_path: Path) -> None:
    async with town(tmp_path, away=True) as here, unruly() as server:
        for number in range(10):
            await here.store.mcp_servers.put(
                here.away.id,
                f"s{number}",
                url=server.url,
                sealed_token=None,
                trusted=False,
                allow_private=True,
                set_by=1,
            )
        assert "has 10 MCP servers already" in await bring(here, here.operator, server)
        assert "is added" in await bring(here, here.operator, server, name="s3")
        await asyncio.wait_for(here.desk.mcp.toolset.close(), 10)


async def test_a_guild_that_removes_the_bot_is_disconnected(tmp_path: Path) -> None:
    async with town(tmp_path, away=True) as here, unruly() as server:
        server.token = TOKEN
        await bring(here, here.operator, server)
        assert await offered(here, here.away.id) == ["mcp__docs__echo"]
        assert server.sessions
        here.server.build.removal(here.away)
        async with asyncio.timeout(10):
            while server.sessions:
                await asyncio.sleep(0.01)
        assert await here.desk.mcp.names(here.away.id) == ["docs"], "it may be invited again"
