"""Stored turns come back equal, whatever a model wrote into them."""

import json
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.encoding import EncodingError, decode_turns, encode_turns
from prompt.values import (
    ImageReference,
    ReasoningPart,
    TextPart,
    ToolCall,
    ToolResult,
    Turn,
)

# Half surrogate pairs included: a model can write them as JSON escapes.
texts = st.text(st.characters(), max_size=20)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
spans = st.none() | st.tuples(st.integers(0, 9), st.integers(10, 99))
calls = st.builds(
    ToolCall,
    id=texts,
    name=texts,
    arguments=st.dictionaries(texts, json_values, max_size=3),
    raw_arguments=texts,
    origin=st.sampled_from(["native", "text"]),
    span=spans,
    repaired=st.booleans(),
)
results = st.builds(
    ToolResult,
    call_id=texts,
    name=texts,
    text=texts,
    outcome=st.sampled_from(["ok", "failed", "denied", "timeout", "invalid"]),
)
parts = (
    st.builds(TextPart, text=texts)
    | st.builds(ReasoningPart, text=texts)
    | st.builds(ImageReference, url=texts, description=texts)
    | calls
    | results
)
offsets = st.sampled_from([UTC, timezone(timedelta(hours=5, minutes=30))])
turns = st.builds(
    Turn,
    role=st.sampled_from(["system", "user", "assistant", "tool"]),
    parts=st.lists(parts, max_size=4).map(tuple),
    author=st.none() | texts,
    at=st.none() | st.datetimes(timezones=offsets),
)


@given(st.lists(turns, max_size=3).map(tuple))
def test_what_was_encoded_decodes_equal(written: tuple[Turn, ...]):
    text = encode_turns(written)
    assert decode_turns(text) == written
    text.encode("utf-8")


RAW = '{ "b":1.0,\n "a": "\\u00e9", "n": 1e400 }'
EXAMPLE = (
    Turn(
        role="assistant",
        at=datetime(2026, 5, 4, 3, 2, 1, tzinfo=UTC),
        parts=(
            TextPart(text="One moment."),
            ToolCall(
                id="abc123def",
                name="roll",
                arguments={"b": 1.0, "a": "é"},
                raw_arguments=RAW,
                origin="text",
                span=(4, 40),
            ),
        ),
    ),
    Turn(
        role="tool",
        parts=(ToolResult(call_id="abc123def", name="roll", text="6", outcome="ok"),),
    ),
)


def test_raw_arguments_keep_number_spelling_escapes_order_and_blanks():
    call = decode_turns(encode_turns(EXAMPLE))[0].parts[1]
    assert isinstance(call, ToolCall)
    assert call.raw_arguments == RAW


# What the first release wrote. Never change this text: databases hold it.
FORM_1 = """{"form": 1, "turns": [
    {"role": "assistant", "author": null, "at": "2026-05-04T03:02:01+00:00", "parts": [
        {"kind": "text", "text": "One moment."},
        {"kind": "call", "id": "abc123def", "name": "roll",
         "arguments": {"b": 1.0, "a": "\\u00e9"},
         "raw_arguments": "{ \\"b\\":1.0,\\n \\"a\\": \\"\\\\u00e9\\", \\"n\\": 1e400 }",
         "origin": "text", "span": [4, 40], "repaired": false}]},
    {"role": "tool", "author": null, "at": null, "parts": [
        {"kind": "result", "call_id": "abc123def", "name": "roll", "text": "6",
         "outcome": "ok"}]}]}"""


def test_the_first_form_is_still_read_and_written():
    assert decode_turns(FORM_1) == EXAMPLE
    assert json.loads(encode_turns(EXAMPLE)) == json.loads(FORM_1)


def test_keys_of_a_later_version_are_passed_over():
    document = json.loads(FORM_1)
    document["later"] = 1
    document["turns"][0]["later"] = {"a": 1}
    for part in document["turns"][0]["parts"]:
        part["later"] = [1]
    assert decode_turns(json.dumps(document)) == EXAMPLE


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "null",
        '{"turns": []}',
        '{"form": 2, "turns": []}',
        '{"form": 1}',
        '{"form": 1, "turns": [7]}',
        '{"form": 1, "turns": [{"role": "user", "author": null, "at": "no", "parts": []}]}',
        FORM_1.replace('"text"', '"poem"', 1),
        FORM_1.replace("[4, 40]", "[4]"),
        FORM_1[:-3],
    ],
)
def test_what_cannot_be_read_is_refused_without_quoting_it(text: str):
    with pytest.raises(EncodingError) as caught:
        decode_turns(text)
    assert "moment" not in str(caught.value)
