import inspect
import json
from typing import Any

import pytest

from chat.switches import SWITCHES
from providers.openai import transforms
from providers.openai.transforms import (
    LATE,
    MESSAGE_TRANSFORMS,
    PAST,
    THINKING,
    TRANSFORMS,
    Body,
    Message,
    arguments_in_history,
    empty_content,
    merge_same_role,
    no_trailing_answer,
    parallel_calls,
    reasoning_echo,
    stream_with_tools,
    system_layout,
    thinking,
    tool_choice,
    tool_role,
    transformed,
    usage_in_stream,
)
from providers.wire import WIRE_NAMES, Wire

DEFAULT = Wire()
ARGUMENTS = '{"dice": "2d6"}'


def wire(name: str, value: str) -> Wire:
    return DEFAULT.changed(name, value)


def message(role: str, content: str, **more: Any) -> Message:
    return {"role": role, "content": content, **more}


def calling(content: str = "", *, arguments: str = ARGUMENTS) -> Message:
    function = {"name": "roll_dice", "arguments": arguments}
    return message(
        "assistant",
        content,
        tool_calls=[{"id": "aaaaaaaa1", "type": "function", "function": function}],
    )


RESULT = message("tool", "7", tool_call_id="aaaaaaaa1")
HEAD = message("system", "Be Fern.")
RULES = message("system", "Be kind.")
LATER = message("system", "It is noon.", **{LATE: True})
HI = message("user", "hi")


# Messages.


@pytest.mark.parametrize(
    ("layout", "expected"),
    [
        (
            "merge_first",
            [message("system", "Be Fern.\n\nBe kind."), HI, message("user", "It is noon.")],
        ),
        ("as_is", [HEAD, RULES, HI, message("system", "It is noon.")]),
        (
            "fold_into_user",
            [message("user", "Be Fern.\n\nBe kind.\n\nhi"), message("user", "It is noon.")],
        ),
    ],
)
def test_system_layout(layout: str, expected: list[Message]) -> None:
    assert system_layout([HEAD, RULES, HI, LATER], wire("system_layout", layout)) == expected


@pytest.mark.parametrize("layout", ["merge_first", "as_is", "fold_into_user"])
def test_without_system_text_no_layout_changes_anything(layout: str) -> None:
    assert system_layout([HI], wire("system_layout", layout)) == [HI]


def test_system_text_alone_becomes_a_message_of_the_user() -> None:
    folded = system_layout([HEAD], wire("system_layout", "fold_into_user"))
    assert folded == [message("user", "Be Fern.")]


def test_results_as_text_are_written_as_taught() -> None:
    messages = [HI, calling("Rolling."), RESULT, message("assistant", "Seven.")]
    assert tool_role(messages, wire("tool_role", "as_user")) == [
        HI,
        message("assistant", f"Rolling.\n`roll_dice({ARGUMENTS})`"),
        message("user", "[tool result] roll_dice: 7"),
        message("assistant", "Seven."),
    ]
    assert tool_role(messages, DEFAULT) == messages


@pytest.mark.parametrize(
    ("echo", "past", "sent"),
    [
        ("same_turn", False, True),
        ("same_turn", True, False),
        ("drop", False, False),
        ("drop", True, False),
        ("all", False, True),
        ("all", True, True),
    ],
)
def test_reasoning_echo(echo: str, past: bool, sent: bool) -> None:
    marks = {PAST: True} if past else {}
    thought = message("assistant", "Seven.", **{THINKING: "Hm."}, **marks)
    expected = message("assistant", "Seven.", **({THINKING: "Hm."} if sent else {}))
    assert reasoning_echo([HI, thought], wire("reasoning_echo", echo)) == [HI, expected]


def test_neighbours_are_joined_or_left() -> None:
    messages = [HI, message("user", " "), message("user", "you"), calling(), RESULT, RESULT]
    rest = [calling(), RESULT, RESULT]
    assert merge_same_role(messages, DEFAULT) == [message("user", "hi\n\nyou"), *rest]
    off = wire("merge_same_role", "off")
    assert merge_same_role(messages, off) == [HI, message("user", "you"), *rest]


def test_a_call_is_never_joined_with_what_follows() -> None:
    messages = [HI, calling(), message("assistant", "Well.")]
    assert merge_same_role(messages, DEFAULT) == messages


@pytest.mark.parametrize("merged", ["on", "off"])
def test_no_request_ends_with_an_answer(merged: str) -> None:
    messages = [HI, message("assistant", "a"), message("assistant", "b")]
    assert no_trailing_answer(messages, wire("merge_same_role", merged)) == [HI]


def test_empty_content() -> None:
    null = wire("empty_content", "null")
    assert empty_content([calling()], DEFAULT) == [calling()]
    assert [each["content"] for each in empty_content([calling(), HI], null)] == [None, "hi"]
    assert empty_content([calling("Rolling.")], null) == [calling("Rolling.")]


def test_arguments_in_history() -> None:
    opened = arguments_in_history([HI, calling()], wire("arguments_in_history", "object"))
    assert opened[1]["tool_calls"][0]["function"] == {
        "name": "roll_dice",
        "arguments": {"dice": "2d6"},
    }
    assert arguments_in_history([HI, calling()], DEFAULT) == [HI, calling()]


# Other fields.

BODY: Body = {
    "messages": [HI],
    "tools": [{}],
    "stream": True,
    "stream_options": {"include_usage": True},
}
BARE: Body = {key: value for key, value in BODY.items() if key != "tools"}


