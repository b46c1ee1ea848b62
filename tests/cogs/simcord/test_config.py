import pytest

from tests.cogs.simcord.conftest import Sim, private


@pytest.mark.parametrize("path", ["config show", "config workarounds"])
async def test_settings_are_for_managers_alone(sim: Sim, path: str) -> None:
    assert private(await sim.for_managers_alone(path))


async def test_a_manager_turns_a_switch_in_the_panel(sim: Sim) -> None:
    panel = await sim.boss.slash(sim.channel, "config workarounds")
    assert panel.response is not None
    turned = await sim.boss.select(
        panel.response, ["verbatim_only"], custom_id="workarounds:tool_mode"
    )
    assert turned.acknowledged
    assert sim.service.switches["tool_mode"].value == "verbatim_only"
    assert "set by an admin" in str(panel.response.components)


@pytest.mark.parametrize("path", ["config exposure", "config allowlist"])
async def test_what_members_are_not_offered_they_do_not_get(sim: Sim, path: str) -> None:
    await sim.offer_to_all(path)
    assert "Manage Server" in await sim.privately(sim.alice, path)
