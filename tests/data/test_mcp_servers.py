import pytest

from data.database import Database
from data.mcp_servers import GuildMcpServer, GuildMcpServers


async def put(
    servers: GuildMcpServers,
    guild_id: int,
    name: str = "docs",
    *,
    url: str = "https://mcp.example/mcp",
    sealed_token: str | None = "sealed",
    trusted: bool = False,
) -> None:
    await servers.put(
        guild_id,
        name,
        url=url,
        sealed_token=sealed_token,
        trusted=trusted,
        allow_private=False,
        set_by=5,
    )


async def known(servers: GuildMcpServers, guild_id: int, name: str = "docs") -> GuildMcpServer:
    found = await servers.get(guild_id, name)
    assert found is not None
    return found


async def test_a_server_is_its_guilds_alone(database: Database):
    servers = GuildMcpServers(database)
    await put(servers, 1)
    await put(servers, 2, sealed_token="other", trusted=True)
    await put(servers, 1, "zoo")
    await put(servers, 1, "ant")
    one, two = await known(servers, 1), await known(servers, 2)
    assert (one.sealed_token, one.trusted, one.enabled) == ("sealed", False, True)
    assert (two.sealed_token, two.trusted) == ("other", True)
    assert [server.name for server in await servers.all(1)] == ["docs", "zoo", "ant"]
    assert await servers.get(3, "docs") is None
    assert not await servers.remove(3, "docs")
    assert await servers.remove(1, "docs")
    assert await servers.get(1, "docs") is None
    assert (await known(servers, 2)).sealed_token == "other"
    assert {(server.guild_id, server.name) for server in await servers.everywhere()} == {
        (2, "docs"),
        (1, "zoo"),
        (1, "ant"),
    }
    assert "sealed" not in repr(one)


@pytest.mark.parametrize(
    ("url", "stays"),
    [
        ("https://mcp.example/mcp", True),
        ("https://mcp.example:443/other", True),
        ("https://mcp.example:8443/mcp", False),
        ("http://mcp.example/mcp", False),
        ("https://mcp.example.evil.example/mcp", False),
    ],
)
async def test_a_token_goes_with_the_origin_of_its_url(database: Database, url: str, stays: bool):
    servers = GuildMcpServers(database)
    await put(servers, 1)
    await put(servers, 1, url=url, sealed_token=None)
    assert (await known(servers, 1)).sealed_token == ("sealed" if stays else None)


async def test_a_server_is_switched_and_trusted_by_itself(database: Database):
    servers = GuildMcpServers(database)
    await put(servers, 1)
    await put(servers, 1, "other")
    await servers.set_enabled(1, "docs", enabled=False)
    await servers.set_trusted(1, "docs", trusted=True)
    docs, other = await known(servers, 1), await known(servers, 1, "other")
    assert (docs.enabled, docs.trusted) == (False, True)
    assert (other.enabled, other.trusted) == (True, False)
    # Set anew, a server is on, trusted only as is said now, and keeps its place.
    await put(servers, 1)
    assert ((await known(servers, 1)).enabled, (await known(servers, 1)).trusted) == (True, False)
    assert [server.name for server in await servers.all(1)] == ["docs", "other"]
