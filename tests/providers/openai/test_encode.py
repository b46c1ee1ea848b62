import json
import re
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prompt.prompt import Prompt, Report
from prompt.surface import ToolSurface, canonical_json
from prompt.values import (
    Part,
    PromptItem,
    Role,
    TextPart,
    ToolCall,
    ToolResult,
    ToolSpec,
    Zone,
)
from prompt.verbatim import WireMode
from providers.base import RequestOptions
from providers.openai.encode import body_bytes, request_body, wire_id
from providers.wire import Wire
from tests.providers.openai.encoded import encode_messages

ROLL = ToolSpec(
    name="roll_dice",
    description="Roll dice.",
    parameters={"type": "object", "properties": {"sides": {"type": "integer"}}},
)
SURFACE = ToolSurface(direct=(ROLL,))
OPTIONS = RequestOptions(turn_id="t1", max_tokens=400)


def item(
    role: Role, text: str, *parts: Part, zone: Zone = Zone.HISTORY, tag: str = "x"
) -> PromptItem:
    return PromptItem(tag=tag, role=role, text=text, zone=zone, parts=parts)


def head(text: str) -> PromptItem:
    return item("system", text, zone=Zone.STABLE)


def calling(*ids: str, text: str = "", raw: str = '{"sides": 6.0}') -> PromptItem:
    calls = [
        ToolCall(
            id=id_, name="roll_dice", arguments={"sides": 6}, raw_arguments=raw, origin="native"
        )
        for id_ in ids
    ]
    return item("assistant", f"{text} `roll_dice({raw})`", TextPart(text=text), *calls)


def result(*ids: str, text: str = "4") -> PromptItem:
    results = [ToolResult(call_id=i, name="roll_dice", text=text, outcome="ok") for i in ids]
    return item("tool", f"[tool result] roll_dice: {text}", *results)


def prompt(
    *items: PromptItem, mode: WireMode = "verbatim", surface: ToolSurface = SURFACE
) -> Prompt:
    return Prompt(items=items, surface=surface, report=Report(mode=mode))


def shape(messages: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(message["role"], message["content"]) for message in messages]


def test_system_text_is_one_leading_message() -> None:
    messages = encode_messages(prompt(head("Be Fern."), head("Be kind."), item("user", "hi")))
    assert shape(messages) == [("system", "Be Fern.\n\nBe kind."), ("user", "hi")]


def test_late_system_text_leaves_the_head_as_it_is() -> None:
    late = item("system", "It is noon.", zone=Zone.TAIL)
    messages = encode_messages(prompt(head("Be Fern."), item("user", "hi"), late))
    assert shape(messages) == [("system", "Be Fern."), ("user", "hi\n\nIt is noon.")]


def test_neighbours_of_one_role_are_merged() -> None:
    messages = encode_messages(
        prompt(
            item("user", "Ada: hi"),
            item("user", "Ben: hello"),
            item("assistant", "Hi both."),
            item("assistant", "Well?"),
            item("user", "Ada: dice?"),
        )
    )
    assert shape(messages) == [
        ("user", "Ada: hi\n\nBen: hello"),
        ("assistant", "Hi both.\n\nWell?"),
        ("user", "Ada: dice?"),
    ]


@pytest.mark.parametrize("mode", ["verbatim", "verbatim_only", "off"])
def test_text_modes_send_calls_and_results_as_taught(mode: WireMode) -> None:
    messages = encode_messages(
        prompt(item("user", "roll"), calling("aaaaaaaa1"), result("aaaaaaaa1"), mode=mode)
    )
    assert shape(messages) == [
        ("user", "roll"),
        ("assistant", ' `roll_dice({"sides": 6.0})`'),
        ("user", "[tool result] roll_dice: 4"),
    ]
    assert all(message.keys() == {"role", "content"} for message in messages)


