import re

from hypothesis import given
from hypothesis import strategies as st

from providers.verbatim.scanner import Answer, Scanner, Wait, Words


def answer(scan: Wait[Answer], scanner: Scanner, text: str, step: int) -> Answer:
    """Drive a scan that has not begun, giving it `text` in pieces of `step` characters."""
    scanner.append(text[:step])
    at = step
    while True:
        try:
            next(scan)
        except StopIteration as stop:
            return stop.value
        if at < len(text):
            scanner.append(text[at : at + step])
            at += step
        else:
            scanner.ended = True


def test_words_are_found_in_any_case_and_with_look_alike_bars() -> None:
    words = Words(("<|tool_call|>", "<think>", "<invoke "))
    for text in ("<|TOOL_call|>", "<｜tool▁call｜>", "<Think>"):
        found, end, undecided = words.walk(text, 0)
        assert found
        assert end == len(text)
        assert not undecided


def test_words_are_found_behind_a_namespace() -> None:
    words = Words(("<think>", "</think>", "<invoke "))
    for text, word in {
        "<seed:think>": "<think>",
        "</seed:think>": "</think>",
        "<｜DSML｜invoke ": "<invoke ",
        "<| DSML |invoke ": "<invoke ",
        "<x.y-z:invoke ": "<invoke ",
    }.items():
        assert words.walk(text, 0) == (word, len(text), False)


def test_a_beginning_leaves_the_question_open() -> None:
    words = Words(("<think>", "<invoke "))
    for text in ("<", "<t", "<think", "<seed:", "<seed", "<｜", "<｜DSM", "<｜DSML｜inv"):
        assert words.walk(text, 0)[2], text
    for text in ("<th ", "<b>", "<1", "a", "<｜DSX"):
        assert not words.walk(text, 0)[2], text


def test_the_longest_word_wins() -> None:
    words = Words(("<a>", "<a>b"))
    assert words.walk("<a>b", 0) == ("<a>b", 4, False)
    assert words.walk("<a>c", 0) == ("<a>", 3, False)
    assert words.walk("<a>", 0) == ("<a>", 3, True)


@given(
    text=st.text(alphabet="{}[]()\"'\\<`a ,:“”\n", max_size=40),
    step=st.integers(1, 5),
)
def test_values_end_at_the_same_place_however_the_text_comes(text: str, step: int) -> None:
    text = "{" + text
    stops = Words(("<a", "```"))
    whole, parts = Scanner(), Scanner()
    assert answer(whole.value(0, stops), whole, text, len(text)) == answer(
        parts.value(0, stops), parts, text, step
    )


@given(parts=st.lists(st.text(max_size=3_000), max_size=20), keep=st.integers(0, 5_000))
def test_text_behind_the_floor_is_there(parts: list[str], keep: int) -> None:
    scanner = Scanner()
    text = ""
    for part in parts:
        scanner.append(part)
        text += part
        scanner.floor = max(scanner.floor, len(text) - keep)
    assert scanner.slice(scanner.floor, scanner.end) == text[scanner.floor :]
    assert scanner.end == len(text)


def test_skipping_waits_for_the_end_of_a_run() -> None:
    for step in (1, 2, 9):
        scanner = Scanner()
        assert answer(scanner.skip(0, re.compile(r"a*")), scanner, "aaaab", step) == 4
        scanner = Scanner()
        assert answer(scanner.skip(0, re.compile(r"a*")), scanner, "aaaa", step) == 4


def test_a_string_ends_at_its_first_unescaped_quote() -> None:
    for step in (1, 2, 3, 99):
        for text, end in {'"a\\"b\\\\" "': 8, '"\\\\\\""': 6, '"open': -1, '"\\': -1}.items():
            scanner = Scanner()
            assert answer(scanner.string(0), scanner, text, step) == end
