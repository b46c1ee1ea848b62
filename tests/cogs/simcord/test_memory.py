from tests.cogs.simcord.conftest import Sim


async def test_each_member_has_facts_of_their_own(sim: Sim) -> None:
    assert "Miso" in await sim.privately(sim.alice, "memory add", fact="My cat is called Miso")
    assert "Miso" in await sim.privately(sim.alice, "memory list")
    assert "Miso" not in await sim.privately(sim.boss, "memory list")
    await sim.privately(sim.boss, "memory forget", fact="1")
    assert "Miso" in await sim.privately(sim.alice, "memory list")