def test_native_calls_keep_their_spelling_and_ids() -> None:
    messages = encode_messages(
        prompt(
            item("user", "roll"),
            calling("aaaaaaaa1", "aaaaaaaa2", text="Rolling."),
            result("aaaaaaaa1", "aaaaaaaa2"),
            mode="native",
        )
    )
    function = {"name": "roll_dice", "arguments": '{"sides": 6.0}'}
    assert messages == [
        {"role": "user", "content": "roll"},
        {
            "role": "assistant",
            "content": "Rolling.",
            "tool_calls": [
                {"id": "aaaaaaaa1", "type": "function", "function": function},
                {"id": "aaaaaaaa2", "type": "function", "function": function},
            ],
        },
        {"role": "tool", "tool_call_id": "aaaaaaaa1", "content": "4"},
        {"role": "tool", "tool_call_id": "aaaaaaaa2", "content": "4"},
    ]


def test_content_of_a_call_without_words_is_empty_and_there() -> None:
    messages = encode_messages(
        prompt(item("user", "roll"), calling("aaaaaaaa1"), result("aaaaaaaa1"), mode="native")
    )
    assert messages[1]["content"] == ""


def test_foreign_ids_become_nine_letters_and_still_match() -> None:
    messages = encode_messages(
        prompt(
            item("user", "a"), calling("call_7f3c-1111"), result("call_7f3c-1111"), mode="native"
        )
    )
    sent = messages[1]["tool_calls"][0]["id"]
    assert re.fullmatch(r"[A-Za-z0-9]{9}", sent)
    assert messages[2]["tool_call_id"] == sent == wire_id("call_7f3c-1111")
    assert wire_id("call_7f3c-1111") != wire_id("call_7f3c-1112")
    assert wire_id("abcDEF123") == "abcDEF123"


@pytest.mark.parametrize("raw", ['{"title": ', "[1]", '"x"', "", "null", "{'sides': 6}"])
def test_arguments_always_parse_as_an_object(raw: str) -> None:
    messages = encode_messages(
        prompt(item("user", "a"), calling("aaaaaaaa1", raw=raw), result("aaaaaaaa1"), mode="native")
    )
    assert json.loads(messages[1]["tool_calls"][0]["function"]["arguments"]) == {"sides": 6}


def test_a_call_without_a_result_gets_one() -> None:
    messages = encode_messages(
        prompt(
            item("user", "a"),
            calling("aaaaaaaa1", "aaaaaaaa2"),
            result("aaaaaaaa1"),
            item("user", "b"),
            mode="native",
        )
    )
    assert [message["role"] for message in messages] == [
        "user",
        "assistant",
        "tool",
        "tool",
        "user",
    ]
    assert messages[3]["tool_call_id"] == "aaaaaaaa2"
    assert messages[3]["content"]


def test_a_result_without_a_call_is_told_in_words() -> None:
    messages = encode_messages(prompt(result("aaaaaaaa9"), item("user", "b"), mode="native"))
    assert shape(messages) == [("user", "[tool result] roll_dice: 4\n\nb")]


def test_words_about_failed_calls_stand_in_the_last_result() -> None:
    told = ToolResult(call_id="aaaaaaaa1", name="roll_dice", text="4", outcome="ok")
    both = item("tool", "x", told, TextPart(text="The other call failed."))
    messages = encode_messages(
        prompt(item("user", "a"), calling("aaaaaaaa1"), both, item("user", "b"), mode="native")
    )
    assert shape(messages)[2:] == [("tool", "4\n\nThe other call failed."), ("user", "b")]


def test_words_about_a_call_that_could_not_be_read_are_a_message() -> None:
    said = item("assistant", "<tool_call>oops", TextPart(text="<tool_call>oops"))
    told = item("tool", "Nothing ran.", TextPart(text="Nothing ran."))
    messages = encode_messages(prompt(item("user", "a"), said, told, mode="native"))
    assert shape(messages) == [
        ("user", "a"),
        ("assistant", "<tool_call>oops"),
        ("user", "Nothing ran."),
    ]


def test_the_last_message_is_never_an_answer() -> None:
    messages = encode_messages(prompt(item("user", "a"), item("assistant", "b")))
    assert shape(messages) == [("user", "a")]


def test_blank_messages_are_left_out() -> None:
    messages = encode_messages(prompt(item("user", "a"), item("assistant", " "), item("user", "b")))
    assert shape(messages) == [("user", "a\n\nb")]