def test_a_whole_reply_is_asked_for_only_where_tools_are_offered() -> None:
    whole = wire("stream_with_tools", "whole")
    assert stream_with_tools(BODY, whole) == {"messages": [HI], "tools": [{}], "stream": False}
    assert stream_with_tools(BARE, whole) == BARE
    assert stream_with_tools(BODY, DEFAULT) == BODY


@pytest.mark.parametrize(("usage", "asked"), [("auto", True), ("on", True), ("off", False)])
def test_usage_in_stream(usage: str, asked: bool) -> None:
    assert ("stream_options" in usage_in_stream(BODY, wire("usage_in_stream", usage))) is asked


def test_fields_beside_the_tools_go_with_them() -> None:
    choice, parallel = wire("tool_choice", "string"), wire("parallel_calls", "send_true")
    assert tool_choice(BODY, choice) == {**BODY, "tool_choice": "auto"}
    assert parallel_calls(BODY, parallel) == {**BODY, "parallel_tool_calls": True}
    assert tool_choice(BARE, choice) == parallel_calls(BARE, parallel) == BARE
    assert parallel_calls(BODY, wire("parallel_calls", "one")) == BODY


@pytest.mark.parametrize(
    ("how", "field"),
    [
        ("server", {}),
        ("kwargs_off", {"chat_template_kwargs": {"enable_thinking": False}}),
        ("think_false", {"think": False}),
        ("effort_none", {"reasoning_effort": "none"}),
    ],
)
def test_thinking_is_switched_off_by_one_field(how: str, field: dict[str, Any]) -> None:
    assert thinking(BODY, wire("thinking", how)) == {**BODY, **field}


# Images.

CAT = {"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,AAAA"}}


def words(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def showing(*parts: dict[str, Any]) -> Message:
    return {"role": "user", "content": list(parts)}


SHOWN = showing(words("This."), CAT)


def test_words_beside_an_image_are_joined_with_words_alone() -> None:
    joined = showing(words("hi\n\nThis."), CAT, words("hi\n\nhi"))
    assert merge_same_role([HI, SHOWN, HI, message("user", " "), HI], DEFAULT) == [joined]
    twice = showing(words("This."), CAT, words("This."), CAT)
    assert merge_same_role([SHOWN, SHOWN], DEFAULT) == [twice]


def test_a_message_of_images_alone_says_something() -> None:
    off = wire("merge_same_role", "off")
    assert merge_same_role([showing(CAT), showing()], off) == [showing(CAT)]
    assert merge_same_role([HI, showing(CAT)], DEFAULT) == [showing(words("hi"), CAT)]


def test_a_head_is_folded_into_words_beside_an_image() -> None:
    folded = system_layout([HEAD, SHOWN], wire("system_layout", "fold_into_user"))
    assert folded == [showing(words("Be Fern.\n\nThis."), CAT)]
    folded = system_layout([HEAD, showing(CAT)], wire("system_layout", "fold_into_user"))
    assert folded == [showing(words("Be Fern."), CAT)]


@pytest.mark.parametrize(
    "wanted",
    [
        DEFAULT.changed(spec.name, value)
        for spec in SWITCHES
        for value in spec.choices
        if spec.name in WIRE_NAMES
    ],
    ids=lambda wanted: next(
        (
            f"{n}={wanted.value(n)}"
            for n in sorted(WIRE_NAMES)
            if wanted.value(n) != DEFAULT.value(n)
        ),
        "defaults",
    ),
)
def test_no_switch_loses_or_moves_an_image(wanted: Wire) -> None:
    """Nor do transforms change the parts that they were given."""
    messages = [HEAD, HI, calling(), RESULT, message("assistant", "7."), HI, SHOWN, LATER]
    body: Body = {**BODY, "messages": messages}
    before = json.dumps(body)
    sent = transformed(body, wanted)["messages"]
    assert json.dumps(body) == before
    shown = [each["content"] for each in sent if isinstance(each["content"], list)]
    assert len(shown) == 1
    assert [part["type"] for part in shown[0]][:2] == ["text", "image_url"]
    assert shown[0][0]["text"].endswith("This.")
    assert shown[0][1] == CAT


# All of them.


def test_each_transform_is_named_after_a_switch_and_listed_once() -> None:
    listed = [rewrite.__name__ for rewrite in MESSAGE_TRANSFORMS]
    assert len(TRANSFORMS) == len(listed) + 5
    always = {"no_trailing_answer"}
    assert set(listed) - always <= WIRE_NAMES
    source = inspect.getsource(transforms)
    read_elsewhere = {
        *("template_opens_think", "server_answer_tool", "text_calls", "call_in_reasoning")
    }
    for name in WIRE_NAMES - read_elsewhere:
        assert f"wire.{name}" in source, name


def test_no_transform_changes_the_values_that_it_was_given() -> None:
    body: Body = {**BODY, "messages": [HEAD, RULES, HI, calling(), RESULT, LATER]}
    before = json.dumps(body)
    changed = {
        "system_layout": "fold_into_user",
        "tool_role": "native",
        "empty_content": "null",
        "arguments_in_history": "object",
        "stream_with_tools": "whole",
        "tool_choice": "string",
        "parallel_calls": "send_true",
        "thinking": "kwargs_off",
    }
    wanted = DEFAULT
    for name, value in changed.items():
        wanted = wanted.changed(name, value)
    sent = transformed(body, wanted)
    assert json.dumps(body) == before
    assert not any(LATE in each for each in sent["messages"])
    assert [each["role"] for each in sent["messages"]] == ["user", "assistant", "tool", "user"]


def test_a_switch_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="no switch"):
        DEFAULT.changed("tool_mode", "off")
