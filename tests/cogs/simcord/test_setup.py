import pytest

from tests.cogs.simcord.conftest import Sim, private


async def test_an_endpoint_is_entered_in_a_form(sim: Sim) -> None:
    opened = await sim.for_managers_alone("config setup")
    assert opened.modal is not None
    assert opened.modal["title"] == "An endpoint for this server"


@pytest.mark.parametrize("path", ["config channels", "config export", "config reset"])
async def test_the_rest_is_answered_privately_to_managers(sim: Sim, path: str) -> None:
    assert private(await sim.for_managers_alone(path))


async def test_the_settings_are_exported_as_a_file(sim: Sim) -> None:
    exported = await sim.boss.slash(sim.channel, "config export")
    assert exported.response is not None
    (file,) = exported.response.attachments
    assert file.filename == "verbatim-config.json"
