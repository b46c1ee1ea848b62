import pytest
from simcord import SetupError

from tests.cogs.simcord.conftest import Sim, private


async def test_replies_are_explained_to_managers(sim: Sim) -> None:
    await sim.ask("hello")
    (answer,) = sim.answers()
    with pytest.raises(SetupError, match="default-member-permissions"):
        await sim.alice.context_menu(sim.channel, "Explain this reply", answer)
    assert private(await sim.boss.context_menu(sim.channel, "Explain this reply", answer))
