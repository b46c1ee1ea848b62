"""An endpoint on 127.0.0.1 that goes wrong in the way that a question asks for.

A question names its number and way: `chaos-12-cut`. The newest one in a request is obeyed. An
answer that comes to its end ends with `done-12`.

Invariant: nothing here outlives the client's connection, and no answer is longer than GIGABYTE.
"""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager

from aiohttp import web

GIGABYTE = 1 << 30
TOOL = "unruly__echo"
WAYS = (
    "slow",
    "silent",
    "stalls",
    "cut",
    "short",
    "flood",
    "torrent",
    "garbage",
    "error",
    "busy",
    "page",
    "tool",
)
"""What a question may ask for besides `well`. `short` announces more bytes than it sends, `flood`
is one event without end, `torrent` words without end, `page` HTML in place of an answer."""

_NAME = re.compile(r"chaos-(\d+)-(\w+)")
_PART = 64 * 1024
_STREAM = {"Content-Type": "text/event-stream"}


def words(number: int) -> Iterator[str]:
    """An answer, piece by piece."""
    for count in range(12):
        yield f"Word {count} of answer {number}. "
    yield f"done-{number}"


def _event(text: str | None, finish: str | None = None) -> bytes:
    delta = {} if text is None else {"content": text}
    chunk = {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
    return f"data: {json.dumps(chunk)}\n\n".encode()


async def _chat(request: web.Request) -> web.StreamResponse:
    try:
        return await _answer(request)
    except ConnectionError:  # the client has gone, as it should
        return web.Response()


async def _answer(request: web.Request) -> web.StreamResponse:
    body = await request.json()
    found = [name for each in body["messages"] for name in _NAME.findall(json.dumps(each))]
    number, way = int(found[-1][0]), found[-1][1]
    match way:
        case "silent":
            await asyncio.Event().wait()
        case "error":
            return web.json_response({"error": {"message": "out of memory"}}, status=500)
        case "busy":
            return web.json_response({"error": {"message": "slow down"}}, status=429)
        case "page":
            return web.Response(text="<html>Sign in</html>", content_type="text/html")
        case _:
            pass
    written = b"".join(map(_event, words(number)))
    length = {"Content-Length": str(len(written) * 3)} if way == "short" else {}
    response = web.StreamResponse(headers={**_STREAM, **length})
    await response.prepare(request)
    if way == "flood":
        await response.write(b'data: {"x": "')
        for _ in range(GIGABYTE // _PART):
            await response.write(b"x" * _PART)
        return response
    if way == "torrent":
        for _ in range(GIGABYTE // _PART):
            await response.write(_event("all work and no play " * (_PART // 21)))
        return response
    result = json.dumps(body["messages"][-1])
    if way == "tool" and found[-1][0] in result:  # the question itself is last: no result yet
        await response.write(_event(f"{TOOL}({{}})") + _event(None, "stop"))
        await response.write(b"data: [DONE]\n\n")
        return response
    for count, piece in enumerate(words(number)):
        await response.write(_event(piece))
        await asyncio.sleep(0.15 if way == "slow" else 0.01)
        if count == 6 and way == "stalls":
            await asyncio.Event().wait()
        if count == 6 and way == "garbage":
            await response.write(b"data: {this is no JSON\n\n")
        if count == 6 and way in {"cut", "short"} and request.transport is not None:
            request.transport.abort() if way == "cut" else request.transport.close()
            return response
    await response.write(_event(None, "stop") + b"data: [DONE]\n\n")
    return response


async def _models(request: web.Request) -> web.Response:
    return web.json_response({"object": "list", "data": [{"id": "chaos", "object": "model"}]})


async def _properties(request: web.Request) -> web.Response:
    return web.json_response({"total_slots": 32})


@asynccontextmanager
async def chaos_endpoint() -> AsyncGenerator[str]:
    """Its base URL, while it serves."""
    app = web.Application(client_max_size=64 * 1024 * 1024)
    app.router.add_post("/v1/chat/completions", _chat)
    app.router.add_get("/v1/models", _models)
    app.router.add_get("/props", _properties)
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.5)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    finally:
        await runner.cleanup()
