"""Testing tool calling with the button under /config test, over real sockets."""

from pathlib import Path

from chat.guild_setup import Wish
from cogs.probing import findings_text
from cogs.spots import NO_SUCH_ENDPOINT
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


async def test_another_endpoint_in_the_order_is_tested_and_set(tmp_path: Path) -> None:
    async with serving(LOST_IN_STREAMS) as endpoint, town(tmp_path, away=True) as here:
        driver, guild_id = here.server.driver, here.away.id
        for url, added in ((here.theirs.base_url, False), (endpoint.base_url, True)):
            wish = Wish(url=url)
            await here.desk.setup.set_endpoint(guild_id, wish, by=here.operator.id, added=added)

        async def suggested(user: User) -> list[tuple[str, str]]:
            used = driver.autocomplete(here.away_channel, user, "config test", "endpoint", "")
            await driver.acknowledged(used)
            return [(each["name"], each["value"]) for each in used.choices or []]

        first, second = await suggested(here.stranger)
        assert first[0] == f"1. 127.0.0.1:{here.theirs.port}: own-one"
        assert second[0] == f"2. 127.0.0.1:{endpoint.port}: local-model"
        assert await suggested(here.bob) == []
        panel = shown(
            await here.slash(here.away_channel, here.stranger, "config test", endpoint=second[1])
        )
        assert f"local-model at {endpoint.base_url} answered" in panel.text
        # The button stays with its endpoint, also when that comes first.
        await here.desk.setup.move_endpoint(guild_id, second[1], by=-1)
        driver.press(here.stranger, panel, "Test tool calling")
        await here.until(lambda: "test calls worked" in panel.text)
        assert "native tools             only unstreamed" in panel.text
        await here.desk.setup.move_endpoint(guild_id, second[1], by=1)
        driver.press(here.stranger, panel, "Apply")
        await here.until(lambda: "Applied: `stream_with_tools` whole" in panel.text)
        verdict = await here.store.verdicts.get(second[1], "local-model")
        assert verdict.learnt["stream_with_tools"] == "whole"
        assert here.theirs.received == []


async def test_an_endpoint_that_is_gone_is_told(tmp_path: Path) -> None:
    async with serving(LOST_IN_STREAMS) as endpoint, town(tmp_path, away=True) as here:
        stranger, lounge = here.stranger, here.away_channel
        panel = await opened(here, stranger, endpoint.base_url)
        wish = Wish(url=here.theirs.base_url)
        await here.desk.setup.set_endpoint(here.away.id, wish, by=here.operator.id, added=True)
        here.theirs.add(Step(text="ready"))
        panel = shown(await here.slash(lounge, stranger, "config test", endpoint="2"))
        assert f"own-one at {here.theirs.base_url} answered" in panel.text
        last = (await here.desk.setup.endpoints(here.away.id))[1]
        await here.desk.setup.remove_endpoint(here.away.id, last.id)
        here.server.driver.press(stranger, panel, "Test tool calling")
        await here.until(lambda: panel.text == NO_SUCH_ENDPOINT)
        said = await here.said(lounge, stranger, "config test", endpoint="2")
        assert said == NO_SUCH_ENDPOINT


async def test_the_operators_place_in_the_order_tells_no_address(tmp_path: Path) -> None:
    async with town(tmp_path, away=True, approved="all") as here:
        await here.desk.setup.set_endpoint(
            here.away.id, Wish(url=here.theirs.base_url), by=here.operator.id
        )
        await here.desk.setup.set_last_resort(here.away.id, on=True)
        used = here.server.driver.autocomplete(
            here.away_channel, here.stranger, "config test", "endpoint", "2."
        )
        await here.server.driver.acknowledged(used)
        (found,) = used.choices or []
        assert found["name"] == "2. the operator's endpoint: big"
        here.operators.add(Step(text="ready"), Step(status=401, body={"error": {"message": "no"}}))
        for words in ("It works: big answered", "does not accept"):
            said = await here.said(
                here.away_channel, here.stranger, "config test", endpoint=found["value"]
            )
            assert words in said
            assert str(here.operators.port) not in said
            assert "VERBATIM" not in said


def test_without_any_answer_there_is_no_table() -> None:
    findings = Findings(
        endpoint="http://10.0.0.1/v1", model="m", answered=False, trouble="It is down.", remedy="x"
    )
    assert findings_text(findings) == "No test request was answered. It is down."
