"""What servers refuse in a chat request, in the words that clients match on.

Invariant: a rule looks at one request and knows nothing of the client; each is a server's own
check or that of a chat template which the server renders.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

Json: TypeAlias = Any
Body: TypeAlias = Mapping[str, Json]


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """An error answer."""

    status: int
    body: Json


Rule: TypeAlias = Callable[[Body], Refusal | None]
Shape: TypeAlias = Callable[[int, str], Refusal]
"""How a server wraps the words of an error."""


def llama_shape(status: int, message: str) -> Refusal:
    kind = "server_error" if status == 500 else "invalid_request_error"
    return Refusal(
        status=status, body={"error": {"code": status, "message": message, "type": kind}}
    )


def vllm_shape(status: int, message: str) -> Refusal:
    error = {"message": message, "type": "BadRequestError", "param": None, "code": status}
    return Refusal(status=status, body={"object": "error", **error})


def plain_shape(status: int, message: str) -> Refusal:
    return Refusal(status=status, body={"error": message})


def openai_shape(status: int, message: str) -> Refusal:
    error = {"message": message, "type": "api_error", "param": None, "code": None}
    return Refusal(status=status, body={"error": error})


def tabby_shape(status: int, message: str) -> Refusal:
    return Refusal(status=status, body={"detail": message})


def refuses(shape: Shape, status: int, message: str, when: Callable[[Body], bool]) -> Rule:
    """The rule that answers with this error whenever `when` holds."""

    def rule(body: Body) -> Refusal | None:
        return shape(status, message) if when(body) else None

    return rule


def messages(body: Body) -> Sequence[Mapping[str, Json]]:
    return body["messages"]


def roles(body: Body) -> list[str]:
    return [message["role"] for message in messages(body)]


def functions(body: Body) -> list[Mapping[str, Json]]:
    return [tool.get("function", {}) for tool in body.get("tools") or ()]


def offers_tools(body: Body) -> bool:
    return "tools" in body


def empty_tools(body: Body) -> bool:
    """`tools` that is null or an empty list."""
    return "tools" in body and not body["tools"]


def system_not_first(body: Body) -> bool:
    return "system" in roles(body)[1:]


def any_system(body: Body) -> bool:
    return "system" in roles(body)


def developer(body: Body) -> bool:
    return "developer" in roles(body)


def any_tool_role(body: Body) -> bool:
    return "tool" in roles(body)


def ends_with_assistant(body: Body) -> bool:
    return roles(body)[-1:] == ["assistant"]


def same_role_twice(body: Body) -> bool:
    """User and assistant in turns, calls and their results left out, as Mistral's templates do."""
    spoken = [
        message["role"]
        for message in messages(body)
        if message["role"] in {"user", "assistant"} and not message.get("tool_calls")
    ]
    return any(role != ("user", "assistant")[at % 2] for at, role in enumerate(spoken))


def calls(body: Body) -> list[Mapping[str, Json]]:
    return [call for message in messages(body) for call in message.get("tool_calls") or ()]


def long_call_ids(body: Body) -> bool:
    ids = [call["id"] for call in calls(body)]
    ids += [message["tool_call_id"] for message in messages(body) if message["role"] == "tool"]
    return any(not re.fullmatch(r"[A-Za-z0-9]{9}", call_id) for call_id in ids)


def arguments_as_text(body: Body) -> bool:
    return any(isinstance(call["function"]["arguments"], str) for call in calls(body))


def content_not_text(body: Body) -> bool:
    return any(not isinstance(message.get("content"), str) for message in messages(body))


def null_content(body: Body) -> bool:
    return any(message.get("content") is None for message in messages(body))


def any_image(body: Body) -> bool:
    return any('"image_url"' in json.dumps(message.get("content")) for message in messages(body))


def unfinished_function(body: Body) -> bool:
    """A tool without a description or parameters."""
    return any(not (f.get("description") and f.get("parameters")) for f in functions(body))


def no_properties(body: Body) -> bool:
    return any("properties" not in f.get("parameters", {}) for f in functions(body))


def null_strict(body: Body) -> bool:
    tools = [*(body.get("tools") or ()), *functions(body)]
    return any(tool.get("strict", False) is None for tool in tools)


def choice_is_object(body: Body) -> bool:
    return isinstance(body.get("tool_choice"), Mapping)


def regular_expression(body: Body) -> bool:
    """A pattern that llama.cpp's grammar has no form for."""
    return any(r"\\d" in str(f.get("parameters")) for f in functions(body))


def asks_for_usage(body: Body) -> bool:
    return "stream_options" in body


def newer_names(body: Body) -> bool:
    return "max_completion_tokens" in body or "store" in body
