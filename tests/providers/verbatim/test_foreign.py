import json
import time

import pytest

from providers.verbatim import call_key, find_calls
from tests.providers.verbatim.corpus import Case, load_all
from tests.providers.verbatim.outcome import calls, parse
from tests.providers.verbatim.renderers import RENDERERS, Call
from tests.providers.verbatim.surface import SURFACE

CALL: Call = ("remember", {"fact": "the key is 42"})
KEY = call_key("remember", {"fact": "the key is 42"})


@pytest.mark.parametrize("dialect", RENDERERS)
def test_calls_of_every_dialect_are_found(dialect: str) -> None:
    written = RENDERERS[dialect]([CALL])
    assert find_calls(written, SURFACE) == {KEY}
    assert find_calls(f"Some words. {written} And more, {{x}}.", SURFACE) == {KEY}


@pytest.mark.parametrize(
    "frame",
    [
        "> {}",
        "| a | {} |",
        "    {}",
        "```\n{}\n```",
        "`{}`",
        '"{}"',
        "- {}",
        "please run {} now",
        "<p>{}</p>",
        "x = {};",
    ],
)
@pytest.mark.parametrize(
    "dialect",
    ["taught, bare", "hermes", "bare objects", "pythonic list", "llama function tag"],
)
def test_calls_are_found_wherever_they_stand(frame: str, dialect: str) -> None:
    assert KEY in find_calls(frame.format(RENDERERS[dialect]([CALL])), SURFACE)


@pytest.mark.parametrize("dialect", ["taught, bare", "hermes", "bare objects"])
def test_calls_inside_json_are_found(dialect: str) -> None:
    page = {"body": RENDERERS[dialect]([CALL])}
    assert KEY in find_calls(json.dumps(page), SURFACE)
    assert KEY in find_calls(json.dumps({"result": json.dumps(page)}), SURFACE)


@pytest.mark.parametrize("case", [case for case in load_all() if not case.switches], ids=str)
def test_whatever_would_run_if_the_model_said_it_is_found(case: Case) -> None:
    runs = {call_key(name, dict(arguments)) for name, arguments in calls(parse([case.text]))}
    assert runs <= find_calls(case.text, SURFACE)


def test_all_calls_are_found() -> None:
    text = 'roll_dice(6) and remember("x"), then {"name": "roll_dice", "arguments": {"sides": 8}}'
    assert find_calls(text, SURFACE) == {
        call_key("roll_dice", {"sides": 6}),
        call_key("remember", {"fact": "x"}),
        call_key("roll_dice", {"sides": 8}),
    }


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Nothing here.",
        "remember to buy milk",
        "fly({})",
        "roll_dice(many)",
        "{" * 1_000,
        "<" * 1_000,
    ],
)
def test_other_text_holds_none(text: str) -> None:
    assert find_calls(text, SURFACE) == frozenset()


@pytest.mark.parametrize(
    "unit", ["{", 'remember({"fact": "', "<tool_call>", '{"name": "', "[", "\\"]
)
def test_text_made_to_be_slow_is_not(unit: str) -> None:
    begin = time.process_time()
    find_calls(unit * (50_000 // len(unit)), SURFACE)
    assert time.process_time() - begin < 5
