from tests.cogs.simcord.conftest import Sim


async def test_everyone_is_told_what_works_for_them(sim: Sim) -> None:
    member, admin = [await sim.privately(who, "help") for who in (sim.alice, sim.boss)]
    assert "How to ask" in member
    assert "/config" not in member
    assert "/config" in admin
