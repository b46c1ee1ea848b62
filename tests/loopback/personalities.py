"""Chat-completions endpoints on 127.0.0.1, each with the manners of one kind of server.

Invariant: what differs between servers is data of a Personality; the model behind all of them is
the same few lines. It calls a tool only if it was told of it, natively or in the prompt, and tells
a result that it was given.
"""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from aiohttp import web

from tests.loopback.personality_rules import Body, Json, Refusal, Rule

Chunk: TypeAlias = dict[str, Json]
Deltas: TypeAlias = Callable[[str, str], Sequence[Chunk]]
"""The `tool_calls` entries, delta by delta, of a call with this name and these arguments."""

RESULT_MARK = "[tool result]"
_NOT_FOUND = Refusal(status=404, body={"error": "not found"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Personality:
    """How one kind of server answers.

    `tools` says what becomes of the field: the model sees it and the server reads its calls
    (`native`); the model sees it and its call stays in the text (`text`); both at once (`both`);
    it never reaches the model (`ignored`). `written` is the form of a call as text.
    """

    name: str
    rules: Sequence[Rule] = ()
    tools: Literal["native", "text", "both", "ignored"] = "native"
    written: str = '<tool_call>\n{{"name": "{name}", "arguments": {arguments}}}\n</tool_call>'
    deltas: Deltas = lambda name, arguments: [entry(name, arguments, index=0, id="call_1")]
    finish: str = "tool_calls"
    plain_finish: str = "stop"
    streaming: Literal["really", "in_one_piece", "without_calls"] = "really"
    content_first: Json = ""
    """Content of the first delta."""
    before: bytes = b""
    """Bytes ahead of every chunk: what keeps a line alive."""
    usage: Mapping[str, Json] | None = field(
        default_factory=lambda: {"prompt_tokens": 300, "completion_tokens": 20}
    )
    """Token counts at the end of a stream that asks for them; None where there are none."""
    timings: Mapping[str, Json] | None = None
    thought: str = ""
    thought_field: str = "reasoning_content"
    calls_in_thought: bool = False
    """A call that stays in the text stands in the thinking, which never ends."""
    says_with: str = ""
    """A function of the server's own, which it calls in place of words where tools are offered."""
    done: bytes = b"data: [DONE]\n\n"
    pause: float = 0.0
    """Seconds before an answer begins."""
    tells: Mapping[str, Json] = field(default_factory=dict[str, Json])
    """Answers beside the API, by path."""
    unknown: Refusal = _NOT_FOUND
    """What a path that does not exist answers."""


def entry(name: str, arguments: Json, **identity: Json) -> Chunk:
    """One entry of `tool_calls`."""
    return {**identity, "type": "function", "function": {"name": name, "arguments": arguments}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What the model says: words, or a call."""

    text: str = ""
    name: str = ""
    arguments: str = ""


_DICE = re.compile(r"\b(\d*d\d+)\b")


def think(body: Body, *, told_natively: bool) -> Said:
    """The model. It speaks to the last message alone, but for what it was told of tools."""
    messages: Sequence[Mapping[str, Json]] = body["messages"]
    last = messages[-1]
    words = _text(last["content"])
    if last["role"] == "tool" or RESULT_MARK in words:
        result = words.rpartition(f"{RESULT_MARK} roll_dice:")[2].strip()
        return Said(text=f"The dice say {result}")
    prompt = json.dumps([message["content"] for message in messages])
    told = '\\"name\\":\\"roll_dice\\"' in prompt or (told_natively and "tools" in body)
    if (dice := _DICE.findall(words)) and told:
        return Said(name="roll_dice", arguments=json.dumps({"dice": dice[-1]}))
    if any(m["role"] == "system" and "BLUE" in m["content"] for m in messages):
        return Said(text="BLUE")
    if "Count" in words:
        return Said(text=" ".join(str(number) for number in range(1, 21)))
    return Said(text="Hello there.")


def _text(content: Json) -> str:
    """The words of a message, without its images."""
    if isinstance(content, str):
        return content
    parts: Sequence[Mapping[str, Json]] = content or ()
    return "\n".join(part["text"] for part in parts if part["type"] == "text")


class PersonalEndpoint:
    """Serves one personality inside `serving`."""

    def __init__(self, personality: Personality) -> None:
        self.personality = personality
        self.bodies: list[Body] = []
        """Chat requests as they came."""
        self.headers: list[Mapping[str, str]] = []
        """Of every request, those beside the chat too."""
        self.refused: list[Refusal] = []
        self.port = 0

    @property
    def base_url(self) -> str:
        """Address for a client's settings."""
        return f"http://127.0.0.1:{self.port}/v1"

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Any request."""
        manners = self.personality
        self.headers.append(dict(request.headers))
        if request.path == "/v1/chat/completions":
            return await self._chat(request)
        if request.path in manners.tells:
            return web.json_response(manners.tells[request.path])
        if request.path == "/v1/models":
            return web.json_response({"object": "list", "data": [{"id": "local-model"}]})
        return web.json_response(manners.unknown.body, status=manners.unknown.status)

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        body: Body = json.loads(await request.read())
        self.bodies.append(body)
        for rule in self.personality.rules:
            if refusal := rule(body):
                self.refused.append(refusal)
                return web.json_response(refusal.body, status=refusal.status)
        manners = self.personality
        await asyncio.sleep(manners.pause)
        said = think(body, told_natively=manners.tools != "ignored")
        if manners.says_with and said.text and "tools" in body:
            said = Said(name=manners.says_with, arguments=json.dumps({"message": said.text}))
        if not body.get("stream"):
            return web.json_response(_completion(manners, body, said))
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for chunk in _chunks(manners, body, said):
            await response.write(manners.before + f"data: {json.dumps(chunk)}\n\n".encode())
            await asyncio.sleep(0)
        await response.write(manners.done)
        return response


def _structured(manners: Personality, body: Body, said: Said) -> bool:
    """Whether the server makes a structured call of what the model says."""
    return bool(said.name) and "tools" in body and manners.tools in {"native", "both"}


def _words(manners: Personality, body: Body, said: Said) -> str:
    """What the model writes itself, as the server hands it on."""
    if said.name and (manners.tools != "native" or "tools" not in body):
        return manners.written.format(name=said.name, arguments=said.arguments)
    return said.text


def _thought_and_words(manners: Personality, body: Body, said: Said) -> tuple[str, str]:
    """What stands in the field for thinking and in the content."""
    words = _words(manners, body, said)
    return (words, "") if manners.calls_in_thought and said.name else (manners.thought, words)


def _completion(manners: Personality, body: Body, said: Said) -> Chunk:
    structured = _structured(manners, body, said)
    thought, words = _thought_and_words(manners, body, said)
    message: Chunk = {"role": "assistant", "content": words}
    if thought:
        message[manners.thought_field] = thought
    if structured:
        call = entry(said.name, said.arguments, id="call_1")
        message = {**message, "content": message["content"] or None, "tool_calls": [call]}
    finish = manners.finish if structured else manners.plain_finish
    return {
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": _prompt_tokens(manners, body), "completion_tokens": 20},
    }


def _chunks(manners: Personality, body: Body, said: Said) -> Iterator[Chunk]:
    structured = _structured(manners, body, said)
    thought, words = _thought_and_words(manners, body, said)
    if manners.streaming == "without_calls" and "tools" in body and said.name:
        structured, words = False, ""
    yield _chunk({"role": "assistant", "content": manners.content_first})
    if thought:
        yield _chunk({manners.thought_field: thought})
    size = len(words) or 1 if manners.streaming == "in_one_piece" else 4
    for at in range(0, len(words), size):
        yield _chunk({"content": words[at : at + size]})
    for call in manners.deltas(said.name, said.arguments) if structured else ():
        yield _chunk({"tool_calls": [call]})
    last = _chunk({}, finish=manners.finish if structured else manners.plain_finish)
    yield {**last, "timings": manners.timings} if manners.timings else last
    asked = "include_usage" in body.get("stream_options", ())
    if manners.usage is not None and asked:
        counts = {**manners.usage, "prompt_tokens": _prompt_tokens(manners, body)}
        yield {**_chunk({}), "choices": [], "usage": counts}


def _prompt_tokens(manners: Personality, body: Body) -> int:
    seen: list[Json] = [body["messages"]]
    if manners.tools != "ignored":
        seen.append(body.get("tools"))
    return len(json.dumps(seen)) // 4


def _chunk(delta: Chunk, *, finish: str | None = None) -> Chunk:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": "local-model",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }


@asynccontextmanager
async def serving(personality: Personality) -> AsyncGenerator[PersonalEndpoint]:
    """The endpoint, on a free port for as long as the context is entered."""
    endpoint = PersonalEndpoint(personality)
    app = web.Application(client_max_size=64 * 1024 * 1024)
    app.router.add_route("*", "/{path:.*}", endpoint.answer)
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.2)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        endpoint.port = int(runner.addresses[0][1])
        yield endpoint
    finally:
        await runner.cleanup()
