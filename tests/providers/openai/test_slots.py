"""What the server tells of its slots, whatever it answers."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from prompt.values import Json
from providers.base import Unavailable
from providers.openai.adapter import Limits, OpenAIProvider
from providers.openai.address import properties_url
from tests.loopback.endpoint import LoopbackEndpoint


@asynccontextmanager
async def provider(url: str) -> AsyncGenerator[OpenAIProvider]:
    made = OpenAIProvider(base_url=url, model="fern", limits=Limits(connect=1.0))
    try:
        yield made
    finally:
        await made.close()


async def told(properties: Json) -> int | None:
    async with (
        LoopbackEndpoint(properties=properties) as endpoint,
        provider(endpoint.base_url) as made,
    ):
        slots = await made.slots()
        assert endpoint.asked_properties == 1
        return slots


async def test_llama_cpp_tells_its_slots() -> None:
    assert await told({"total_slots": 4, "model_path": "x.gguf"}) == 4


@pytest.mark.parametrize(
    "properties",
    [
        None,  # answered with 404
        {"error": "Unexpected endpoint"},
        {"total_slots": True},
        {"total_slots": 0},
        {"total_slots": 100_000},
        {"total_slots": "4"},
        {"total_slots": None},
        [4],
        "slots",
    ],
)
async def test_other_answers_tell_nothing(properties: Json) -> None:
    assert await told(properties) is None


async def test_a_server_that_is_not_there_may_be_asked_later() -> None:
    async with LoopbackEndpoint() as endpoint:
        url = endpoint.base_url
    async with provider(url) as made:
        with pytest.raises(Unavailable):
            await made.slots()


async def test_a_server_that_loads_its_model_may_be_asked_later() -> None:
    properties = {"error": {"message": "Loading model", "code": 503}}
    async with (
        LoopbackEndpoint(properties=properties) as endpoint,
        provider(endpoint.base_url) as made,
    ):
        endpoint.properties_status = 503
        with pytest.raises(Unavailable):
            await made.slots()


@pytest.mark.parametrize(
    ("url", "properties"),
    [
        ("http://127.0.0.1:8080/v1", "http://127.0.0.1:8080/props"),
        ("http://box/llama/v1", "http://box/llama/props"),
        ("http://box/api", "http://box/api/props"),
    ],
)
def test_where_properties_are(url: str, properties: str) -> None:
    assert properties_url(url) == properties
