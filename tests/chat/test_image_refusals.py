"""Turns with an image at every kind of server, over real sockets.

A server that takes images gets one and its tool turn works as before; one that refuses them, in
its own words, is asked without them, once.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from chat.images import BLIND
from data.store import Store
from prompt.verbatim import Verdict
from providers.openai.adapter import Limits, OpenAIProvider
from tests.chat.house import House
from tests.chat.pictures import png
from tests.chat.scripted import ADA, Recorder
from tests.loopback.cast import BY_NAME
from tests.loopback.personalities import PersonalEndpoint, Personality, serving
from tests.loopback.personality_rules import (
    Shape,
    any_image,
    content_not_text,
    llama_shape,
    openai_shape,
    plain_shape,
    refuses,
    vllm_shape,
)

MODEL = "local-model"


@asynccontextmanager
async def seeing(
    store: Store, personality: Personality
) -> AsyncGenerator[tuple[House, PersonalEndpoint]]:
    """A house that takes the model for one that sees."""
    async with serving(personality) as endpoint:
        limits = Limits(first_token=5, idle=5)
        provider = OpenAIProvider(base_url=endpoint.base_url, model=MODEL, limits=limits)
        learnt = Verdict(learnt={"vision": "on"})
        await store.verdicts.put(provider.endpoint, MODEL, learnt)
        try:
            yield House(store, provider=provider), endpoint
        finally:
            await provider.close()


async def show(house: House, text: str) -> Recorder:
    presenter = house.presenter()
    message = house.channel.add(ADA, f"{text}\n[image: cat.png]", files={"cat.png": png()})
    await house.service.respond(house.about(message), house.channel, presenter)
    return presenter


def with_image(endpoint: PersonalEndpoint) -> list[bool]:
    return [any_image(body) for body in endpoint.bodies]


def takes_parts(personality: Personality) -> bool:
    parts = {"messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]}
    return not any(rule(parts) for rule in personality.rules)


SERVERS = (
    "llama.cpp",
    "llama.cpp, a template without the tool role",
    "llama.cpp, a template that wants arguments as an object",
    "Ollama",
    "LM Studio",
    "vLLM, a Mistral template",
    "SGLang, Gemma 2",
    "KoboldCpp",
    "TabbyAPI",
    "LocalAI",
    "mlx_lm.server",
)
"""One of each kind, and those whose templates want messages in an order of their own."""


@pytest.mark.parametrize("name", SERVERS)
async def test_a_tool_turn_about_an_image(store: Store, name: str) -> None:
    personality = BY_NAME[name]
    async with seeing(store, personality) as (house, endpoint):
        shown = await show(house, "Please roll 2d6")
        assert [run.call.name for run in shown.reply.runs] == ["roll_dice"]
        assert shown.reply.text.startswith("The dice say ")
        assert with_image(endpoint)[-1] == takes_parts(personality)
        expected = "on" if takes_parts(personality) else "off"
        assert (await house.verdict()).learnt["vision"] == expected


REFUSALS: list[tuple[str, Shape, int, str]] = [
    ("llama.cpp", llama_shape, 500, "image input is not supported - hint: provide the mmproj"),
    ("Ollama", openai_shape, 400, "this model is missing data required for image input"),
    ("LM Studio", plain_shape, 400, "Model does not support images."),
    ("vLLM without a tool parser", vllm_shape, 400, "tiny is not a multimodal model"),
    ("mlx_lm.server", plain_shape, 400, "Only 'text' content type is supported."),
    ("SGLang, Gemma 2", openai_shape, 400, 'can only concatenate str (not "list") to str'),
]


@pytest.mark.parametrize(("name", "shape", "status", "words"), REFUSALS)
async def test_a_server_that_refuses_images_is_asked_without(
    store: Store, name: str, shape: Shape, status: int, words: str
) -> None:
    rule = refuses(shape, status, words, any_image)
    personality = replace(BY_NAME[name], rules=(rule, *BY_NAME[name].rules))
    async with seeing(store, personality) as (house, endpoint):
        shown = await show(house, "What is it?")
        assert (shown.reply.text, shown.reply.notices) == ("Hello there.", [])
        assert with_image(endpoint)[0]
        assert not with_image(endpoint)[-1]
        assert BLIND in str(endpoint.bodies[-1]["messages"][-1]["content"])
        assert (await house.verdict()).learnt["vision"] == "off"
        refused = len(endpoint.refused)
        await show(house, "And this?")
        assert (sum(with_image(endpoint)), len(endpoint.refused)) == (1, refused)
        assert not content_not_text(endpoint.bodies[-1])
