from chat.overview import ToolListing
from tests.cogs.simcord.conftest import Sim, private

DICE = ToolListing(
    name="roll_dice", description="Roll", enabled=True, why="", read_only=True, source="builtin"
)


async def test_tools_are_listed_for_managers(sim: Sim) -> None:
    sim.service.listings = [DICE]
    assert "roll_dice" in private(await sim.for_managers_alone("tool list"))


async def test_the_prompt_goes_to_whoever_may_see_it_and_asked(sim: Sim) -> None:
    shown = await sim.for_managers_alone("tool prompt snapshot")
    assert "The prompt in" in private(shown)
    assert shown.response is not None
    assert len(shown.response.attachments) >= 1


async def test_a_name_is_completed(sim: Sim) -> None:
    sim.service.listings = [DICE]
    offered = await sim.boss.autocomplete(sim.channel, "tool toggle", "name", "roll")
    assert [choice["value"] for choice in offered] == ["roll_dice"]
