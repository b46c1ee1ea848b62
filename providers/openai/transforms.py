"""Rewrites a plain request for what one server takes.

Invariant: pure, each transform obeys one switch, and TRANSFORMS is the one place that orders them.
With the switches at their defaults a request that grew by whole rounds keeps the messages that it
had. Transforms get a body of their own and never change values inside it.
"""

import json
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from prompt.taught import result_text, written_call
from prompt.values import Json
from providers.wire import Wire

Message: TypeAlias = dict[str, Any]
Content: TypeAlias = str | list[dict[str, Any]]
"""Words, or where there are images, words and images in parts."""

Body: TypeAlias = dict[str, Json]
Transform: TypeAlias = Callable[[Body, Wire], Body]

LATE = "late"
"""Marks a system message that came up after the head; no request carries the mark."""

PAST = "past"
"""Marks a message of an earlier turn that holds thinking; no request carries the mark."""

THINKING = "reasoning_content"


def system_layout(messages: Sequence[Message], wire: Wire) -> list[Message]:
    """Head first, later system text as the user's: as system text it would change the head.

    `as_is` leaves all where it is; `fold_into_user` puts the head before the first words of a
    user.
    """
    if wire.system_layout == "as_is":
        return [_without(message, LATE) for message in messages]
    head: list[str] = []
    rest: list[Message] = []
    for message in messages:
        if message["role"] != "system":
            rest.append(message)
        elif message.get(LATE):
            rest.append({"role": "user", "content": message["content"]})
        else:
            head.append(message["content"])
    if not head:
        return rest
    text = "\n\n".join(head)
    if wire.system_layout == "merge_first":
        return [{"role": "system", "content": text}, *rest]
    for place, message in enumerate(rest):
        if message["role"] == "user":
            rest[place] = {**message, "content": _joined(text, message["content"])}
            return rest
    return [{"role": "user", "content": text}, *rest]


def tool_role(messages: Sequence[Message], wire: Wire) -> list[Message]:
    """Calls and results as text, in the form that verbatim mode teaches, for `as_user`."""
    if wire.tool_role == "native":
        return list(messages)
    names: dict[str, str] = {}

    def written(message: Message) -> Message:
        if message["role"] == "tool":
            name = names.get(message["tool_call_id"], "tool")
            return {"role": "user", "content": result_text(name, message["content"])}
        if "tool_calls" not in message:
            return message
        names.update((call["id"], call["function"]["name"]) for call in message["tool_calls"])
        functions = [call["function"] for call in message["tool_calls"]]
        texts = [written_call(each["name"], each["arguments"]) for each in functions]
        content = "\n".join(text for text in (message["content"], *texts) if text)
        return {**_without(message, "tool_calls"), "content": content}

    return [written(message) for message in messages]


def reasoning_echo(messages: Sequence[Message], wire: Wire) -> list[Message]:
    """Thinking of this turn, of none, or of all turns that it was kept of."""

    def echoed(message: Message) -> Message:
        past = message.get(PAST, False)
        if wire.reasoning_echo == "drop" or (past and wire.reasoning_echo == "same_turn"):
            message = _without(message, THINKING)
        return _without(message, PAST)

    return [echoed(message) for message in messages]


def merge_same_role(messages: Sequence[Message], wire: Wire) -> list[Message]:
    """Neighbours of one role as one message; several templates refuse two in a row.

    Messages that say nothing are left out in any case.
    """
    merged: list[Message] = []
    for message in messages:
        last = merged[-1] if merged else None
        joins = wire.merge_same_role == "on" and message["role"] != "tool"
        if joins and last is not None and _goes_on(last, message):
            merged[-1] = {**message, "content": _joined(last["content"], message["content"])}
        elif _parts(message["content"]) or message.keys() - {"role", "content"}:
            merged.append(message)
    return merged


def no_trailing_answer(messages: Sequence[Message], wire: Wire) -> list[Message]:
    """Without one, whatever is set: servers take it for a text that they are to go on with."""
    kept = list(messages)
    while kept and kept[-1]["role"] == "assistant":
        kept.pop()
    return kept


