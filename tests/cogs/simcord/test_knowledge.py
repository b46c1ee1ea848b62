from cogs.tree import NOT_ALLOWED
from tests.cogs.simcord.conftest import Sim


async def test_managers_keep_it_and_members_search_where_they_may(sim: Sim) -> None:
    for path in ("knowledge list", "knowledge info"):
        assert await sim.privately(sim.alice, path) == NOT_ALLOWED
    assert "handbook" in await sim.privately(sim.boss, "knowledge create", name="handbook")
    assert "handbook" in await sim.privately(sim.boss, "knowledge list")
    refused = await sim.privately(sim.alice, "knowledge search", query="holidays")
    await sim.privately(sim.boss, "knowledge access", members=True)
    assert await sim.privately(sim.alice, "knowledge search", query="holidays") != refused
