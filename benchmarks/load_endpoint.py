"""An endpoint on 127.0.0.1 that streams to many at once, and knows when each token left.

    python -m benchmarks.load_endpoint --rate 25 --tokens 400

prints one JSON line with its port and serves until SIGTERM. /v1/log tells, by the stream's name,
when each of its tokens was written; a stream is named by the first `stream-N` of the last message.

Invariant: a stream's text depends on its name alone, and no run of its words comes twice in it, so
that the end of any part of it tells how many tokens that part holds.
"""

import argparse
import asyncio
import json
import random
import re
import signal
import time
from collections import defaultdict

from aiohttp import web

_SLOTS = 512
"""That the server tells of: the line is not what is measured."""

_VOCABULARY = """
the a of in and which under over beside river harbour lantern slate copper meadow winter ferry
market orchard signal keeper letter window garden northern quiet narrow early distant carries keeps
opens turns follows leaves holds crosses remembers gathers answers
"""
_WORDS = _VOCABULARY.split()
_NAME = re.compile(r"stream-\d+")


def tokens_of(name: str, count: int) -> list[str]:
    """The tokens of a stream: sentences in paragraphs, with lists and emphasis between them."""
    words = random.Random(name)
    tokens: list[str] = []
    while len(tokens) < count:
        sentence = words.choices(_WORDS, k=words.randint(6, 16))
        sentence[0] = sentence[0].capitalize()
        if words.random() < 0.2:
            sentence[2] = f"**{sentence[2]}**"
        tokens += [f" {word}" for word in sentence]
        tokens.append(words.choice((".", ".", ".", ",", ":", ".\n\n", ".\n\n", ".\n- ")))
    return tokens[:count]


class LoadEndpoint:
    """Streams `count` tokens a request, `rate` a second."""

    def __init__(self, rate: float, count: int) -> None:
        self._rate = rate
        self._count = count
        self._written: dict[str, list[float]] = defaultdict(list)

    def application(self) -> web.Application:
        """Its routes."""
        app = web.Application(client_max_size=16 * 1024 * 1024)
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_get("/v1/models", self._models)
        app.router.add_get("/props", self._properties)
        app.router.add_get("/v1/log", self._log)
        return app

    async def _models(self, request: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": [{"id": "load", "object": "model"}]})

    async def _properties(self, request: web.Request) -> web.Response:
        return web.json_response({"total_slots": _SLOTS})

    async def _log(self, request: web.Request) -> web.Response:
        """What was written since this was last asked."""
        written = dict(self._written)
        self._written.clear()
        return web.json_response(written)

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        name = _NAME.findall(json.dumps(body["messages"][-1]))[0]
        times = self._written[name]
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await response.write(_event({"role": "assistant", "content": ""}))
        clock = asyncio.get_running_loop().time
        begun = clock()
        for number, token in enumerate(tokens_of(name, self._count)):
            await asyncio.sleep(max(0.0, begun + number / self._rate - clock()))
            times.append(time.monotonic())
            await response.write(_event({"content": token}))
        await response.write(_event({}, finish="stop") + b"data: [DONE]\n\n")
        await response.write_eof()
        return response


def _event(delta: dict[str, str], finish: str | None = None) -> bytes:
    chunk = {
        "id": "chatcmpl-8f1b2c3d4e5f60718293a4b5",
        "object": "chat.completion.chunk",
        "created": 1767225600,
        "model": "load",
        "system_fingerprint": "fp_44709d6fcb",
        "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}],
    }
    return f"data: {json.dumps(chunk)}\n\n".encode()


async def serve(rate: float, count: int) -> None:
    """Serve until SIGINT or SIGTERM."""
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    application = LoadEndpoint(rate, count).application()
    runner = web.AppRunner(application, handler_cancellation=True, shutdown_timeout=1.0)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    print(json.dumps({"port": runner.addresses[0][1]}), flush=True)
    await stopped.wait()
    await runner.cleanup()


def main() -> None:
    """Read the command line and serve."""
    parser = argparse.ArgumentParser(prog="benchmarks.load_endpoint", description=__doc__)
    parser.add_argument("--rate", type=float, default=25.0, help="tokens a second and stream")
    parser.add_argument("--tokens", type=int, default=400, help="in a stream")
    arguments = parser.parse_args()
    asyncio.run(serve(arguments.rate, arguments.tokens))


if __name__ == "__main__":
    main()
