"""The examples in docs/parsing.md come out as it says."""

import re
from pathlib import Path

import pytest

from prompt.events import CallError
from prompt.surface import ToolSurface
from tests.providers.verbatim.outcome import answer, calls, errors, parse
from tests.providers.verbatim.surface import DICE, REMEMBER, WEATHER

DOC = Path(__file__).parents[1] / "docs" / "parsing.md"
SURFACE = ToolSurface(direct=(WEATHER, DICE, REMEMBER))
ROW = re.compile(r"^\| .+? \| (`+)(.+?)\1 \| `?(\w+)`? \|$", re.MULTILINE)


def examples() -> list[tuple[str, str]]:
    _, _, rules = DOC.read_text(encoding="utf-8").partition("## What counts as a call")
    rows = ROW.findall(rules)
    return [(code.strip().replace("⏎", "\n").replace("\\|", "|"), said) for _, code, said in rows]


def outcome(text: str) -> str:
    events = parse([text], surface=SURFACE)
    failed: list[CallError] = errors(events)
    if calls(events):
        return "call"
    if failed:
        return failed[0].code
    assert answer(events)
    return "text"


def test_there_are_examples_of_every_outcome() -> None:
    assert len(examples()) >= 25
    assert {said for _, said in examples()} >= {"call", "text", "unknown_tool", "malformed"}


@pytest.mark.parametrize(("text", "said"), examples())
def test_an_example_comes_out_as_it_says(text: str, said: str) -> None:
    assert outcome(text) == said
