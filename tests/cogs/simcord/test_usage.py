from cogs.operator import NOT_OPERATOR
from cogs.tree import NOT_ALLOWED
from tests.cogs.simcord.conftest import Sim


async def test_members_see_their_own_use_with_a_picture(sim: Sim) -> None:
    used = await sim.alice.slash(sim.channel, "usage")
    assert used.ephemeral
    assert used.response is not None
    assert [file.filename for file in used.response.attachments] == ["usage.png"]


async def test_more_takes_more_rights(sim: Sim) -> None:
    assert await sim.privately(sim.alice, "usage", of="server") == NOT_ALLOWED
    assert "Use of this server" in await sim.privately(sim.boss, "usage", of="server")
    assert await sim.privately(sim.boss, "usage", of="everywhere") == NOT_OPERATOR