def test_an_empty_result_stays() -> None:
    messages = encode_messages(
        prompt(item("user", "a"), calling("aaaaaaaa1"), result("aaaaaaaa1", text=""), mode="native")
    )
    assert messages[-1] == {"role": "tool", "tool_call_id": "aaaaaaaa1", "content": ""}


@pytest.mark.parametrize(
    ("mode", "surface", "sent"),
    [
        ("native", SURFACE, True),
        ("verbatim", SURFACE, True),
        ("verbatim_only", SURFACE, False),
        ("off", SURFACE, False),
        ("verbatim", ToolSurface(), False),
        ("native", ToolSurface(deferred=(ROLL,)), False),
    ],
)
def test_tools_are_the_surface_or_absent(mode: WireMode, surface: ToolSurface, sent: bool) -> None:
    body = request_body(
        prompt(item("user", "a"), mode=mode, surface=surface),
        OPTIONS,
        model="m",
    )
    assert ("tools" in body) is sent
    if sent:
        assert canonical_json(body["tools"]) == surface.block


def test_body_has_the_old_names_and_nothing_empty() -> None:
    body = request_body(prompt(item("user", "a")), OPTIONS, model="m")
    assert list(body) == ["model", "messages", "tools", "stream", "stream_options", "max_tokens"]
    assert body["max_tokens"] == 400
    options = RequestOptions(turn_id="t", temperature=0.0, wire=Wire(usage_in_stream="off"))
    bare = request_body(prompt(item("user", "a"), mode="off"), options, model="m")
    assert bare == {
        "model": "m",
        "messages": [{"role": "user", "content": "a"}],
        "stream": True,
        "temperature": 0.0,
    }


def test_half_a_surrogate_pair_can_be_sent() -> None:
    body = request_body(prompt(item("user", "a\ud83d")), OPTIONS, model="m")
    assert "a?" in body_bytes(body).decode("utf-8")


TEXTS = st.text(alphabet="ab `{}\n", max_size=6)
ITEMS = st.lists(
    st.one_of(
        st.builds(item, st.sampled_from(["user", "assistant"]), TEXTS),
        st.builds(item, st.just("system"), TEXTS, zone=st.just(Zone.TAIL)),
        st.builds(head, TEXTS),
        st.builds(calling, st.sampled_from(["a", "aaaaaaaa1"]), st.sampled_from(["b", "b2"])),
        st.builds(result, st.sampled_from(["a", "b", "b2", "zz", "aaaaaaaa1"])),
    ),
    max_size=8,
)
MODES = st.sampled_from(["native", "verbatim", "verbatim_only", "off"])


@given(items=ITEMS, mode=MODES)
def test_every_prompt_keeps_the_rules_of_strict_templates(
    items: list[PromptItem], mode: WireMode
) -> None:
    built = prompt(*items, mode=mode)
    messages = encode_messages(built)
    roles = [message["role"] for message in messages]
    assert "system" not in roles[1:]
    assert not messages or roles == ["system"] or roles[-1] in {"user", "tool"}
    for before, after in pairwise(roles):
        assert before != after or before == "tool"
    open_calls: list[str] = []
    for message in messages:
        assert isinstance(message["content"], str)
        if message["role"] == "tool":
            open_calls.remove(message["tool_call_id"])
        else:
            assert not open_calls
            open_calls = [call["id"] for call in message.get("tool_calls", [])]
    assert not open_calls
    first = body_bytes(request_body(built, OPTIONS, model="m"))
    assert first == body_bytes(request_body(built, OPTIONS, model="m"))


@pytest.mark.parametrize("mode", ["native", "verbatim"])
def test_a_round_only_adds_messages(mode: WireMode) -> None:
    before = prompt(head("Be Fern."), item("user", "roll"), item("user", "nudge"), mode=mode)
    after = before.grown(calling("aaaaaaaa1"), result("aaaaaaaa1"))
    sent = [canonical_json(message) for message in encode_messages(before)]
    assert [canonical_json(message) for message in encode_messages(after)][: len(sent)] == sent
