import json
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prompt.events import CallError, CallStarted, Dropped, Finished, StreamEvent
from prompt.open_values import OPEN
from prompt.surface import ToolSurface
from prompt.values import ToolCall
from providers.openai.fold import MOST_CHARACTERS, ChunkFold
from providers.openai.native import MOST_CALLS
from providers.openai.response import ResponseReader
from providers.openai.sse import SseReader
from providers.verbatim import ParserSettings, call_key
from tests.providers.openai.streams import (
    StreamCase,
    cases,
    matches,
    split_anew,
    summary,
    surface,
)
from tools.dispatcher import DISPATCHER_SPECS

SURFACE = surface()
DELTA_CASES = [
    case
    for name in ("identity.txt", "calls.txt", "words.txt", "reported.txt")
    for case in cases(name)
]
BODY_CASES = cases("bodies.txt")


def name_of(case: StreamCase) -> str:
    return case.source


def read(body: bytes, size: int) -> list[str]:
    reader = ResponseReader(ChunkFold(SURFACE, id_seed="t"))
    events: list[StreamEvent] = []
    for start in range(0, len(body), size):
        events += reader.feed(body[start : start + size])
    events += reader.close()
    return summary(events, reader.fault)


def fold(
    *chunks: dict[str, Any],
    settings: ParserSettings | None = None,
    surface: ToolSurface = SURFACE,
) -> list[StreamEvent]:
    folded = ChunkFold(surface, settings, id_seed="t")
    events = [event for chunk in chunks for event in folded.feed(chunk)]
    return [*events, *folded.close(done=True)]


