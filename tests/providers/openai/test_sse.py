import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from providers.openai.sse import EventTooLarge, ServerEvent, SseReader

CASES: dict[str, tuple[bytes, list[tuple[str, str]]]] = {
    "one event": (b"data: {}\n\n", [("{}", "")]),
    "no space after the colon": (b"data:{}\n\n", [("{}", "")]),
    "carriage returns": (b'data: {"a":1}\r\rdata: {"a":2}\r\r', [('{"a":1}', ""), ('{"a":2}', "")]),
    "network line ends": (b'data: {"a":1}\r\n\r\ndata: x\r\n\r\n', [('{"a":1}', ""), ("x", "")]),
    "comments and keep-alives": (b":\n\n: ping\n\ndata:\n\ndata: {}\n\n:\n\n", [("{}", "")]),
    "empty data with a space": (b"data: \n\ndata:  \n\n", []),
    "done without a blank line": (b"data: {}\n\ndata: [DONE]\n", [("{}", ""), ("[DONE]", "")]),
    "done without a line end": (b"data: {}\n\ndata: [DONE]", [("{}", ""), ("[DONE]", "")]),
    "no blank line between events": (
        b'data: {"a":1}\ndata: {"a":2}\n',
        [('{"a":1}', ""), ('{"a":2}', "")],
    ),
    "several lines of words": (b"data: one\ndata: two\n\n", [("one\ntwo", "")]),
    "several lines of words, network line ends": (
        b"data: one\r\ndata: two\r\n\r\n",
        [("one\ntwo", "")],
    ),
    "JSON over several data lines": (b'data: {"a":\ndata: 1}\n\n', [('{"a":\n1}', "")]),
    "broken JSON ends at the blank line": (
        b'data: {"a":\n\ndata: {}\n\n',
        [('{"a":', ""), ("{}", "")],
    ),
    "named event": (
        b'event: error\ndata: {"message":"m"}\n\ndata: {}\n\n',
        [('{"message":"m"}', "error"), ("{}", "")],
    ),
    "error field": (
        b'error: {"code":400}\n\ndata: [DONE]\n\n',
        [('{"code":400}', "error"), ("[DONE]", "")],
    ),
    "error field with words": (b"error: out of memory\n\n", [("out of memory", "error")]),
    "other fields": (b"id: 3\nretry: 9\nnonsense\ndata: {}\n\n", [("{}", "")]),
    "bare JSON": (b'{"choices":[]}', [('{"choices":[]}', "")]),
    "bare JSON, indented": (b'{\n "a": [\n\n  "}"\n ]\n}\n', [('{\n "a": [\n\n  "}"\n ]\n}', "")]),
    "bare JSON, a chunk a line": (
        b'{"a":1}\n{"a":2}\n\n{"a":3}',
        [('{"a":1}', ""), ('{"a":2}', ""), ('{"a":3}', "")],
    ),
    "bare error after events": (
        b'data: {"a":1}\n\n{"error":"x"}\n',
        [('{"a":1}', ""), ('{"error":"x"}', "")],
    ),
    "bare JSON cut short, then events": (b'{"a":\ndata: {}\n\n', [('{"a":', ""), ("{}", "")]),
    "brackets and escapes in strings": (
        b'data: {"a":"}]\\"}\\\\"}\n\n',
        [('{"a":"}]\\"}\\\\"}', "")],
    ),
    "byte order mark": (b"\xef\xbb\xbfdata: {}\n\n", [("{}", "")]),
    "line separators inside a string": (
        'data: {"a":"\u2028\x85\x0b"}\n\n'.encode(),
        [('{"a":"\u2028\x85\x0b"}', "")],
    ),
    "bytes that are no UTF-8": (b'data: {"a":"\xff"}\n\n', [('{"a":"\ufffd"}', "")]),
    "a web page": (b"<html>\n<body>no</body>\n</html>", []),
    "nothing": (b"", []),
}


def read(data: bytes, size: int) -> list[ServerEvent]:
    reader = SseReader()
    pieces = [data[start : start + size] for start in range(0, len(data), size)]
    return [event for piece in pieces for event in reader.feed(piece)] + reader.close()


@pytest.mark.parametrize("size", [1, 2, 3, 1_000_000])
@pytest.mark.parametrize(("data", "expected"), CASES.values(), ids=CASES.keys())
def test_events(data: bytes, expected: list[tuple[str, str]], size: int) -> None:
    assert [(event.data, event.name) for event in read(data, size)] == expected


LINES = st.sampled_from(
    [
        "data: [DONE]",
        'data: {"choices":[{"delta":{"content":"é🙂\\n"}}]}',
        'data: {"a":"{[',
        "data: \\",
        'data: ]}"}',
        '{"bare": [1,',
        "2]}",
        ": comment",
        "event: error",
        "error: ü",
        "",
        "",
    ]
)
BODIES = st.lists(st.tuples(LINES, st.sampled_from(["\n", "\r\n", "\r"])), max_size=12).map(
    lambda lines: "".join(line + end for line, end in lines).encode()
)


@given(body=BODIES, cuts=st.lists(st.integers(0, 400), max_size=8))
def test_any_split_gives_the_same_events(body: bytes, cuts: list[int]) -> None:
    reader = SseReader()
    edges = [0, *sorted(min(cut, len(body)) for cut in cuts), len(body)]
    pieces = [body[low:high] for low, high in pairwise(edges)]
    events = [event for piece in pieces for event in reader.feed(piece)] + reader.close()
    assert events == read(body, len(body) or 1)


def test_an_event_is_handed_out_as_soon_as_it_is_complete() -> None:
    reader = SseReader()
    assert reader.feed(b'data: {"a":1}') == []
    assert reader.feed(b"\n") == [ServerEvent(data='{"a":1}')]


@pytest.mark.parametrize(
    "endless", [b"data: " + b"x" * 40, b"data: {\n" * 20, b"{" + b'"a",\n' * 20, b":" * 60]
)
def test_a_server_cannot_fill_the_memory(endless: bytes) -> None:
    reader = SseReader(max_event_bytes=32)
    pieces = [endless[start : start + 1] for start in range(len(endless))]
    with pytest.raises(EventTooLarge):
        _ = [reader.feed(piece) for piece in pieces]


def test_many_events_pass_a_small_limit() -> None:
    reader = SseReader(max_event_bytes=32)
    body = b'data: {"a":1}\n\n' * 100
    assert (
        len([e for start in range(0, len(body), 7) for e in reader.feed(body[start : start + 7])])
        == 100
    )


def test_one_long_line_in_single_bytes_costs_linear_time() -> None:
    """Quadratic work over 400,000 feeds would take minutes."""
    body = b"data: " + json.dumps({"a": "x" * 400_000}).encode() + b"\n"
    assert len(read(body, 1)) == 1
