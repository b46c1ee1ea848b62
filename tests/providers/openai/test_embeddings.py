"""Vectors from an endpoint with OpenAI's embeddings route, over real sockets."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from data.knowledge import InputRefused
from providers.base import EndpointError
from providers.openai.embeddings import EmbeddingsFailed, OpenAIEmbedder


class Route:
    """Embeds a text as its length and its number of spaces; the last entry comes first."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.answer: tuple[int, str] | None = None
        """Status and text in place of an answer."""
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    async def embed(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.bodies.append(body)
        self.keys.append(request.headers.get("Authorization"))
        if self.answer is not None:
            return web.Response(status=self.answer[0], text=self.answer[1])
        if any("too long" in text for text in body["input"]) or body["model"] == "unknown":
            return web.json_response({"error": {"message": "no"}}, status=400)
        data = [
            {"index": place, "embedding": [len(text), text.count(" ")]}
            for place, text in enumerate(body["input"])
        ]
        return web.json_response({"data": data[::-1]})


@asynccontextmanager
async def route() -> AsyncGenerator[Route]:
    made = Route()
    app = web.Application()
    app.router.add_post("/v1/embeddings", made.embed)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    made.port = int(runner.addresses[0][1])
    try:
        yield made
    finally:
        await runner.cleanup()


@asynccontextmanager
async def embedder(at: Route, model: str = "tiny") -> AsyncGenerator[OpenAIEmbedder]:
    made = OpenAIEmbedder(base_url=at.url, model=model, api_key="embed-key-1")
    try:
        yield made
    finally:
        await made.close()


async def test_one_vector_a_text_in_the_order_of_the_texts() -> None:
    async with route() as there, embedder(there) as here:
        texts = [f"{'x' * n} y" for n in range(11)]
        vectors = await here.embed(texts, here.model)
        assert vectors.tolist() == [[n + 2, 1] for n in range(11)]
        assert [len(body["input"]) for body in there.bodies] == [8, 3]
        assert {body["model"] for body in there.bodies} == {"tiny"}
        assert set(there.keys) == {"Bearer embed-key-1"}


async def test_the_name_tells_the_same_model_at_two_places_apart() -> None:
    async with route() as there, route() as elsewhere:
        async with embedder(there) as one, embedder(elsewhere) as other:
            assert one.model != other.model
            assert one.model.startswith("tiny at http://127.0.0.1:")
            with pytest.raises(EmbeddingsFailed):
                await one.embed(["a"], other.model)
        assert there.bodies == []


async def test_questions_go_to_the_model_that_made_the_vectors() -> None:
    async with route() as there, embedder(there, "new") as here:
        await here.embed(["a"], here.model.replace("new", "old", 1))
        assert there.bodies[0]["model"] == "old"


async def test_a_text_is_refused_only_while_others_are_embedded() -> None:
    async with route() as there:
        async with embedder(there) as here:
            with pytest.raises(InputRefused):
                await here.embed(["short", "far too long"], here.model)
        async with embedder(there, "unknown") as here:
            with pytest.raises(EmbeddingsFailed):
                await here.embed(["short"], here.model)


@pytest.mark.parametrize(
    "answer",
    [
        (500, "boom"),
        (401, "wrong key"),
        (200, "not JSON"),
        (200, "[]"),
        (200, json.dumps({"data": []})),
        (200, json.dumps({"data": [{"embedding": []}, {"embedding": [1]}]})),
        (200, json.dumps({"data": [{"embedding": ["a"]}]})),
    ],
)
async def test_other_answers_fail_without_repeating_what_was_sent(answer: tuple[int, str]) -> None:
    async with route() as there, embedder(there) as here:
        there.answer = answer
        with pytest.raises(EmbeddingsFailed) as caught:
            await here.embed(["a secret"], here.model)
        assert "secret" not in str(caught.value)


async def test_nobody_there_is_an_endpoint_error() -> None:
    async with route() as there:
        pass
    async with embedder(there) as here:
        with pytest.raises(EndpointError):
            await here.embed(["a"], here.model)
