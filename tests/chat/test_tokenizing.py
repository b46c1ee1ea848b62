"""Prompts whose tokens the endpoint's own tokenizer counts."""

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from chat import tokenizing
from chat.tokenizing import Tokenizers
from data.store import Store
from prompt.tokens import estimate
from providers.openai.adapter import OpenAIProvider
from tests.chat.house import House
from tests.chat.scripted import ADA

_AROUND = 5
"""Tokens that the template puts around a message."""


class Counting:
    """A server that counts its tokens for whoever asks at `path`; serves inside `counting`.

    A token is `letters` characters. `shows_field` tells whether its chat template shows the tools
    field to the model.
    """

    def __init__(self, path: str, letters: float, shows_field: bool) -> None:
        self.path = path
        self.letters = letters
        self.shows_field = shows_field
        self.asked: list[str] = []
        """Texts whose tokens were asked for."""
        self.prompts: list[int] = []
        """Tokens of each prompt that came."""
        self.most: list[int] = []
        """Tokens that each reply might have had."""
        self.delay = 0.0
        self.status = 200
        self.base_url = ""

    def tokens(self, text: str) -> int:
        return round(len(text) / self.letters)

    def cost(self, body: Mapping[str, Any]) -> int:
        field = json.dumps(body.get("tools", []), separators=(",", ":"), ensure_ascii=False)
        shown = self.tokens(field) if self.shows_field and "tools" in body else 0
        messages: Sequence[Mapping[str, Any]] = body["messages"]
        return shown + sum(self.tokens(each["content"]) + _AROUND for each in messages)

    async def count(self, request: web.Request) -> web.Response:
        body = await request.json()
        text = next(body[name] for name in ("content", "prompt", "text") if name in body)
        self.asked.append(text)
        await asyncio.sleep(self.delay)
        number = self.tokens(text)
        told: dict[str, Any] = {
            "/tokenize": {"tokens": list(range(number))},
            "/api/extra/tokencount": {"value": number, "ids": list(range(number))},
            "/v1/token/encode": {"tokens": list(range(number)), "length": number},
        }[self.path]
        return web.json_response(told, status=self.status)

    async def chat(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.prompts.append(self.cost(body))
        self.most.append(body["max_tokens"])
        chunks: list[dict[str, Any]] = [
            {"choices": [{"index": 0, "delta": {"content": "word " * 60}, "finish_reason": None}]},
            {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
            {"choices": [], "usage": {"prompt_tokens": self.prompts[-1], "completion_tokens": 60}},
        ]
        stream = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks)
        return web.Response(text=f"{stream}data: [DONE]\n\n", content_type="text/event-stream")


@asynccontextmanager
async def counting(
    path: str = "/tokenize", *, letters: float = 2.0, shows_field: bool = False
) -> AsyncGenerator[tuple[Counting, OpenAIProvider]]:
    server = Counting(path, letters, shows_field)
    app = web.Application()
    app.router.add_post("/v1/chat/completions", server.chat)
    app.router.add_post(path, server.count)
    runner = web.AppRunner(app, shutdown_timeout=1.0)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    provider = OpenAIProvider(base_url=f"http://127.0.0.1:{runner.addresses[0][1]}/v1", model="m")
    try:
        yield server, provider
    finally:
        await provider.close()
        await runner.cleanup()


async def converse(house: House, turns: int, *, first: int = 0) -> None:
    for number in range(first, first + turns):
        shown = await house.ask(f"Question {number}: " + "what do you think about it? " * 10)
        assert (shown.reply.state, shown.reply.notices) == ("done", [])


async def snapshot(house: House) -> str:
    shown = await house.service.snapshot(house.place, ADA, house.channel, 10**9)
    return shown.text


@pytest.mark.parametrize("path", ["/tokenize", "/api/extra/tokencount", "/v1/token/encode"])
async def test_each_text_is_counted_once_by_the_server(store: Store, path: str) -> None:
    async with counting(path) as (server, provider):
        house = House(store, provider=provider)
        await converse(house, 3)
        told = await snapshot(house)
        assert len(server.asked) == len(set(server.asked))
        assert sum("Question 1:" in text for text in server.asked) == 1
    assert "tokens (counted by the server)" in told
    assert "latest request: counted" in told


async def test_a_server_without_a_tokenizer_is_estimated(store: Store) -> None:
    async with counting("/elsewhere") as (server, provider):
        house = House(store, provider=provider)
        await converse(house, 2)
        told = await snapshot(house)
    assert server.asked == []
    assert "tokens (estimated)" in told
    assert "latest request: estimate" in told


@pytest.mark.parametrize(("letters", "shows_field"), [(1.0, False), (1.7, True), (6.0, False)])
async def test_no_prompt_passes_its_budget_and_the_window_is_used(
    store: Store, letters: float, shows_field: bool
) -> None:
    """However dense the vocabulary is, from the first request on."""
    window, reserve = int(14_000 / letters), 200
    async with counting(letters=letters, shows_field=shows_field) as (server, provider):
        house = House(store, provider=provider, window=window, reserve=reserve)
        await house.service.configure(house.place.guild_id, "tool_mode", "verbatim")
        await converse(house, 24)
    assert max(server.prompts) <= window - reserve
    assert max(server.prompts) >= 0.4 * window, "the window is left unused"


async def test_the_field_counts_where_the_server_shows_it(store: Store) -> None:
    totals: list[int] = []
    for shows_field in (False, True):
        async with counting(shows_field=shows_field) as (server, provider):
            house = House(store, provider=provider)
            await house.service.configure(house.place.guild_id, "tool_mode", "verbatim")
            await converse(house, 2)
            told = await snapshot(house)
            total = int(told.split("about ")[1].split(" ")[0])
            totals.append(total)
            assert abs(total - server.prompts[-1]) < 400, "beside one more exchange"
    assert totals[1] - totals[0] > 500


@pytest.mark.parametrize("trouble", ["slow", "failing"])
async def test_a_tokenizer_in_trouble_delays_nothing_and_is_left_alone(
    store: Store, trouble: str
) -> None:
    now = 0.0
    async with counting() as (server, provider):
        if trouble == "slow":
            server.delay = 30.0
        else:
            server.status = 500
        house = House(store, provider=provider)
        tokenizers = Tokenizers(patience=0.05, clock=lambda: now)
        house.service._tokenizers = tokenizers  # pyright: ignore[reportPrivateUsage]
        began = asyncio.get_running_loop().time()
        await converse(house, 3)
        assert asyncio.get_running_loop().time() - began < 5.0
        asked = len(server.asked)
        assert asked == 1
        server.delay, server.status = 0.0, 200
        now += tokenizing.ABSENT + 1
        await converse(house, 1, first=3)
        assert len(server.asked) > asked
        assert "counted by the server" in await snapshot(house)


async def test_what_a_text_of_the_turn_brings_is_estimated_high(store: Store) -> None:
    """A tokenizer that breaks off leaves a prompt of counted and of estimated messages."""
    async with counting(letters=2.0) as (server, provider):
        house = House(store, provider=provider)
        await converse(house, 2)
        server.status = 500
        await converse(house, 1, first=2)
        told = await snapshot(house)
    assert "messages estimated)" in told
    question = "Question 2: " + "what do you think about it? " * 10
    assert estimate(question) < server.tokens(question)


async def test_a_long_history_is_counted_over_several_turns(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tokenizer that is quick enough is not left alone because there is much to count."""
    monkeypatch.setattr(tokenizing, "BRISK", 2)
    async with counting() as (server, provider):
        house = House(store, provider=provider)
        for number in range(60):
            house.channel.add(ADA, f"Message {number}, which nobody has counted yet.")
        tokenizers = Tokenizers(patience=0.6)
        house.service._tokenizers = tokenizers  # pyright: ignore[reportPrivateUsage]
        server.delay = 0.08
        await converse(house, 1)
        first = len(server.asked)
        assert "messages estimated)" in await snapshot(house)
        for _ in range(20):
            if "(counted by the server)" in await snapshot(house):
                break
        assert first < len(set(server.asked)) >= 30
        assert "(counted by the server)" in await snapshot(house)
