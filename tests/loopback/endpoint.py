"""A chat-completions endpoint on 127.0.0.1 that accepts `tools`, ignores them and says its lines.

Invariant: a script is kept to the letter. A request that no step is left for, a step that no
request came for and a request without what its step expects all fail the test.

    python -m tests.loopback.endpoint --script FILE --port 0

serves a script, a JSON list of objects with the fields of Step, to a bot in another process:
it prints one JSON line with its address, stops on SIGTERM, prints what went wrong as a second
line and leaves status 1 behind if anything did.
"""

import argparse
import asyncio
import json
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self, cast

from aiohttp import web

Json = Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """How one chat request is answered.

    Normally `text` streams in pieces of `split` characters, or as the given `pieces`, after
    `reasoning`; then come `finish`, token counts if the request asked for them, and `[DONE]`.
    """

    when: str = ""
    """Only for a request whose last message holds this text; steps are tried in order."""
    expects: Sequence[str] = ()
    """Texts that the request body must hold, or the test fails."""
    text: str = ""
    pieces: Sequence[str] | None = None
    split: int = 3
    reasoning: str = ""
    chunks: Sequence[Mapping[str, Json]] = ()
    """Chunks sent as they are, in place of those made from the text."""
    finish: str | None = "stop"
    usage: Mapping[str, int] | None = None
    raw: str | None = None
    """The whole body of the stream, as it is."""
    whole: bool = False
    """One completion in place of a stream."""
    status: int = 200
    body: Json = None
    """JSON, or a text, that goes with a `status` other than 200."""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    delay: float = 0.0
    """Seconds before anything is sent."""
    pause: float = 0.0
    """Seconds between two writes."""
    write_bytes: int = 0
    """Bytes a write, 0 for an event a write."""
    hang: bool = False
    """Stay silent after the last piece until the client leaves."""
    cut: bool = False
    """Break the connection after the last piece."""


@dataclass(slots=True, kw_only=True)
class Received:
    """One chat request as it came. `left` tells that the client went before the answer's end."""

    raw: bytes
    headers: Mapping[str, str]
    left: bool = False

    @property
    def body(self) -> dict[str, Json]:
        """The decoded body."""
        return cast("dict[str, Json]", json.loads(self.raw))

    @property
    def messages(self) -> list[dict[str, Json]]:
        """The messages of the request."""
        return cast("list[dict[str, Json]]", self.body["messages"])


class LoopbackEndpoint:
    """Serves a script inside `async with`; leaving it checks that the script was kept to."""

    def __init__(
        self,
        steps: Sequence[Step] = (),
        *,
        models: Sequence[str] = ("loopback-model",),
        properties: Json = None,
    ) -> None:
        self._steps = list(steps)
        self._models = models
        self.properties = properties
        """What is told at /props, as llama.cpp's server does; None for a server that has none."""
        self.properties_status = 200
        self.asked_properties = 0
        self.received: list[Received] = []
        self.listings = 0
        """Times that the models were asked for."""
        self.problems: list[str] = []
        self.peers: set[tuple[str, int]] = set()
        """Client addresses: a connection that is used again counts once."""
        self._runner: web.AppRunner | None = None
        self.port = 0

    @property
    def base_url(self) -> str:
        """Address for a client's settings."""
        return f"http://127.0.0.1:{self.port}/v1"

    def add(self, *steps: Step) -> None:
        """Go on with these after the steps that are left."""
        self._steps += steps

    def check(self) -> None:
        """Raise AssertionError if the script was not kept to."""
        left = [f"step not asked for: {step}" for step in self._steps]
        if problems := [*self.problems, *left]:
            raise AssertionError("; ".join(problems))

    async def start(self, port: int = 0) -> None:
        """Listen on a free port, or the given one."""
        app = web.Application(client_max_size=64 * 1024 * 1024)
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_get("/v1/models", self._list)
        app.router.add_get("/props", self._tell_properties)
        self._runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=1.0)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", port)
        await site.start()
        self.port = int(self._runner.addresses[0][1])

    async def stop(self) -> None:
        """Close the port and every connection."""
        if self._runner is not None:
            await self._runner.cleanup()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.stop()
        if error is None:
            self.check()

    async def _list(self, request: web.Request) -> web.Response:
        self.listings += 1
        data = [{"id": name, "object": "model"} for name in self._models]
        return web.json_response({"object": "list", "data": data})

    async def _tell_properties(self, request: web.Request) -> web.Response:
        self.asked_properties += 1
        if self.properties is None:
            raise web.HTTPNotFound
        return web.json_response(self.properties, status=self.properties_status)

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        received = Received(raw=await request.read(), headers=dict(request.headers))
        self.received.append(received)
        if request.transport is not None:
            self.peers.add(request.transport.get_extra_info("peername"))
        step = self._step_for(received)
        if step is None:
            self.problems.append(f"request {len(self.received)} has no step")
            return web.json_response({"error": {"message": "the script is over"}}, status=500)
        try:
            await asyncio.sleep(step.delay)
            if step.status != 200:
                return _refusal(step)
            if step.whole:
                return web.json_response(_completion(step), headers=step.headers)
            return await self._stream(request, received, step)
        except (asyncio.CancelledError, ConnectionError):
            received.left = True
            raise

    def _step_for(self, received: Received) -> Step | None:
        last = json.dumps(received.messages[-1], ensure_ascii=False)
        for position, step in enumerate(self._steps):
            if step.when in last:
                missing = [text for text in step.expects if text not in received.raw.decode()]
                self.problems += [f"{text!r} is not in a request" for text in missing]
                return self._steps.pop(position)
        return None

    async def _stream(
        self, request: web.Request, received: Received, step: Step
    ) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream", **step.headers})
        await response.prepare(request)
        for data in _writes(step, received.body):
            await response.write(data)
            await asyncio.sleep(step.pause)
        if step.hang:
            await asyncio.Event().wait()
        if step.cut:
            assert request.transport is not None
            request.transport.abort()
            return response
        await response.write_eof()
        return response


