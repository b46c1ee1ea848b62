"""Writes a prompt as the request that chat-completion endpoints take.

Invariant: pure, and the same prompt and switches give the same bytes. The arguments of old calls
always parse, and every native call has its result right behind it; what servers differ in is left
to the transforms. With the switches at their defaults, roles alternate after one leading system
message, the last message is a member's or a tool's, and `content` is a string everywhere but in
the message that carries images.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence

from prompt.prompt import EXCHANGE, Prompt
from prompt.surface import canonical_json
from prompt.taught import result_text
from prompt.values import (
    ImageReference,
    JsonObject,
    PromptItem,
    ReasoningPart,
    TextPart,
    ToolCall,
    ToolResult,
    Zone,
)
from providers.base import RequestOptions
from providers.openai.transforms import (
    LATE,
    PAST,
    THINKING,
    Body,
    Message,
    transformed,
)

_WIRE_ID = re.compile(r"[A-Za-z0-9]{9}")
_NO_RESULT = "(no result was recorded for this call)"
_BASE_62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def request_body(prompt: Prompt, options: RequestOptions, *, model: str) -> Body:
    """The body of a request, as `options.wire` wants it."""
    body: Body = {"model": model, "messages": _plain_messages(prompt)}
    if prompt.report.mode in {"native", "verbatim"} and prompt.surface.native:
        body["tools"] = list(prompt.surface.native)
    body["stream"] = True
    body["stream_options"] = {"include_usage": True}
    if options.max_tokens is not None:
        body["max_tokens"] = options.max_tokens
    if options.temperature is not None:
        body["temperature"] = options.temperature
    if options.slot is not None:
        body["id_slot"] = options.slot
    return transformed(body, options.wire)


def body_bytes(body: JsonObject) -> bytes:
    """The bytes that go over the wire for `body`.

    Half a surrogate pair, which a member's client can send, has no UTF-8 form: it becomes `?`.
    """
    return canonical_json(body).encode("utf-8", "replace")


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


def _plain_messages(prompt: Prompt) -> list[Message]:
    """One message an item, with calls and results of their own in native mode."""
    items = [item for item in prompt.all_items if item.text.strip() or item.parts]
    if prompt.report.mode == "native":
        return _natively(items)
    return [_as_text(item) for item in items]


def _as_text(item: PromptItem) -> Message:
    if item.role == "system":
        late = item.zone is not Zone.STABLE
        return {"role": "system", "content": item.text, **({LATE: True} if late else {})}
    if item.role == "assistant":
        return {"role": "assistant", "content": item.text, **_thought(item)}
    images = [part for part in item.parts if isinstance(part, ImageReference)]
    return {"role": "user", "content": _with_images(item.text, images) if images else item.text}


def _with_images(text: str, images: Sequence[ImageReference]) -> list[Message]:
    shown = [{"type": "image_url", "image_url": {"url": image.url}} for image in images]
    return [{"type": "text", "text": text}, *shown]


def _thought(item: PromptItem) -> Message:
    """The thinking before an item of the model, as fields of its message."""
    texts = [part.text for part in item.parts if isinstance(part, ReasoningPart)]
    if not texts:
        return {}
    past = {} if item.tag == EXCHANGE else {PAST: True}
    return {THINKING: "\n\n".join(texts), **past}


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
        **_thought(item),
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
