from tests.cogs.simcord.conftest import Sim, private


async def test_the_operators_endpoint_is_not_tuned_by_others(sim: Sim) -> None:
    told = private(await sim.for_managers_alone("config tune"))
    assert "only the operator can run it" in told
