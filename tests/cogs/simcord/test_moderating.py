from tests.cogs.simcord.conftest import Sim, private


async def test_words_and_the_log_are_set_by_managers(sim: Sim) -> None:
    assert "Words that I do not show" in private(await sim.for_managers_alone("config moderation"))
