from tests.cogs.simcord.conftest import Sim, private


async def test_direct_messages_are_the_operators_to_open(sim: Sim) -> None:
    told = private(await sim.for_managers_alone("config dms", switch="on"))
    assert told.startswith("Only the bot's operator")
