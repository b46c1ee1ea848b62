from dataclasses import replace
from typing import Any, get_args

import pytest

from providers.probe import Findings, findings, sentence, table

FOUND = Findings(
    endpoint="http://127.0.0.1:1/v1",
    model="m",
    native_tools="ignored",
    calls_tried=6,
    calls_worked=6,
)


def rows(found: Findings) -> dict[str, str]:
    return {row.what: row.found for row in table(found)}


def test_the_verdict_is_one_sentence() -> None:
    assert sentence(FOUND) == (
        "This server ignores tools; verbatim is on; 6 of 6 test calls worked."
    )


def test_calls_that_never_worked_are_not_glossed_over() -> None:
    words = sentence(replace(FOUND, calls_worked=0))
    assert "0 of 6 test calls worked" in words
    assert words.endswith("never call a tool.")


def test_no_answer_is_told_with_the_reason() -> None:
    found = replace(FOUND, answered=False, trouble="401: wrong key")
    assert sentence(found) == "No test request was answered. 401: wrong key"


def test_a_test_that_was_broken_off_says_so() -> None:
    assert sentence(replace(FOUND, trouble="It took too long.")).endswith("It took too long.")


@pytest.mark.parametrize(
    ("name", "kind", "row"),
    [
        ("native_tools", findings.NativeTools, "native tools"),
        ("system", findings.System, "system position"),
        ("neighbours", findings.Taken, "alternation"),
        ("tool_role", findings.ToolRole, "tool role"),
        ("patterns", findings.Taken, "patterns in schemas"),
        ("usage_in_stream", findings.Taken, "token counts in streams"),
        ("vision", findings.Vision, "vision"),
    ],
)
def test_every_value_has_words_of_its_own(name: str, kind: Any, row: str) -> None:
    values = get_args(kind)
    told = {rows(replace(FOUND, **{name: value}))[row] for value in values}
    assert len(told) == len(values)


@pytest.mark.parametrize("value", get_args(findings.NativeTools))
def test_every_verdict_says_whether_verbatim_is_on(value: Any) -> None:
    on = value not in findings.STRUCTURED
    words = sentence(replace(FOUND, native_tools=value))
    assert ("verbatim is on" in words, "verbatim is off" in words) == (on, not on)


def test_numbers() -> None:
    found = replace(FOUND, context_window=8192, tokens_per_second=41.4789, cached_tokens=True)
    assert rows(found)["context window"] == "8,192 tokens"
    assert rows(found)["speed"] == "about 41.5 tokens a second"
    assert rows(found)["cached tokens"] == "reported"
    assert rows(FOUND)["context window"] == "not told"
    assert rows(FOUND)["speed"] == "not known"
