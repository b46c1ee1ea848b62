"""Testing tool calling with the button under /config test, over real sockets."""

from pathlib import Path

from cogs.probing import findings_text
from providers.probe import Findings
from tests.cogs.town import Town, shown, town
from tests.loopback.cast import LOST_IN_STREAMS
from tests.loopback.discord_server import Message, User
from tests.loopback.endpoint import Step
from tests.loopback.personalities import serving


async def opened(here: Town, user: User, url: str) -> Message:
    """The answer to /config test on the stranger's server, whose endpoint is at `url`."""
    await here.submitted(
        here.away_channel, here.operator, "config setup", {"url": url, "key": "", "model": ""}
    )
    return shown(await here.slash(here.away_channel, user, "config test"))


async def test_the_table_comes_and_is_applied(tmp_path: Path) -> None:
    async with serving(LOST_IN_STREAMS) as endpoint, town(tmp_path, away=True) as here:
        panel = await opened(here, here.stranger, endpoint.base_url)
        here.server.driver.press(here.stranger, panel, "Test tool calling")
        await here.until(lambda: "test calls worked" in panel.text)
        assert "native tools             only unstreamed" in panel.text
        assert "2 of 2 test calls worked" in panel.text
        assert "What follows: `stream_with_tools` whole." in panel.text
        assert str(endpoint.port) not in panel.text
        here.server.driver.press(here.stranger, panel, "Apply")
        await here.until(lambda: "Applied: `stream_with_tools` whole" in panel.text)
        asked = here.ask(here.away_channel, here.bob, "Please roll 2d6")
        assert "The dice say 2d6: " in await here.answer(asked, contains="The dice say")


async def test_whoever_may_not_manage_the_server_cannot_press(tmp_path: Path) -> None:
    async with serving(LOST_IN_STREAMS) as endpoint, town(tmp_path, away=True) as here:
        panel = await opened(here, here.stranger, endpoint.base_url)
        before, requests = panel.text, len(endpoint.bodies)
        pressed = here.server.driver.press(here.bob, panel, "Test tool calling")
        await here.server.driver.acknowledged(pressed)
        assert (panel.text, len(endpoint.bodies)) == (before, requests)


async def test_an_endpoint_that_changed_after_the_test_is_not_touched(tmp_path: Path) -> None:
    async with serving(LOST_IN_STREAMS) as endpoint, town(tmp_path, away=True) as here:
        panel = await opened(here, here.stranger, endpoint.base_url)
        here.server.driver.press(here.stranger, panel, "Test tool calling")
        await here.until(lambda: "test calls worked" in panel.text)
        here.theirs.add(Step(text="ready"))
        await opened(here, here.stranger, here.theirs.base_url)
        here.server.driver.press(here.stranger, panel, "Apply")
        await here.until(lambda: "Another endpoint or model serves by now" in panel.text)


def test_without_any_answer_there_is_no_table() -> None:
    findings = Findings(
        endpoint="http://10.0.0.1/v1", model="m", answered=False, trouble="It is down.", remedy="x"
    )
    assert findings_text(findings) == "No test request was answered. It is down."
