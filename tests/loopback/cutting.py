"""A chat-completions endpoint on 127.0.0.1 that drops the front of a prompt without a word.

Invariant: as Ollama does, it keeps the system message and the newest ones that fit its window,
answers with status 200, and reports the tokens of what was left. Where not even a user's message
is left it says what LM Studio says.
"""

import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web


class CuttingEndpoint:
    """Serves inside `cutting`. A token is `letters` characters, whatever they are."""

    def __init__(self, window: int, letters: float) -> None:
        self.window = window
        self.letters = letters
        self.asked: list[int] = []
        """Tokens of each prompt as it came."""
        self.read: list[int] = []
        """Tokens of what was left of it."""
        self.base_url = ""

    def cost(self, messages: Sequence[Mapping[str, Any]]) -> int:
        """Tokens of some messages."""
        return sum(3 + round(len(message["content"]) / self.letters) for message in messages)

    def answer(self, body: Mapping[str, Any]) -> web.Response:
        """A stream of one word, with the count of the tokens that were read."""
        messages: list[dict[str, Any]] = list(body["messages"])
        self.asked.append(self.cost(messages))
        first = 1 if messages[0]["role"] == "system" else 0
        while len(messages) > first and self.cost(messages) > self.window:
            del messages[first]
        self.read.append(self.cost(messages))
        if not any(message["role"] == "user" for message in messages):
            error = {"error": "Error rendering prompt: no user query found in messages."}
            return web.json_response(error, status=400)
        chunks: list[dict[str, Any]] = [
            {"choices": [{"index": 0, "delta": {"content": "word " * 120}, "finish_reason": None}]},
            {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
            {"choices": [], "usage": {"prompt_tokens": self.read[-1], "completion_tokens": 120}},
        ]
        stream = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks)
        return web.Response(text=f"{stream}data: [DONE]\n\n", content_type="text/event-stream")


@asynccontextmanager
async def cutting(window: int, *, letters: float = 4.2) -> AsyncGenerator[CuttingEndpoint]:
    """An endpoint with a window of so many tokens."""
    endpoint = CuttingEndpoint(window, letters)

    async def chat(request: web.Request) -> web.Response:
        return endpoint.answer(await request.json())

    app = web.Application()
    app.router.add_post("/v1/chat/completions", chat)
    runner = web.AppRunner(app, shutdown_timeout=1.0)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        endpoint.base_url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        yield endpoint
    finally:
        await runner.cleanup()
