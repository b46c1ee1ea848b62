from tests.cogs.simcord.conftest import Sim, private


async def test_whom_it_answers_is_a_matter_of_managers(sim: Sim) -> None:
    told = private(await sim.for_managers_alone("config answering"))
    assert "Mentions of me" in told