def empty_content(messages: Sequence[Message], wire: Wire) -> list[Message]:
    """What stands in place of words in a message that only calls."""
    if wire.empty_content == "empty_string":
        return list(messages)

    def emptied(message: Message) -> Message:
        silent = "tool_calls" in message and not message["content"]
        return {**message, "content": None} if silent else message

    return [emptied(message) for message in messages]


def arguments_in_history(messages: Sequence[Message], wire: Wire) -> list[Message]:
    """Arguments of earlier calls as objects, for templates that look inside them."""
    if wire.arguments_in_history == "string":
        return list(messages)

    def opened(call: Message) -> Message:
        function = call["function"]
        return {**call, "function": {**function, "arguments": json.loads(function["arguments"])}}

    def rewritten(message: Message) -> Message:
        if "tool_calls" not in message:
            return message
        return {**message, "tool_calls": [opened(call) for call in message["tool_calls"]]}

    return [rewritten(message) for message in messages]


def stream_with_tools(body: Body, wire: Wire) -> Body:
    """One whole reply where tools are offered, from servers that stream calls wrongly."""
    if wire.stream_with_tools == "stream" or "tools" not in body:
        return body
    return {**_without(body, "stream_options"), "stream": False}


def usage_in_stream(body: Body, wire: Wire) -> Body:
    """Token counts are asked for unless that was refused, or is not wanted."""
    return _without(body, "stream_options") if wire.usage_in_stream == "off" else body


def tool_choice(body: Body, wire: Wire) -> Body:
    """The word, never the object form, which several servers refuse."""
    if wire.tool_choice == "omit" or "tools" not in body:
        return body
    return {**body, "tool_choice": "auto"}


def parallel_calls(body: Body, wire: Wire) -> Body:
    """Several calls in one answer, asked for where a server wants to be asked."""
    if wire.parallel_calls != "send_true" or "tools" not in body:
        return body
    return {**body, "parallel_tool_calls": True}


def thinking(body: Body, wire: Wire) -> Body:
    """The field that switches thinking off, one of those that servers know."""
    match wire.thinking:
        case "kwargs_off":
            return {**body, "chat_template_kwargs": {"enable_thinking": False}}
        case "think_false":
            return {**body, "think": False}
        case "effort_none":
            return {**body, "reasoning_effort": "none"}
        case _:
            return body


def on_messages(rewrite: Callable[[Sequence[Message], Wire], list[Message]]) -> Transform:
    """A transform of the messages as one of the body."""

    def transform(body: Body, wire: Wire) -> Body:
        return {**body, "messages": rewrite(body["messages"], wire)}

    return transform


MESSAGE_TRANSFORMS = (
    system_layout,
    tool_role,
    reasoning_echo,
    merge_same_role,
    no_trailing_answer,
    empty_content,
    arguments_in_history,
)

TRANSFORMS: tuple[Transform, ...] = (
    *(on_messages(rewrite) for rewrite in MESSAGE_TRANSFORMS),
    stream_with_tools,
    usage_in_stream,
    tool_choice,
    parallel_calls,
    thinking,
)


def transformed(body: Body, wire: Wire) -> Body:
    """`body` after all transforms, in order."""
    for transform in TRANSFORMS:
        body = transform(body, wire)
    return body


def _joined(first: Content, second: Content) -> Content:
    """Both contents as one, words that meet as one text."""
    if isinstance(first, str) and isinstance(second, str):
        return "\n\n".join(text for text in (first, second) if text.strip())
    joined: list[dict[str, Any]] = []
    for part in (*_parts(first), *_parts(second)):
        if joined and part["type"] == joined[-1]["type"] == "text":
            joined[-1] = {"type": "text", "text": f"{joined[-1]['text']}\n\n{part['text']}"}
        else:
            joined.append(part)
    return joined


def _parts(content: Content) -> list[dict[str, Any]]:
    """A content in parts; none where it says nothing."""
    if isinstance(content, list):
        return content
    return [{"type": "text", "text": content}] if content.strip() else []


def _goes_on(last: Message, message: Message) -> bool:
    return last["role"] == message["role"] and "tool_calls" not in last


def _without(fields: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name != key}
