import json
from typing import Any

import pytest

from chat.account import REDACTED
from chat.blotting import blotted

KEY = "sk-0123456789"


def chunk(**delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta}]}


def stream(*chunks: dict[str, Any]) -> str:
    return "".join(f"data: {json.dumps(each)}\n\n" for each in chunks) + "data: [DONE]\n\n"


def cut(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]


def chunks_of(body: str) -> list[Any]:
    lines = [line.removeprefix("data: ") for line in body.splitlines() if line]
    assert lines.pop() == "[DONE]"
    return [json.loads(line) for line in lines]


def content(body: str) -> str:
    return "".join(each["choices"][0]["delta"].get("content", "") for each in chunks_of(body))


@pytest.mark.parametrize("size", [1, 2, 5, 100])
def test_a_secret_is_found_however_it_is_cut(size: int) -> None:
    body = stream(*(chunk(content=piece) for piece in cut(f"It is {KEY}, yes {KEY}.", size)))
    assert content(blotted(body, [KEY])) == f"It is {REDACTED}, yes {REDACTED}."


def test_other_pieces_stay_where_they_are() -> None:
    body = stream(
        chunk(content="a"), chunk(content="b sk-01"), chunk(reasoning="r"), chunk(content="23 c")
    )
    left = [each["choices"][0]["delta"] for each in chunks_of(blotted(body, ["sk-0123"]))]
    assert left == [
        {"content": "a"},
        {"content": f"b {REDACTED}"},
        {"reasoning": "r"},
        {"content": " c"},
    ]


def test_parallel_calls_are_told_apart_by_their_index() -> None:
    def piece(index: int, text: str) -> dict[str, Any]:
        return chunk(tool_calls=[{"index": index, "function": {"arguments": text}}])

    body = stream(piece(0, "sk-0"), piece(1, "sk-0"), piece(0, "123"), piece(1, "999"))
    calls = [
        each["choices"][0]["delta"]["tool_calls"][0]["function"]["arguments"]
        for each in chunks_of(blotted(body, ["sk-0123"]))
    ]
    assert calls == [REDACTED, "sk-0", "", "999"]


def test_a_choice_whose_index_counts_up_is_one_choice() -> None:
    pieces = [chunk(content=piece) for piece in cut(KEY, 3)]
    for position, each in enumerate(pieces):
        each["choices"][0]["index"] = position
    assert content(blotted(stream(*pieces), [KEY])) == REDACTED


def test_longer_secrets_go_first_and_overlapping_ones_all_go() -> None:
    longer = f"{KEY}-and-more"
    body = stream(*(chunk(content=piece) for piece in cut(f"{longer} {KEY}", 4)))
    assert content(blotted(body, [KEY, longer])) == f"{REDACTED} {REDACTED}"
    body = stream(*(chunk(content=piece) for piece in cut("xabcdey", 2)))
    left = content(blotted(body, ["abcd", "cde"]))
    assert left.replace(REDACTED, "") == "xy"


def test_a_secret_with_escapes_is_found_in_arguments() -> None:
    odd = 'quo"te\\key'
    arguments = json.dumps({"key": odd})
    body = stream(*(chunk(content=piece) for piece in cut(arguments, 3)))
    assert json.loads(content(blotted(body, [odd]))) == {"key": REDACTED}


def test_an_answer_without_secrets_stays_to_the_byte() -> None:
    body = ': beat\r\nevent: x\r\ndata:{"choices" : [ ]}\r\n\r\n{"choices": []}\ndata: [DONE]'
    assert blotted(body, [KEY, ""]) == body


def test_what_is_no_json_is_blotted_too() -> None:
    body = f"event: error\ndata: Incorrect API key provided: {KEY}\n\n"
    assert blotted(body, [KEY]) == body.replace(KEY, REDACTED)
    both = stream(*(chunk(content=piece) for piece in cut(KEY, 3))).replace("data: [DONE]", body)
    left = blotted(both, [KEY])
    assert f"event: error\ndata: Incorrect API key provided: {REDACTED}\n\n" in left
    assert left.count(REDACTED) == 2
