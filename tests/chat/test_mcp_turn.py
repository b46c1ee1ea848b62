"""Tools of MCP servers in whole turns: the real toolset, a real server, a scripted model."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from chat.ports import Place
from data.keys import open_keys
from data.mcp_servers import HttpServer
from data.store import Store
from tests.chat.house import House
from tests.chat.scripted import GUILD, call, say
from tests.tools.mcp.unruly import tool, unruly
from tools.mcp.toolset import McpToolset


@asynccontextmanager
async def toolset(store: Store, home: Path, *servers: HttpServer) -> AsyncGenerator[McpToolset]:
    made = McpToolset(store.mcp_servers, open_keys(home, None), operators=servers)
    try:
        yield made
    finally:
        await made.close()


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not condition():
            await asyncio.sleep(0.01)


def trusted(url: str) -> HttpServer:
    return HttpServer(name="docs", url=url, allow_private=True, trusted=True)


async def test_a_call_runs_on_the_server_and_its_result_reaches_the_model(
    store: Store, tmp_path: Path
) -> None:
    async with unruly() as server, toolset(store, tmp_path, trusted(server.url)) as tools:
        server.tools = [tool("look up")]
        house = House(store, toolsets=[tools])
        shown = await house.ask("Look!", [call("mcp__docs__look_up", n=4)], [say("Found it.")])
        assert shown.reply.text == "Found it."
        (run,) = shown.reply.runs
        assert run.result is not None
        assert (run.result.outcome, run.result.text) == (
            "ok",
            '{"name": "look up", "arguments": {"n": 4}}',
        )
        assert server.heard.count("tools/call") == 1


async def test_a_server_that_is_gone_answers_unavailable_and_the_turn_goes_on(
    store: Store, tmp_path: Path
) -> None:
    async with unruly() as server, toolset(store, tmp_path, trusted(server.url)) as tools:
        house = House(store, toolsets=[tools])
        await house.ask("Hello!", [say("Hi.")])
        server.token = "another"
        shown = await house.ask("Go!", [call("mcp__docs__echo", n=1)], [say("It is away.")])
        assert shown.reply.text == "It is away."
        (run,) = shown.reply.runs
        assert run.result is not None
        assert run.result.outcome == "failed"
        assert run.result.text.startswith('{"error":"unavailable","tool":"mcp__docs__echo"')
        first, second, _ = house.prompts
        assert first.surface.block == second.surface.block


async def test_a_guilds_server_is_in_no_request_of_another(store: Store, tmp_path: Path) -> None:
    async with unruly() as server, toolset(store, tmp_path) as tools:
        await store.mcp_servers.put(
            42,
            "g42",
            url=server.url,
            sealed_token=None,
            trusted=True,
            allow_private=True,
            set_by=1,
        )
        theirs = House(store, toolsets=[tools], place=Place(guild_id=42, channel_id=420))
        await theirs.ask("Hello!", [say("Hi.")])
        assert set(theirs.prompts[0].surface.callable) == {"mcp__g42__echo"}
        assert GUILD != 42
        ours = House(store, toolsets=[tools])
        shown = await ours.ask("Hello!", [call("mcp__g42__echo", n=1)], [say("No.")])
        assert not ours.prompts[0].surface
        assert all("g42" not in message["content"] for message in ours.requests[0].messages)
        assert "tools/call" not in server.heard
        assert shown.reply.text == "No."


async def test_a_changed_list_holds_from_the_next_turn(store: Store, tmp_path: Path) -> None:
    async with unruly() as server, toolset(store, tmp_path, trusted(server.url)) as tools:
        house = House(store, toolsets=[tools])

        async def change() -> None:
            server.tools = [tool("other")]
            await server.announce()
            await until(lambda: server.heard.count("tools/list") == 2)

        await tools.offered(0)
        await until(lambda: server.listeners == 1)
        await house.ask("Go!", [change, call("mcp__docs__echo", n=1)], [say("Done.")])
        async with asyncio.timeout(5):
            while (await tools.offered(0))[0].tool.spec.name != "mcp__docs__other":
                await asyncio.sleep(0.01)
        await house.ask("Again!", [say("Done.")])
        first, second, third = house.prompts
        assert first.surface == second.surface
        assert set(second.surface.callable) == {"mcp__docs__echo"}
        assert set(third.surface.callable) == {"mcp__docs__other"}
