"""Which switch the words of servers' errors name. The words are those that servers use."""

from typing import Any

import pytest

from providers.base import (
    AuthFailed,
    ContextTooLong,
    EndpointError,
    RateLimited,
    Refused,
    Replan,
    ToolsRefused,
    Unavailable,
)
from providers.openai.errors import UnknownModel
from providers.openai.replans import named, replanned
from providers.wire import Change, Wire

SYSTEM = {"role": "system", "content": "Be Fern."}
HI = {"role": "user", "content": "hi"}
CALLING: dict[str, Any] = {"role": "assistant", "content": "", "tool_calls": [{}]}
RESULT = {"role": "tool", "tool_call_id": "a", "content": "7"}
THOUGHT = {"role": "assistant", "content": "Hm.", "reasoning_content": "I think."}

PLAIN: dict[str, Any] = {
    "messages": [SYSTEM, HI],
    "tools": [{}],
    "stream": True,
    "stream_options": {},
}
SHOWN: dict[str, Any] = {
    **PLAIN,
    "messages": [SYSTEM, {"role": "user", "content": [{"type": "image_url", "image_url": {}}]}],
}
FOLLOW_UP: dict[str, Any] = {**PLAIN, "messages": [SYSTEM, HI, CALLING, RESULT]}


@pytest.mark.parametrize(
    ("said", "body", "name", "value"),
    [
        ("Unknown field: stream_options", PLAIN, "usage_in_stream", "off"),
        ("System role not supported", PLAIN, "system_layout", "fold_into_user"),
        (
            "Jinja Exception: System message must be at the beginning.",
            PLAIN,
            "system_layout",
            "fold_into_user",
        ),
        (
            "Conversation roles must alternate user/assistant/user/assistant/...",
            FOLLOW_UP,
            "tool_role",
            "as_user",
        ),
        (
            "After the optional system message, conversation roles must alternate user and "
            "assistant roles except for tool calls and results.",
            PLAIN,
            "system_layout",
            "fold_into_user",
        ),
        ("Jinja Exception: Unexpected message role.", FOLLOW_UP, "tool_role", "as_user"),
        ("Only user and assistant roles are supported!", FOLLOW_UP, "tool_role", "as_user"),
        ("Only user and assistant roles are supported!", PLAIN, "system_layout", "fold_into_user"),
        ("Error rendering prompt with jinja template", FOLLOW_UP, "tool_role", "as_user"),
        (
            "This model only supports single tool-calls at once!",
            FOLLOW_UP,
            "tool_role",
            "as_user",
        ),
        (
            "Unknown (built-in) filter 'items' for type String",
            FOLLOW_UP,
            "arguments_in_history",
            "object",
        ),
        ("Can only get item pairs from a mapping.", FOLLOW_UP, "arguments_in_history", "object"),
        (
            "json: cannot unmarshal string into Go struct field .function.arguments",
            FOLLOW_UP,
            "arguments_in_history",
            "object",
        ),
        ("messages[2].content must not be empty", FOLLOW_UP, "empty_content", "null"),
        ("failed to parse grammar", PLAIN, "schema_level", "names_only"),
        ("Invalid schema for function 'roll_dice'", PLAIN, "schema_level", "names_only"),
        (
            "messages.1.reasoning_content: Extra inputs are not permitted",
            {**PLAIN, "messages": [HI, THOUGHT, HI]},
            "reasoning_echo",
            "drop",
        ),
    ],
)
def test_words_name_a_change(said: str, body: dict[str, Any], name: str, value: str) -> None:
    assert named(said, body, Wire()) == Change(name=name, value=value)


NO_IMAGES = [
    "image input is not supported - hint: you may need to provide the mmproj",
    "unsupported content[].type",
    "this model is missing data required for image input",
    "json: cannot unmarshal array into Go struct field Message.messages.content of type string",
    "Model does not support images. Please use a model that does.",
    "Vision add-on is not loaded, but images were provided for processing",
    "At most 0 image(s) may be provided in one prompt.",
    "tiny is not a multimodal model",
    "Only 'text' content type is supported.",
    'Jinja Exception: can only concatenate str (not "list") to str',
    "Failed to deserialize: messages[1]: unknown variant `image_url`, expected `text`",
    "No endpoints found that support image input",
    "Invalid content type. image_url is only supported by certain models.",
    "messages.1.content: Input should be a valid string",
    "Error rendering prompt with jinja template",
]
"""What llama.cpp, Ollama, LM Studio, vLLM, mlx_lm, chat templates and hosts answer."""


