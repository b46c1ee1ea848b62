"""`bot.py parse --explain`: the same reading, with the rules that decided it."""

from dataclasses import replace
from typing import Any

import pytest

from chat.captured import Case, parse
from providers.verbatim import ParserSettings
from tests.cli.test_parse import main
from tests.providers.verbatim.corpus import load_all
from tests.providers.verbatim.surface import SURFACE
from tests.providers.verbatim.test_corpus import settings_of

TAGGED = '<tool_call>{"name": "%s", "arguments": {"city": "Oslo"}}</tool_call>'
FENCED = '```json\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n```'


def explained(text: str) -> list[dict[str, Any]]:
    settings = ParserSettings(explain=True)
    return parse(Case(surface=SURFACE, input=text, settings=settings))


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (TAGGED % "get_weather", "the marker <tool_call>"),
        ('get_weather({"city": "Oslo"})', "`name(...)` alone on its line"),
        ('`get_weather({"city": "Oslo"})`', "`name(...)` in backticks, alone on its line"),
        ('So: `get_weather({"city": "Oslo"})`', "inline code that closes the message"),
        (FENCED, "a fence of calls"),
        ('{"name": "get_weather", "arguments": {"city": "Oslo"}}', "a JSON call object"),
        ('Action: get_weather\nAction Input: {"city": "Oslo"}', "`Action:` at a line's start"),
        ("<get_weather><city>Oslo</city></get_weather>", "the tag of a tool"),
        (
            f"<think>{TAGGED % 'get_weather'}</think>",
            "the last call in thinking, in a turn that says nothing else",
        ),
    ],
)
def test_a_call_names_its_form(text: str, rule: str) -> None:
    assert [r["rule"] for r in explained(text) if r["type"] == "call"] == [rule]


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("Hello.", "no form of a call"),
        (FENCED + "\nSo it goes.", "a fence of calls, a call only at the end: words follow it"),
        (
            '[get_weather({"city": "Oslo"})](https://example.org)',
            "a list of calls, but something else stands with it",
        ),
    ],
)
def test_text_names_the_form_that_it_nearly_has(text: str, rule: str) -> None:
    first, _ = explained(text)
    assert (first["type"], first["text"], first["rule"]) == ("text", text, rule)


def test_an_error_names_its_form_and_the_reason() -> None:
    first, _ = explained(TAGGED % "get_wether")
    assert first["rule"] == "the marker <tool_call>, but its name is not on offer"
    first, _ = explained("<tool_call></tool_call>")
    assert first["rule"] == "the marker <tool_call>, but no call can be read in it"


def test_what_reaches_nobody_is_told_without_its_text() -> None:
    records = explained(f"{TAGGED % 'get_weather'} secret words<|im_end|>")
    assert {"type": "dropped", "characters": 12, "rule": "words after the last call"} in records
    assert "secret" not in str(records[1:])


def test_thinking_that_nothing_opened_is_named() -> None:
    first, *_ = explained("Well.\n</think>Hello.")
    assert first["rule"] == "what follows shows that it was thinking"


@pytest.mark.parametrize("case", load_all(), ids=str)
def test_explaining_changes_nothing_and_no_partition_changes_it(case: Any) -> None:
    settings = settings_of(case)
    finish = case.switches.get("finish", "stop")
    plain = Case(surface=SURFACE, input=case.text, finish=finish, settings=settings)
    asked = replace(plain, settings=replace(settings, explain=True))
    records = parse(asked)
    assert all(record["rule"] for record in records)
    assert parse(replace(asked, chunk=1)) == records
    shown = [{k: v for k, v in r.items() if k != "rule"} for r in records]
    assert _joined([r for r in shown if r["type"] != "dropped"]) == parse(plain)


def _joined(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Records with text joined where only something dropped stood between."""
    joined: list[dict[str, Any]] = []
    for record in records:
        words = record["type"] in {"text", "reasoning"}
        if joined and words and joined[-1]["type"] == record["type"]:
            joined[-1]["text"] += record["text"]
        else:
            joined.append(dict(record))
    return joined


def test_the_option_asks_for_it() -> None:
    assert [record["rule"] for record in main("Hello.", "--explain")] == [
        "no form of a call",
        "the endpoint",
    ]
    (line,) = main('{"id": 1, "tools": [], "input": "Hello."}', "--batch", "--explain")
    assert line["events"][0]["rule"] == "no form of a call"
    assert "rule" not in main("Hello.")[0]
