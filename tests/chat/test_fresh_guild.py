"""The prompt of a Discord server for which nothing was set yet."""

from pathlib import Path

from chat.desk import open_desk
from chat.ports import TurnRequest
from chat.service import ChatService, Generation
from data.keys import open_keys
from data.store import Store
from net.fetch import Fetcher
from prompt.tokens import estimate
from tests.chat.house import SoleEndpoint
from tests.chat.scripted import ADA, PLACE, Channel, Recorder, Request, ScriptedModel, say
from tools.builtin import ON_BY_DEFAULT, builtin_tools
from tools.builtin.outside import OutsideTools
from tools.worker.process import Worker

LETTERS = 3.79
"""Characters of this prompt for each token of Qwen 2.5's vocabulary, as llama.cpp counted them."""

AROUND = 5
"""Tokens around a message in its chat template."""

OPENING = 3
"""Tokens that open the answer."""


async def first_request(store: Store, home: Path, text: str) -> Request:
    """The first request of all, with everything wired as for the bot."""
    model = ScriptedModel([say("Hello!")])
    worker = Worker()
    desk = open_desk(
        store,
        open_keys(home, None),
        operators=model,
        with_model=lambda _: model,
        connect=lambda _, __: model,
        approved_guilds="all",
        dms="on",
        worker=worker,
    )
    outside = OutsideTools(desk.services, Fetcher(), worker, on=ON_BY_DEFAULT)
    service = ChatService(
        store=store,
        routes=SoleEndpoint(model),
        toolsets=[builtin_tools(), outside, desk.grounder, desk.server_tools, desk.mcp.toolset],
        generation=Generation(max_reply_tokens=1024, temperature=None, context_window=None),
    )
    channel = Channel()
    message = channel.add(ADA, text)
    await service.respond(
        TurnRequest(place=PLACE, member=ADA, message=message), channel, Recorder(channel, 2000)
    )
    model.check()
    return model.requests[0]


async def test_it_has_six_tools_and_fewer_than_a_thousand_tokens(
    store: Store, tmp_path: Path
) -> None:
    """Small models lose the question in longer prompts, and read them for a minute on two cores."""
    request = await first_request(store, tmp_path, "What time is it in Tokyo?")
    assert request.prompt.report.mode == "verbatim"
    assert len(request.body["tools"]) <= 6
    assert "What time is it in Tokyo?" in request.last
    letters = sum(len(message["content"]) for message in request.messages)
    tokens = letters / LETTERS + AROUND * len(request.messages) + OPENING
    assert 800 < tokens < 1000


async def test_its_budget_counts_what_is_sent_and_the_field_beside_the_block(
    store: Store, tmp_path: Path
) -> None:
    """Nothing is known yet of whether the endpoint shows the field to the model; until it is, both
    count."""
    request = await first_request(store, tmp_path, "What time is it in Tokyo?")
    report = request.prompt.report
    messages = sum(estimate(item.text) for item in request.prompt.all_items)
    assert report.tokens == messages + estimate(request.prompt.surface.block)
    assert report.tokens < 1600, "which leaves most of the smallest window to the conversation"
