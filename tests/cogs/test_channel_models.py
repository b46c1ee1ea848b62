"""Models of channels with /config model, over real sockets to Discord and to endpoints."""

from pathlib import Path

from chat.guild_setup import Wish
from cogs.spots import NO_SUCH_ENDPOINT
from tests.cogs.test_setup import bring_endpoint
from tests.cogs.town import shown, town
from tests.loopback.cast import LOST_IN_STREAMS
from tests.loopback.discord_server import Message
from tests.loopback.discord_server.model import walk_components
from tests.loopback.endpoint import Step
from tests.loopback.personalities import serving


async def test_a_channel_and_its_threads_have_a_model_of_their_own(tmp_path: Path) -> None:
    async with town(tmp_path, away=True, approved="all") as here:
        await bring_endpoint(here, here.operator)
        choose = "config model"
        told = await here.said(
            here.away_channel, here.stranger, choose, name="own-two", channel=here.away_channel
        )
        assert told.startswith(f"`own-two` answers from now on in <#{here.away_channel.id}>")
        thread = here.server.build.thread(here.away_channel, "aside", owner=here.bob)
        other = here.server.build.channel(here.away, "other")
        here.theirs.add(*(Step(text=f"{number}.") for number in range(4)))
        for number, channel in enumerate((here.away_channel, thread, other)):
            await here.answer(here.ask(channel, here.bob, "hi"), contains=f"{number}.")
        models = [request.body["model"] for request in here.theirs.received]
        assert models == ["own-two", "own-two", "own-one"]
        back = await here.said(
            here.away_channel, here.stranger, choose, name="default", channel=here.away_channel
        )
        assert back.startswith("The server's model answers from now on in")
        await here.answer(here.ask(here.away_channel, here.bob, "hi"), contains="3.")
        assert here.theirs.received[-1].body["model"] == "own-one"


async def test_a_channels_model_is_no_way_to_the_operators_models(tmp_path: Path) -> None:
    async with town(tmp_path, away=True, approved="all") as here:
        choose, channel = "config model", here.away_channel
        refused = await here.said(channel, here.stranger, choose, name="small", channel=channel)
        assert "whose model the operator chooses" in refused
        await bring_endpoint(here, here.operator)
        await here.said(channel, here.stranger, choose, name="small", channel=channel)
        wrong = await here.said(
            channel, here.stranger, choose, name="x", channel=channel, endpoint="https://1.1.1.1/v1"
        )
        assert "no endpoint of that URL" in wrong
        alone = await here.said(channel, here.stranger, choose, name="x", endpoint="x")
        assert "Name the channel too" in alone
        own = await here.desk.setup.endpoint(here.away.id)
        assert own is not None
        await here.desk.setup.remove_endpoint(here.away.id, own.id)
        here.operators.add(Step(text="One."), Step(text="Two."))
        await here.answer(here.ask(channel, here.bob, "hi"), contains="One")
        assert here.operators.received[-1].body["model"] == "big"
        await here.said(channel, here.operator, choose, name="small", channel=channel)
        await here.answer(here.ask(channel, here.bob, "hi"), contains="Two")
        assert here.operators.received[-1].body["model"] == "small"


async def test_a_channels_model_has_switches_and_a_test_of_its_own(tmp_path: Path) -> None:
    async with town(tmp_path, away=True, approved="all") as here:
        await bring_endpoint(here, here.operator)
        lounge, stranger, guild_id = here.away_channel, here.stranger, here.away.id
        await here.said(lounge, stranger, "config model", name="own-two", channel=lounge)
        name, driver = f"channel:{lounge.id}", here.server.driver
        panel = shown(await here.slash(lounge, stranger, "config workarounds"))
        assert "Workarounds for own-one" in panel.text
        driver.choose(stranger, panel, "workarounds:endpoint", [name])
        await here.until(lambda: "Workarounds for own-two" in panel.text)
        driver.choose(stranger, panel, f"workarounds:page:first:{name}", ["calls"])
        await here.until(lambda: "### " in panel.text)
        driver.choose(stranger, panel, f"workarounds:nudge:calls:{name}", ["off"])
        await here.until(lambda: bool(shows(panel, "nudge", "off")))
        settings = here.store.settings
        assert (await settings.values(guild_id, "own-two"))["nudge"] == "off"
        assert await settings.values(guild_id, "own-one") == {}

        here.theirs.add(Step(text="ready"))
        said = await here.said(lounge, stranger, "config test", endpoint=name)
        assert f"own-two at {here.theirs.base_url} answered" in said
        assert here.theirs.received[-1].body["model"] == "own-two"
        # A channel that has the server's model again has nothing of its own to be tested.
        await here.said(lounge, stranger, "config model", name="default", channel=lounge)
        driver.choose(stranger, panel, f"workarounds:page:first:{name}", ["calls"])
        assert await here.said(lounge, stranger, "config test", endpoint=name) == NO_SUCH_ENDPOINT


async def test_a_fallback_has_switches_of_its_own_on_the_panel(tmp_path: Path) -> None:
    async with serving(LOST_IN_STREAMS) as endpoint, town(tmp_path, away=True) as here:
        await bring_endpoint(here, here.operator)
        lounge, stranger, guild_id = here.away_channel, here.stranger, here.away.id
        wish = Wish(url=endpoint.base_url)
        await here.desk.setup.set_endpoint(guild_id, wish, by=here.operator.id, added=True)
        _, second = await here.desk.setup.endpoints(guild_id)
        panel = shown(await here.slash(lounge, stranger, "config workarounds"))
        driver = here.server.driver
        driver.choose(stranger, panel, "workarounds:endpoint", [second.id])
        await here.until(lambda: "Workarounds for local-model" in panel.text)
        driver.choose(stranger, panel, f"workarounds:tool_mode:first:{second.id}", ["native"])
        await here.until(lambda: "set by an admin" in panel.text)
        assert "Workarounds for local-model" in panel.text
        settings = here.store.settings
        assert (await settings.values(guild_id, "local-model"))["tool_mode"] == "native"
        assert await settings.values(guild_id, "own-one") == {}


def shows(panel: Message, name: str, value: str) -> bool:
    """Whether a menu of the panel shows that value."""
    return any(
        option["value"] == value and option.get("default")
        for each in walk_components(panel.components)
        if f":{name}:" in str(each.get("custom_id", ""))
        for option in each["options"]
    )
