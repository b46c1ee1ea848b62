from cogs.pressing import NOT_YOURS
from tests.cogs.simcord.conftest import Sim, private


async def test_an_answers_buttons_are_for_whoever_asked(sim: Sim) -> None:
    await sim.ask("hello")
    (answer,) = sim.answers()
    assert private(await sim.boss.click(answer, label="Regenerate")) == NOT_YOURS
    assert (await sim.alice.click(answer, label="Delete")).acknowledged
    assert sim.answers() == []


async def test_moderators_may_delete(sim: Sim) -> None:
    await sim.ask("hello")
    (answer,) = sim.answers()
    assert (await sim.mod.click(answer, label="Delete")).acknowledged
    assert sim.answers() == []