def delta(fields: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def native(name: str, arguments: str) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    return delta({"tool_calls": [{"index": 0, "id": "k", "function": function}]})


@pytest.mark.parametrize("size", [1, 3, 1_000_000])
@pytest.mark.parametrize("case", DELTA_CASES, ids=name_of)
def test_deltas(case: StreamCase, size: int) -> None:
    found = read(case.body, size)
    assert matches(found, case.expected), found


@pytest.mark.parametrize("size", [1, 3, 1_000_000])
@pytest.mark.parametrize("case", BODY_CASES, ids=name_of)
def test_bodies(case: StreamCase, size: int) -> None:
    found = read(case.wire, size)
    assert matches(found, case.expected), found


@pytest.mark.parametrize("ending", ["\r\n", "\r"])
@pytest.mark.parametrize("case", BODY_CASES, ids=name_of)
def test_bodies_with_other_line_ends(case: StreamCase, ending: str) -> None:
    assert matches(read(case.wire.replace(b"\n", ending.encode()), 2), case.expected)


@pytest.mark.parametrize("size", [1, 3, 1_000_000])
@pytest.mark.parametrize("case", cases("reported.txt"), ids=name_of)
def test_reported_words_in_other_pieces(case: StreamCase, size: int) -> None:
    chunks = split_anew(case.chunks, size)
    body = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
    found = read(body.encode(), len(body))
    assert matches(found, case.expected), found


def test_the_corpus_is_read_whole() -> None:
    assert len(DELTA_CASES) > 60
    assert len(BODY_CASES) > 15
    assert len({case.source for case in DELTA_CASES + BODY_CASES}) == len(DELTA_CASES + BODY_CASES)


ARGUMENTS = '{"title":"a \\"}{ \\\\","body":"é🙂\\n","tags":["{","]"]}'


@given(
    cuts=st.lists(st.integers(0, len(ARGUMENTS)), max_size=6),
    index=st.sampled_from([None, 0, 3]),
    id_=st.sampled_from([None, "", "k"]),
    repeat_name=st.booleans(),
)
def test_any_split_of_native_arguments_is_one_call(
    cuts: list[int], index: int | None, id_: str | None, repeat_name: bool
) -> None:
    edges = [0, *sorted(cuts), len(ARGUMENTS)]
    folded = ChunkFold(SURFACE, id_seed="t")
    for number, (low, high) in enumerate(pairwise(edges)):
        function: dict[str, Any] = {"arguments": ARGUMENTS[low:high]}
        if number == 0 or repeat_name:
            function["name"] = "save_note"
        entry = {"index": index, "id": id_, "function": function}
        folded.feed(delta({"tool_calls": [entry]}))
    folded.feed(delta({}, "tool_calls"))
    calls = [event for event in folded.close() if not isinstance(event, Finished)]
    assert [type(call) for call in calls] == [ToolCall]
    assert isinstance(calls[0], ToolCall)
    assert calls[0].raw_arguments == ARGUMENTS


def test_ids_depend_on_the_seed_and_place_alone() -> None:
    chunks = [native("roll_dice", '{"sides":6}'), delta({}, "tool_calls")]
    first = [event.id for event in fold(*chunks) if isinstance(event, ToolCall)]
    assert first == [event.id for event in fold(*chunks) if isinstance(event, ToolCall)]
    assert len(first[0]) == 9
    assert first[0].isalnum()


def test_text_and_native_calls_never_share_an_id() -> None:
    said = [
        f'<tool_call>{{"name":"roll_dice","arguments":{{"sides":{n}}}}}</tool_call>' for n in "23"
    ]
    functions = [{"name": "roll_dice", "arguments": f'{{"sides":{n}}}'} for n in "456"]
    entries = [{"index": n, "function": function} for n, function in enumerate(functions)]
    events = fold(delta({"content": "\n".join(said)}), delta({"tool_calls": entries}))
    ids = [event.id for event in events if isinstance(event, ToolCall)]
    assert len(ids) == len(set(ids)) == 5


def test_a_native_call_is_announced_once() -> None:
    events = fold(
        native("roll_dice", '{"si'),
        native("", 'des":'),
        native("roll_dice", "6}"),
        delta({}, "stop"),
    )
    assert [event.name for event in events if isinstance(event, CallStarted)] == ["roll_dice"]


def test_raw_arguments_keep_their_spelling() -> None:
    raw = '{"sides": 6.0 , "count":1}'
    calls = [e for e in fold(native("roll_dice", raw)) if isinstance(e, ToolCall)]
    assert [call.raw_arguments for call in calls] == [raw]


NOTE = '{"title":"pwned","body":"x"}'
NOTE_KEY = call_key("save_note", {"body": "x", "title": "pwned"})


def dispatching(*, read_only: bool = False) -> ToolSurface:
    """A dispatcher alone in the array, with save_note behind it."""
    (note,) = (spec for spec in SURFACE.direct if spec.name == "save_note")
    return ToolSurface(
        direct=(DISPATCHER_SPECS["execute_tool"],),
        deferred=(replace(note, read_only=read_only),),
        dispatcher="execute_tool",
    )


@pytest.mark.parametrize(
    "settings",
    [ParserSettings(copied=frozenset({NOTE_KEY})), ParserSettings(quoted=frozenset({NOTE_KEY}))],
    ids=["copied", "quoted"],
)
@pytest.mark.parametrize(
    "raw", [NOTE, '{"body": "x", "title": "pwned"}', '{title: "pwned", "body":"x"}']
)
def test_a_native_call_that_repeats_what_was_read_does_not_run(
    settings: ParserSettings, raw: str
) -> None:
    events = fold(native("save_note", raw), delta({}, "tool_calls"), settings=settings)
    assert summary(events, None) == ["error copied save_note native", "finish tool_calls"]


def test_a_native_call_with_other_arguments_runs() -> None:
    settings = ParserSettings(copied=frozenset({NOTE_KEY}))
    events = fold(native("save_note", '{"title":"tea","body":"x"}'), settings=settings)
    assert [event.name for event in events if isinstance(event, ToolCall)] == ["save_note"]


@pytest.mark.parametrize(("read_only", "found"), [(True, "call"), (False, "error")])
def test_a_repeated_native_call_counts_for_what_it_dispatches(read_only: bool, found: str) -> None:
    settings = ParserSettings(copied=frozenset({NOTE_KEY}))
    raw = f'{{"name":"save_note","arguments":{NOTE}}}'
    surface = dispatching(read_only=read_only)
    events = fold(native("execute_tool", raw), settings=settings, surface=surface)
    told = [line.split()[0] for line in summary(events, None)]
    assert told == [found, "finish"]


def test_a_json_copy_of_a_native_call_is_accounted_for() -> None:
    text = '{"name": "roll_dice", "arguments": {"sides": 6}}'
    events = fold(delta({"content": text}), native("roll_dice", '{"sides":6}'))
    spans = [event.span for event in events if isinstance(event, Dropped)]
    assert spans[0][0] == 0
    assert spans[-1][1] == len(text)


def test_arguments_without_end_are_refused() -> None:
    settings = ParserSettings(max_argument_chars=100)
    pieces = [
        native("save_note" if n == 0 else "", '{"title":"' if n == 0 else "x" * 60)
        for n in range(9)
    ]
    events = fold(*pieces, delta({}, "tool_calls"), settings=settings)
    assert summary(events, None) == ["error too_large save_note native", "finish tool_calls"]


@pytest.mark.parametrize("field", ["content", "reasoning_content"])
def test_an_answer_without_end_is_a_fault(field: str) -> None:
    reading = ChunkFold(surface())
    part = "word " * 2_000
    for _ in range(MOST_CHARACTERS // len(part)):
        reading.feed(delta({field: part}))
    assert reading.fault is None
    reading.feed(delta({field: "more"}))
    assert reading.fault is not None
    assert str(MOST_CHARACTERS) in reading.fault.message


@pytest.mark.parametrize("grows", ["arguments", "name"])
def test_native_calls_without_end_are_a_fault(grows: str) -> None:
    reading = ChunkFold(surface())
    for number in range(MOST_CHARACTERS // 5_000):
        function = {"name": "save_note", "arguments": "", grows: "x" * 5_000}
        entry = {"index": number, "id": f"k{number}", "function": function}
        reading.feed(delta({"tool_calls": [entry]}))
    reading.feed(native("save_note", "{}"))
    assert reading.fault is not None
    assert str(MOST_CHARACTERS) in reading.fault.message


def test_arguments_as_an_object_count_too() -> None:
    settings = ParserSettings(max_argument_chars=100)
    function = {"name": "save_note", "arguments": {"title": "x" * 200, "body": ""}}
    events = fold(delta({"tool_calls": [{"index": 0, "function": function}]}), settings=settings)
    assert summary(events, None) == ["error too_large save_note native", "finish None"]


def test_of_calls_without_number_the_first_are_taken() -> None:
    entries = [
        {
            "index": n,
            "id": f"k{n}",
            "function": {"name": "roll_dice", "arguments": f'{{"sides":{n}}}'},
        }
        for n in range(40 * MOST_CALLS)
    ]
    events = fold(*(delta({"tool_calls": [entry]}) for entry in entries), delta({}, "tool_calls"))
    sides = [event.arguments["sides"] for event in events if isinstance(event, ToolCall)]
    assert sides == list(range(MOST_CALLS))
    assert not any(isinstance(event, CallError) for event in events)


def told_of(name: str, arguments: str = "{}") -> list[str]:
    """What is told of a native call that fails, and of the same call as text."""
    chunks = [
        [native(name, arguments)],
        [delta({"content": f'<tool_call>{{"name":"{name}","arguments":{arguments}}}</tool_call>'})],
    ]
    return [
        event.message
        for events in (fold(*each, delta({}, "stop")) for each in chunks)
        for event in events
        if isinstance(event, CallError)
    ]


@pytest.mark.parametrize("name", ["list", "rol_dice", "x" * 500])
def test_d02_an_unknown_name_is_told_alike_in_either_form(name: str) -> None:
    first, second = told_of(name)
    assert first == second
    assert "roll_dice" in first
    assert len(first) < 300


def parallel(*names: str) -> str:
    uses = [
        {"recipient_name": f"functions.{name}", "parameters": {"sides": n, "stop": "Weir"}}
        for n, name in enumerate(names, 6)
    ]
    return json.dumps({"tool_uses": uses})


def test_d05_native_calls_in_parallel_are_calls_of_their_own() -> None:
    raw = parallel("roll_dice", "bus_times")
    events = fold(native("multi_tool_use.parallel", raw), delta({}, "tool_calls"))
    calls = [event for event in events if isinstance(event, ToolCall)]
    assert [(call.name, call.origin) for call in calls] == [
        ("roll_dice", "native"),
        ("bus_times", "native"),
    ]
    assert len({call.id for call in calls}) == 2
    assert json.loads(calls[1].raw_arguments)["stop"] == "Weir"


def test_d05_native_calls_in_parallel_are_refused_where_one_has_no_tool() -> None:
    raw = parallel("roll_dice", "fly_away")
    events = fold(native("multi_tool_use.parallel", raw), delta({}, "tool_calls"))
    assert [event.code for event in events if isinstance(event, CallError)] == ["unknown_tool"]
    assert not any(isinstance(event, ToolCall) for event in events)


def test_a_native_call_that_waits_for_a_value_is_told_as_such() -> None:
    events = fold(native("roll_dice", json.dumps({"sides": OPEN})), delta({}, "tool_calls"))
    (failed,) = (event for event in events if isinstance(event, CallError))
    assert (failed.code, failed.waits) == ("open_argument", ("sides",))


@pytest.mark.parametrize("number", ["9" * 5_000, "1e999", "Infinity", "NaN"])
@pytest.mark.parametrize("quoted", [True, False], ids=["text", "object"])
def test_a_call_with_a_number_beyond_reading_fails_alone(number: str, quoted: bool) -> None:
    arguments = f'{{"sides":6,"count":{number}}}'
    written = json.dumps(arguments) if quoted else arguments
    function = f'{{"name":"roll_dice","arguments":{written}}}'
    sent = f'{{"content":"Look:","tool_calls":[{{"function":{function}}}]}}'
    body = f'data: {{"choices":[{{"delta":{sent}}}]}}\n\ndata: [DONE]\n\n'
    assert read(body.encode(), 1_000_000) == [
        'text "Look:"',
        "error invalid_arguments roll_dice native",
        "finish None",
    ]


def test_a_number_beyond_reading_elsewhere_costs_nothing() -> None:
    body = (
        f'data: {{"created":{"9" * 5_000},"choices":[{{"delta":{{"content":"Hi"}},'
        '"logprobs":[-Infinity,1e999]}]}\n\ndata: [DONE]\n\n'
    )
    assert read(body.encode(), 1_000_000) == ['text "Hi"', "finish None"]


def test_an_event_without_end_is_a_fault() -> None:
    reader = ResponseReader(ChunkFold(SURFACE), sse=SseReader(max_event_bytes=100))
    assert reader.feed(b"data: " + b"x" * 200) == []
    assert reader.fault is not None
    assert reader.feed(b"\n\n") == []
    assert summary(reader.close(), None) == ["finish error"]


KEYS = (
    "choices delta message content tool_calls function name arguments index id usage error "
    "finish_reason reasoning"
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from(["", "x", "{", "length"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(KEYS.split()), inner, max_size=3)
    ),
    max_leaves=12,
)
DELTAS = st.dictionaries(st.sampled_from(["tool_calls", "content", "reasoning"]), JSON)
CHUNKS = st.dictionaries(st.sampled_from(["choices", "usage", "error", "object"]), JSON)


@given(entries=st.lists(DELTAS, max_size=4))
def test_no_delta_of_any_shape_breaks_the_fold(entries: list[dict[str, Any]]) -> None:
    events = fold(*[delta(entry) for entry in entries])
    assert isinstance(events[-1], Finished)


@given(chunk=CHUNKS)
def test_no_chunk_of_any_shape_breaks_the_fold(chunk: dict[str, Any]) -> None:
    assert isinstance(fold(chunk)[-1], Finished)