@pytest.mark.parametrize("said", NO_IMAGES)
def test_words_about_images_take_them_back(said: str) -> None:
    assert named(said, SHOWN, Wire()) == Change(name="vision", value="off")
    assert named(said, PLAIN, Wire()) != Change(name="vision", value="off")


@pytest.mark.parametrize(
    ("said", "body"),
    [
        ("", FOLLOW_UP),
        ("Could not process image: it is too large", SHOWN),
        ("failed to decode image bytes", SHOWN),
        ("the request exceeds the available context size", SHOWN),
        ("Internal server error", FOLLOW_UP),
        ("CUDA out of memory", FOLLOW_UP),
        ("temperature must be at most 2", FOLLOW_UP),
        ("Unknown field: stream_options", {"messages": [HI]}),
        ("failed to parse grammar", {"messages": [HI]}),
        ("System role not supported", {"messages": [HI]}),
        ("roles must alternate", {"messages": [HI]}),
        ("Jinja Exception: something", PLAIN),
        ("messages[0].content must not be empty", PLAIN),
        ("content is null", FOLLOW_UP),
    ],
)
def test_other_words_or_a_request_without_the_thing_name_none(
    said: str, body: dict[str, Any]
) -> None:
    assert named(said, body, Wire()) is None


def test_what_is_changed_already_is_not_named_again() -> None:
    said = "Conversation roles must alternate user/assistant"
    wire = Wire()
    tried: list[tuple[str, str]] = []
    while change := named(said, FOLLOW_UP, wire):
        tried.append((change.name, change.value))
        wire = wire.changed(change.name, change.value)
    assert tried == [("tool_role", "as_user"), ("system_layout", "fold_into_user")]
    off = Wire(merge_same_role="off")
    assert named(said, FOLLOW_UP, off) == Change(name="merge_same_role", value="on")


def test_a_layout_that_was_learnt_is_not_taken_back() -> None:
    said = "system message must be at the beginning"
    assert named(said, PLAIN, Wire(system_layout="as_is")) == Change(
        name="system_layout", value="merge_first"
    )
    assert named(said, PLAIN, Wire(system_layout="fold_into_user")) is None


def refusal(kind: type[EndpointError] = Refused) -> EndpointError:
    return kind("It failed.", remedy="Look.", detail="d")


def test_a_replan_tells_what_its_cause_does_and_what_may_help() -> None:
    cause = refusal()
    found = replanned(cause, 400, "stream_options", PLAIN, Wire())
    assert isinstance(found, Replan)
    assert (found.cause, found.member, found.remedy, found.detail) == (
        cause,
        "It failed.",
        "Look. It may help to set usage_in_stream to off in /config workarounds.",
        "d",
    )


@pytest.mark.parametrize(
    ("status", "kind"),
    [(401, AuthFailed), (403, AuthFailed), (429, RateLimited), (503, Unavailable)],
)
def test_keys_and_load_name_no_switch(status: int, kind: type[EndpointError]) -> None:
    cause = refusal(kind)
    with pytest.raises(kind) as caught:
        replanned(cause, status, "stream_options", PLAIN, Wire())
    assert caught.value is cause


@pytest.mark.parametrize("said", ["Unexpected message role.", "nothing of note"])
@pytest.mark.parametrize("kind", [UnknownModel, ToolsRefused])
def test_errors_with_a_cause_of_their_own_stay(kind: type[EndpointError], said: str) -> None:
    with pytest.raises(kind):
        replanned(refusal(kind), 400, said, FOLLOW_UP, Wire())


def test_a_grammar_that_fails_asks_for_simpler_schemas_first() -> None:
    found = replanned(refusal(ToolsRefused), 400, "failed to parse grammar", PLAIN, Wire())
    assert found.change == Change(name="schema_level", value="names_only")
    assert isinstance(found.cause, ToolsRefused)


@pytest.mark.parametrize(
    ("said", "window"),
    [
        (
            "request (5000 tokens) exceeds the available context size (4096 tokens), try "
            "increasing it",
            "4096",
        ),
        ("the request exceeds the available context size n_ctx=2048", "2048"),
        ("This model's maximum context length is 4096 tokens. However, you requested 5000", "4096"),
        (
            "Trying to keep the first 5000 tokens when context the overflows. However, the model "
            "is loaded with context length of only 4096 tokens",
            "4096",
        ),
    ],
)
def test_a_window_that_an_error_tells(said: str, window: str) -> None:
    found = replanned(refusal(ContextTooLong), 400, said, PLAIN, Wire())
    assert found.change == Change(name="context_window", value=window)


def test_a_window_that_no_error_tells() -> None:
    with pytest.raises(ContextTooLong):
        replanned(refusal(ContextTooLong), 400, "prompt too long", PLAIN, Wire())
