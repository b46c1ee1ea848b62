import pytest
from simcord import SetupError

from cogs.tree import NOT_ALLOWED
from tests.cogs.simcord.conftest import Sim, private


async def test_a_message_is_added_by_managers_alone(sim: Sim) -> None:
    message = await sim.alice.send(sim.channel, "The office is closed on Fridays.")
    with pytest.raises(SetupError, match="default-member-permissions"):
        await sim.alice.context_menu(sim.channel, "Add to knowledge", message)
    await sim.offer_to_all("Add to knowledge")
    used = await sim.alice.context_menu(sim.channel, "Add to knowledge", message)
    assert private(used) == NOT_ALLOWED
    used = await sim.boss.context_menu(sim.channel, "Add to knowledge", message)
    assert used.ephemeral
