from tests.cogs.simcord.conftest import Sim, private


async def test_the_endpoints_are_listed_for_managers(sim: Sim) -> None:
    assert "no endpoint of its own" in private(await sim.for_managers_alone("config endpoints"))
