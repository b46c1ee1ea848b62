"""What servers listed last, as it is read again."""

import pytest

from data.mcp_listings import McpListing
from data.mcp_servers import HttpServer
from data.store import Store
from prompt.values import Json
from tools.mcp.remembering import Memory
from tools.mcp.vetting import Hints, VettedTool

GUILD = 42
DOCS = HttpServer(name="docs", url="https://docs.example/mcp")
LOOK = VettedTool(name="look", description="Look.", parameters={"type": "object"}, hints=Hints())


async def test_tools_come_back_as_they_were_kept(store: Store) -> None:
    memory = Memory(store.mcp_servers.listings)
    await memory.keeper(GUILD, DOCS)((LOOK,))
    assert await memory.of(GUILD, [DOCS]) == {"docs": (LOOK,)}


@pytest.mark.parametrize(
    "kept", [[{"name": "look"}], [{"name": "look", "hints": {"colour": "red"}}], ["look"], None]
)
async def test_what_another_version_kept_is_not_known(store: Store, kept: Json) -> None:
    listings = store.mcp_servers.listings
    memory = Memory(listings)
    await memory.keeper(GUILD, DOCS)((LOOK,))
    reached = (await listings.of(GUILD))["docs"].reached
    await listings.put(GUILD, "docs", McpListing(reached=reached, tools=kept))
    assert await memory.of(GUILD, [DOCS]) == {"docs": ()}
