from tests.cogs.simcord.conftest import Sim, private


async def test_who_the_bot_is_is_set_by_managers(sim: Sim) -> None:
    assert "the bot’s own" in private(await sim.for_managers_alone("config persona"))