def _refusal(step: Step) -> web.Response:
    if isinstance(step.body, str):
        return web.Response(text=step.body, status=step.status, headers=step.headers)
    return web.json_response(step.body, status=step.status, headers=step.headers)


def _pieces(step: Step) -> Sequence[str]:
    if step.pieces is not None:
        return step.pieces
    size = step.split or len(step.text) or 1
    return [step.text[start : start + size] for start in range(0, len(step.text), size)]


def _completion(step: Step) -> dict[str, Json]:
    message = {"role": "assistant", "content": "".join(_pieces(step))}
    return {
        "id": "chatcmpl-loopback",
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": step.finish}],
        "usage": step.usage or {"prompt_tokens": 1, "completion_tokens": 1},
    }


def _chunks(step: Step, body: Mapping[str, Json]) -> Iterator[Mapping[str, Json]]:
    yield _chunk({"role": "assistant", "content": None})
    if step.reasoning:
        yield _chunk({"reasoning_content": step.reasoning})
    for piece in _pieces(step):
        yield _chunk({"content": piece})
    if step.hang or step.cut:
        return
    if step.finish is not None:
        yield _chunk({}, finish=step.finish)
    wanted = cast("Mapping[str, Json]", body.get("stream_options") or {})
    if wanted.get("include_usage"):
        counts = step.usage or {"prompt_tokens": 7, "completion_tokens": len(_pieces(step))}
        yield {**_chunk({}), "choices": [], "usage": counts}


def _chunk(delta: Mapping[str, Json], *, finish: str | None = None) -> dict[str, Json]:
    return {
        "id": "chatcmpl-loopback",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": "loopback-model",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }


def _writes(step: Step, body: Mapping[str, Json]) -> Iterator[bytes]:
    if step.raw is not None:
        events = [step.raw]
    else:
        chunks = step.chunks or _chunks(step, body)
        events = [f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n" for chunk in chunks]
        if not (step.hang or step.cut):
            events.append("data: [DONE]\n\n")
    for event in events:
        data = event.encode()
        size = step.write_bytes or len(data) or 1
        yield from (data[start : start + size] for start in range(0, len(data), size))


def _say(fields: Mapping[str, Json]) -> None:
    sys.stdout.write(json.dumps(fields) + "\n")
    sys.stdout.flush()


async def _serve(script: Path, port: int) -> int:
    steps = [Step(**fields) for fields in json.loads(script.read_text(encoding="utf-8"))]
    endpoint = LoopbackEndpoint(steps)
    await endpoint.start(port)
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    _say({"port": endpoint.port, "base_url": endpoint.base_url})
    await stopped.wait()
    await endpoint.stop()
    try:
        endpoint.check()
    except AssertionError as error:
        _say({"problem": str(error)})
        return 1
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description="Serve a scripted chat-completions endpoint.")
    parser.add_argument("--script", type=Path, required=True, help="JSON list of steps")
    parser.add_argument("--port", type=int, default=0, help="0 for a free one")
    arguments = parser.parse_args()
    return asyncio.run(_serve(arguments.script, arguments.port))


if __name__ == "__main__":
    sys.exit(main())
