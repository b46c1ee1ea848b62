"""Models of channels with /config model, over real sockets to Discord and to endpoints."""

from pathlib import Path

from tests.cogs.test_setup import bring_endpoint
from tests.cogs.town import town
from tests.loopback.endpoint import Step


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
