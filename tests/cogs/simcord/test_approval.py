from tests.cogs.simcord.conftest import Sim, private
from tests.cogs.simcord.test_tool import DICE


async def test_a_policy_is_set_by_managers(sim: Sim) -> None:
    sim.service.listings = [DICE]
    asks = {"tool": "roll_dice", "policy": "asks"}
    assert "asks before each call" in private(await sim.for_managers_alone("tool approval", **asks))
