"""Writes a prompt as the request that chat-completion endpoints take.

Invariant: pure, and the same prompt gives the same bytes. Roles alternate after one leading
system message, the last message is a member's or a tool's, `content` is always a string, the
arguments of old calls always parse, and every native call has its result right behind it.
A prompt that grew by whole rounds keeps the messages that it had.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from prompt.prompt import Prompt
from prompt.surface import canonical_json
from prompt.taught import result_text
from prompt.values import Json, JsonObject, PromptItem, TextPart, ToolCall, ToolResult, Zone
from providers.base import RequestOptions

Message: TypeAlias = dict[str, Any]

_WIRE_ID = re.compile(r"[A-Za-z0-9]{9}")
_NO_RESULT = "(no result was recorded for this call)"
_BASE_62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def request_body(
    prompt: Prompt, options: RequestOptions, *, model: str, include_usage: bool
) -> dict[str, Json]:
    """The body of a streaming request. `include_usage` asks for token counts at the end."""
    body: dict[str, Json] = {"model": model, "messages": encode_messages(prompt)}
    if prompt.report.mode in {"native", "verbatim"} and prompt.surface.native:
        body["tools"] = list(prompt.surface.native)
    body["stream"] = True
    if include_usage:
        body["stream_options"] = {"include_usage": True}
    if options.max_tokens is not None:
        body["max_tokens"] = options.max_tokens
    if options.temperature is not None:
        body["temperature"] = options.temperature
    if options.slot is not None:
        body["id_slot"] = options.slot
    return body


def body_bytes(body: JsonObject) -> bytes:
    """The bytes that go over the wire for `body`.

    Half a surrogate pair, which a member's client can send, has no UTF-8 form: it becomes `?`.
    """
    return canonical_json(body).encode("utf-8", "replace")


def encode_messages(prompt: Prompt) -> list[Message]:
    """Messages in sending order."""
    items = [item for item in prompt.all_items if item.text.strip() or item.parts]
    head = [item.text for item in items if _is_head(item)]
    dialogue = [item for item in items if not _is_head(item)]
    if prompt.report.mode == "native":
        messages = _natively(dialogue)
    else:
        messages = [_as_text(item) for item in dialogue]
    if head:
        messages.insert(0, {"role": "system", "content": "\n\n".join(head)})
    return _closed(_merged(messages))


def wire_id(call_id: str) -> str:
    """An id that every chat template takes: nine letters and digits, the same every time."""
    if _WIRE_ID.fullmatch(call_id):
        return call_id
    number = int.from_bytes(hashlib.sha256(call_id.encode("utf-8", "replace")).digest()[:8])
    letters: list[str] = []
    for _ in range(9):
        number, rest = divmod(number, len(_BASE_62))
        letters.append(_BASE_62[rest])
    return "".join(letters)


def _is_head(item: PromptItem) -> bool:
    """System text goes to the head; what comes later would change the head's bytes there."""
    return item.role == "system" and item.zone is Zone.STABLE


def _as_text(item: PromptItem) -> Message:
    role = "assistant" if item.role == "assistant" else "user"
    return {"role": role, "content": item.text}


def _natively(items: Sequence[PromptItem]) -> list[Message]:
    """Calls and results as fields of their own; results that no call asked for as text."""
    messages: list[Message] = []
    open_calls: list[str] = []
    for item in items:
        results = [part for part in item.parts if isinstance(part, ToolResult)]
        if item.role == "tool" and results:
            messages += _results(results, _words(item), open_calls)
            continue
        messages += _missing(open_calls)
        calls = [part for part in item.parts if isinstance(part, ToolCall)]
        if item.role == "assistant" and calls:
            messages.append(_calling(item, calls))
            open_calls += [wire_id(call.id) for call in calls]
        else:
            messages.append(_as_text(item))
    return [*messages, *_missing(open_calls)]


def _calling(item: PromptItem, calls: Sequence[ToolCall]) -> Message:
    return {
        "role": "assistant",
        "content": _words(item),
        "tool_calls": [
            {
                "id": wire_id(call.id),
                "type": "function",
                "function": {"name": call.name, "arguments": _arguments(call)},
            }
            for call in calls
        ],
    }


def _results(results: Sequence[ToolResult], words: str, open_calls: list[str]) -> list[Message]:
    """Results as messages of their own, then what else is told about the calls.

    Those words go into the last result: between results and the next answer strict templates
    admit no message of a user.
    """
    messages: list[Message] = []
    orphans: list[str] = []
    for result in results:
        call_id = wire_id(result.call_id)
        if call_id in open_calls:
            open_calls.remove(call_id)
            messages.append({"role": "tool", "tool_call_id": call_id, "content": result.text})
        else:
            orphans.append(result_text(result.name, result.text))
    told = "\n".join(text for text in (*orphans, words) if text)
    if told and messages:
        messages[-1]["content"] += f"\n\n{told}"
    elif told:
        messages = [*_missing(open_calls), {"role": "user", "content": told}]
    return messages


def _words(item: PromptItem) -> str:
    words = [part.text.strip() for part in item.parts if isinstance(part, TextPart)]
    return "\n".join(text for text in words if text)


def _missing(open_calls: list[str]) -> list[Message]:
    """Results in place of those that never came; no call is open afterwards."""
    messages: list[Message] = [
        {"role": "tool", "tool_call_id": call_id, "content": _NO_RESULT} for call_id in open_calls
    ]
    open_calls.clear()
    return messages


def _arguments(call: ToolCall) -> str:
    """The arguments as the model wrote them, if that is a JSON object."""
    try:
        written = json.loads(call.raw_arguments)
    except (ValueError, RecursionError):
        written = None
    return call.raw_arguments if isinstance(written, Mapping) else canonical_json(call.arguments)


def _merged(messages: Sequence[Message]) -> list[Message]:
    """Neighbours of one role as one message: several templates refuse two in a row."""
    merged: list[Message] = []
    for message in messages:
        last = merged[-1] if merged else None
        if message["role"] != "tool" and last is not None and _goes_on(last, message):
            words = (last["content"], message["content"])
            content = "\n\n".join(text for text in words if text.strip())
            merged[-1] = {**message, "content": content}
        elif message["content"].strip() or message.keys() - {"role", "content"}:
            merged.append(message)
    return merged


def _goes_on(last: Message, message: Message) -> bool:
    return last["role"] == message["role"] and "tool_calls" not in last


def _closed(messages: list[Message]) -> list[Message]:
    """Without a trailing answer: servers take it for a text that they are to go on with."""
    while messages and messages[-1]["role"] == "assistant":
        messages.pop()
    return messages
