from tests.cogs.simcord.conftest import Sim, private


async def test_servers_are_brought_by_managers(sim: Sim) -> None:
    assert "There are no MCP servers here." in private(await sim.for_managers_alone("mcp list"))
    opened = await sim.boss.slash(sim.channel, "mcp add")
    assert opened.modal is not None or opened.ephemeral
