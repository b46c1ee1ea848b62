"""How soon words are passed on, and what reading costs."""

import time
from collections.abc import Callable

import pytest

from prompt.events import TextDelta
from providers.verbatim import VerbatimParser
from tests.providers.verbatim.surface import SURFACE

LONGEST_MARKER = 32
PROSE = (
    "The weather in Oslo is mild today (so they say), with a light breeze - 3 < 4 m/s - from "
    "the west. Don't forget a jacket: it's cold in the evening!\n\n## Packing\n\n"
    "1. socks\n2. a hat, *warm*\n\nSee [the list](https://example.org/a_b) or `pack.txt`.\n"
    '> a quotation\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n{this} and "that" [too].\n'
)


def held(text: str, size: int = 1) -> list[int]:
    """How many characters are held back after each piece."""
    parser = VerbatimParser(SURFACE)
    shown = fed = 0
    counts: list[int] = []
    for at in range(0, len(text), size):
        part = text[at : at + size]
        fed += len(part)
        shown += sum(len(e.text) for e in parser.feed(part) if isinstance(e, TextDelta))
        counts.append(fed - shown)
    return counts


def test_prose_is_held_back_no_longer_than_a_marker() -> None:
    counts = held(PROSE * 3)
    assert max(counts) <= LONGEST_MARKER
    assert sum(counts) / len(counts) < 2


@pytest.mark.parametrize(
    ("text", "most"),
    [
        ("Hello there, how are you", 0),
        ('{"city": "Oslo", "temperature": 3, "wind": [1, 2, 3]}', 3),
        ('{"name": "Bob", "age": 3, "city": "Oslo"}', 18),
        ("[1, 2, 3, 4, 5, 6, 7, 8, 9]", 1),
        ("`some inline code` and more of it", 6),
        ("```python\nimport os\nprint(os.name)\n```\n", 17),
        ("```rust\nfn main() {}\n```\n", 8),
        ("fetch( then your address and so on", 8),
        ("<p>some html</p> and <b>more</b>", 7),
        ("Words, then {braces} and [brackets] in them", 2),
        ("Action: " + "words and more " * 20, 14),
        ("```" + "words and more " * 20, 9),
        ("<|channel|>" + "words and more " * 60, 300),
        ("<tool_call> is the tag that begins a call\nand more", 45),
    ],
)
def test_what_cannot_be_a_call_is_released(text: str, most: int) -> None:
    assert max(held(text)) <= most


def test_a_long_answer_that_begins_like_a_call_flows() -> None:
    answer = '{"input": [' + ", ".join(str(n) for n in range(2_000)) + "]}"
    assert max(held(answer)) <= LONGEST_MARKER


CALL = '<tool_call>\n{"name": "save_note", "arguments": {"title": "x", "body": "%s"}}\n</tool_call>'
SCALED: dict[str, Callable[[int], str]] = {
    "prose": lambda n: PROSE * n,
    "words without spaces": lambda n: "abcdefgh" * 100 * n,
    "a long string": lambda n: CALL % ("words and more " * 60 * n),
    "escapes": lambda n: CALL % ('\\\\ \\" \\n ' * 100 * n),
    "backslashes": lambda n: CALL % ("\\\\" * 500 * n),
    "many calls": lambda n: (CALL % "short") * 10 * n,
    "tags in a value": lambda n: (
        "<function=save_note>\n<parameter=title>x</parameter>\n<parameter=body>"
        + "</parameter> <b>x</b> " * 40 * n
        + "</parameter>\n</function>"
    ),
    "angles": lambda n: "<" * 800 * n,
    "tokens cut short": lambda n: "<|tool_cal" * 80 * n,
    "brackets": lambda n: "[" * 800 * n,
    "braces at line starts": lambda n: '{"name": "\n' * 80 * n,
    "backticks": lambda n: "`a` ``b`` " * 80 * n,
    "fences": lambda n: "```\nget_weather(\n" * 50 * n,
    "call begun on every line": lambda n: 'get_weather({"city": "Oslo"} \n' * 30 * n,
    "unknown calls begun": lambda n: 'foo({"a": 1\n' * 80 * n,
    "unknown calls with open strings": lambda n: 'foo({"a": "\n' * 80 * n,
    "objects begun with arguments": lambda n: '{"arguments": {\n' * 60 * n,
    "arrays begun": lambda n: '[{"arguments": {"x": [\n' * 50 * n,
    "inline calls begun": lambda n: 'a `get_weather({"city": \n' * 40 * n,
    "wrappers begun": lambda n: '<tool_call>{"a": \n' * 50 * n,
    "wrappers in a row": lambda n: "<tool_call>" * 60 * n,
    "noise in a row": lambda n: "<tool_call>]<]minimax[>[" * 30 * n,
    "closers in a row": lambda n: "</tool_call></think>" * 30 * n,
    "functions begun": lambda n: "<function=get_weather>\n<parameter=city>\n" * 20 * n,
    "tool tags begun": lambda n: "<get_weather><city>" * 40 * n,
    "blocks begun": lambda n: "<|open|>call " * 60 * n,
    "channels begun": lambda n: "<|channel|>commentary to=functions.get_weather " * 20 * n,
    "keys begun": lambda n: "<tool_call>get_weather<arg_key>" * 25 * n,
    "actions begun": lambda n: "Action: get_weather\nAction Input: {\n" * 25 * n,
    "escapes begun": lambda n: "<|tool_call>call:get_weather{city:<escape>" * 20 * n,
    "quotes": lambda n: CALL % ("'x': 'y', " * 80 * n),
    "open thinking": lambda n: "<think>" + PROSE * n,
    "closing tags": lambda n: "a</think> " * 80 * n,
    "white space": lambda n: "\n" + " " * 800 * n + "x",
    "signature": lambda n: "get_weather(" + "a, " * 250 * n + ")",
    "near JSON": lambda n: CALL % ('x "y" z ' * 100 * n),
}


def cost(text: str, size: int) -> float:
    """Seconds of processor time, the best of three runs."""
    best = float("inf")
    for _ in range(3):
        parser = VerbatimParser(SURFACE)
        begin = time.process_time()
        for at in range(0, len(text), size):
            parser.feed(text[at : at + size])
        parser.close("stop")
        best = min(best, time.process_time() - begin)
    return best


@pytest.mark.parametrize("size", [1, 4, 1_000_000], ids=["by one", "by four", "whole"])
@pytest.mark.parametrize("kind", SCALED)
def test_eight_times_the_text_costs_no_more_than_about_eight_times_the_time(
    kind: str, size: int
) -> None:
    # Quadratic work costs 64 times as much. Twice the promised bound leaves room for a busy
    # machine and none for that; the constant covers what is too short to be measured.
    make = SCALED[kind]
    assert cost(make(8), size) <= 18 * cost(make(1), size) + 0.02
