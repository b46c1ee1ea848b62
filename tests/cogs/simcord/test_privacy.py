from cogs.admitting import OPTED_OUT
from cogs.tree import NOT_ALLOWED
from tests.cogs.simcord.conftest import Sim


async def test_what_is_kept_is_told_and_given_to_the_member_alone(sim: Sim) -> None:
    assert "Where your words go" in await sim.privately(sim.alice, "privacy info")
    exported = await sim.alice.slash(sim.channel, "privacy export")
    assert exported.ephemeral
    assert exported.response is not None
    assert len(exported.response.attachments) == 1


async def test_who_opts_out_is_not_answered_until_they_opt_in(sim: Sim) -> None:
    await sim.privately(sim.alice, "privacy opt-out")
    await sim.ask("hello")
    assert sim.service.stages == []
    assert [text.removeprefix("-# ") for text in sim.said()] == [OPTED_OUT]
    await sim.privately(sim.alice, "privacy opt-in")
    await sim.ask("hello")
    assert len(sim.service.stages) == 1


async def test_a_servers_data_is_its_managers_to_erase(sim: Sim) -> None:
    assert await sim.privately(sim.alice, "privacy erase-server") == NOT_ALLOWED
    opened = await sim.boss.slash(sim.channel, "privacy erase-server")
    assert opened.modal is not None
