from tests.cogs.simcord.conftest import Sim


async def test_a_time_zone_is_a_members_own(sim: Sim) -> None:
    await sim.privately(sim.alice, "reminders timezone", zone="Europe/Berlin")
    assert "`Europe/Berlin`" in await sim.privately(sim.alice, "reminders list")
    assert "`UTC`" in await sim.privately(sim.boss, "reminders list")
