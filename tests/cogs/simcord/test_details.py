from cogs.details import GONE
from tests.cogs.scripted import Stage
from tests.cogs.simcord.conftest import Sim, private


async def test_what_tools_did_is_told_to_whoever_asks_alone(sim: Sim) -> None:
    async def script(stage: Stage) -> None:
        stage.end_tool(stage.begin_tool("roll_dice"))
        stage.say("You rolled a 4.")

    sim.service.script = script
    await sim.ask("roll")
    (answer,) = sim.answers()
    assert private(await sim.mod.click(answer, label="Details")) == GONE
