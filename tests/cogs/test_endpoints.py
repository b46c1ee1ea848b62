"""Several endpoints a server, in an order that its admins choose, over real sockets."""

import re
from pathlib import Path

from cogs.tree import NOT_ALLOWED
from tests.cogs.town import Town, shown, town
from tests.loopback.discord_server import Message
from tests.loopback.endpoint import LoopbackEndpoint, Step

DOWN = Step(status=500, body={"error": {"message": "boom"}})


async def opened(here: Town) -> Message:
    """The panel on the stranger's server, which has one endpoint."""
    await here.submitted(
        here.away_channel,
        here.operator,
        "config setup",
        {"url": here.theirs.base_url, "key": "their-key", "model": "own-one"},
    )
    return shown(await here.slash(here.away_channel, here.operator, "config endpoints"))


async def add(here: Town, panel: Message, url: str, key: str) -> str:
    pressed = here.server.driver.press(here.operator, panel, "Add a fallback")
    form = await here.server.driver.answered(pressed)
    sent = here.server.driver.submit(
        here.operator, form, {"url": url, "key": key, "model": "other"}
    )
    await here.until(lambda: bool(sent.followups))
    (said,) = sent.followups
    assert said.ephemeral
    return said.text


async def test_a_fallback_is_added_answers_and_changes_places(tmp_path: Path) -> None:
    async with LoopbackEndpoint(models=("other",)) as second, town(tmp_path, away=True) as here:
        panel = await opened(here)
        assert "1. `own-one` at" in panel.text
        said = await add(here, panel, second.base_url, "second-key")
        assert said.startswith("Saved: `other`")
        assert "It is asked where those before it fail" in said
        assert "1. `own-one` at" in panel.text
        assert "2. `other` at" in panel.text

        here.theirs.add(DOWN)
        second.add(Step(text="From the fallback."))
        asked = here.ask(here.away_channel, here.bob, "hello")
        assert await here.answer(asked, contains="fallback.") == "From the fallback."
        assert second.received[0].headers["Authorization"] == "Bearer second-key"
        assert here.theirs.received[0].headers["Authorization"] == "Bearer their-key"

        panel = shown(await here.slash(here.away_channel, here.stranger, "config endpoints"))
        assert "1. `own-one` at" in panel.text
        assert "2. `other` at" in panel.text
        first, second_line = panel.text.splitlines()[1:3]
        assert re.search(r"did not answer\*\* <t:\d+:R>$", first)
        assert "did not answer" not in second_line
        assert "second-key" not in panel.text
        own, other = await here.desk.setup.endpoints(here.away.id)
        here.server.driver.choose(here.stranger, panel, "endpoints:choose", [other.id])
        await here.until(lambda: "endpoints:up:" in str(panel.components))
        here.server.driver.press(here.stranger, panel, "Up")
        await here.until(lambda: "1. `other` at" in panel.text)
        here.server.driver.press(here.stranger, panel, "Remove")
        await here.until(lambda: "`other`" not in panel.text)
        assert await here.desk.setup.endpoints(here.away.id) == [own]


async def test_the_operators_answers_as_a_last_resort_only_where_that_was_chosen(
    tmp_path: Path,
) -> None:
    async with town(tmp_path, away=True, approved="all") as here:
        panel = await opened(here)
        here.theirs.add(DOWN)
        asked = here.ask(here.away_channel, here.bob, "hello")
        await here.answer(asked, contains="reported an error")
        here.server.driver.press(here.operator, panel, "The operator's as last resort")
        await here.until(lambda: "2. the operator's endpoint" in panel.text)
        here.theirs.add(DOWN)
        here.operators.add(Step(text="From the operator's."))
        asked = here.ask(here.away_channel, here.bob, "hello again")
        assert await here.answer(asked, contains="'s.") == "From the operator's."
        (sent,) = here.operators.received
        assert "their-key" not in str(sent.headers)


async def test_only_who_may_manage_the_server_sees_or_changes_them(tmp_path: Path) -> None:
    async with town(tmp_path, away=True) as here:
        panel = await opened(here)
        assert await here.said(here.away_channel, here.bob, "config endpoints") == NOT_ALLOWED
        before = panel.text
        pressed = here.server.driver.press(here.bob, panel, "The operator's as last resort")
        await here.server.driver.acknowledged(pressed)
        assert panel.text == before
        assert not await here.desk.setup.last_resort(here.away.id)
