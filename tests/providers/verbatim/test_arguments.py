import pytest

from prompt.values import Json
from providers.verbatim import BindFailure, Bound, bind_call
from providers.verbatim.literals import CallArguments
from tests.providers.verbatim.surface import DICE, NOTE, REMEMBER, RULES, WEATHER, tool

ANY_OBJECT = tool("any")
OPEN = tool("open", {"data": {"type": "object"}}, ("data",))


def bound(outcome: Bound | BindFailure) -> Bound:
    assert isinstance(outcome, Bound), outcome
    return outcome


@pytest.mark.parametrize(
    "raw", [None, "", "  ", "{}", "null", '""', "```json\n{}\n```", CallArguments(), {}]
)
def test_nothing_is_an_empty_object(raw: str | None) -> None:
    assert bound(bind_call(RULES, raw)).arguments == {}


@pytest.mark.parametrize(
    ("raw", "arguments"),
    [
        ('{"fact": "a"}', {"fact": "a"}),
        ('  {"fact": "a"}\n', {"fact": "a"}),
        ('"{\\"fact\\": \\"a\\"}"', {"fact": "a"}),
        ('"\\"{\\\\\\"fact\\\\\\": 1}\\""', {"fact": "1"}),
        ('```json\n{"fact": "a"}\n```', {"fact": "a"}),
        ('{"fact": "\\ud83c\\udf27"}', {"fact": "🌧"}),
        ('{"fact": "\\ud83c"}', {"fact": "\ufffd"}),
        ('{"fact": "one", "fact": "two"}', {"fact": "two"}),
    ],
)
def test_json_is_read_as_it_stands(raw: str, arguments: dict[str, Json]) -> None:
    assert bound(bind_call(REMEMBER, raw)).arguments == arguments


@pytest.mark.parametrize(
    ("raw", "fact"),
    [
        ("{'fact': 'a'}", "a"),
        ("{“fact”: “a”}", "a"),
        ('{fact: "a"}', "a"),
        ('{"fact": "a",}', "a"),
        ('{"fact": "a"', "a"),
        ('{"fact": "a"}}', "a"),
        ('{"fact": "a" /* why */}', "a"),
        ('{"fact": "a", # why\n}', "a"),
        ('{"fact": "a\nb"}', "a\nb"),
        ('{"fact": "\\d+"}', "\\d+"),
        ('{"fact": "it\\\'s"}', "it's"),
        ('{"fact": "say "hi" now"}', 'say "hi" now'),
        ("{'fact': 'it's'}", "it's"),
        ('{"fact": "a<|im_end|>"}', "a"),
        ('{"fact": "a</s>"}', "a"),
        ('{"fact": 007}', "007"),
        ("\"{'fact': 'a'}\"", "a"),
    ],
)
def test_repairs_are_flagged(raw: str, fact: str) -> None:
    outcome = bound(bind_call(REMEMBER, raw))
    assert outcome.arguments == {"fact": fact}
    assert outcome.repaired


@pytest.mark.parametrize(
    "raw",
    [
        '{"fact": "a',
        "fact",
        "[]",
        '["a"]',
        '"a"',
        "3",
        "{1: 2}",
        '{"fact"}',
        "{'fact': }",
        "{" * 500,
    ],
)
def test_what_is_no_object_is_refused(raw: str) -> None:
    assert isinstance(bind_call(REMEMBER, raw), BindFailure)


def test_a_repair_counts_only_if_the_schema_holds() -> None:
    assert isinstance(bind_call(DICE, "{'sides': 'many'}"), BindFailure)
    assert isinstance(bind_call(REMEMBER, '{"fact": "a", "other": "b",}'), BindFailure)


def test_an_unclosed_bracket_stays_open_where_the_response_was_cut() -> None:
    assert isinstance(bind_call(REMEMBER, '{"fact": "a"', complete=False), BindFailure)
    assert bound(bind_call(REMEMBER, '{"fact": "a"', complete=True)).repaired


def test_numbers_keep_their_value_and_their_spelling() -> None:
    raw = '{"sides": 123456789012345678901234567890, "count": 1.0}'
    outcome = bound(bind_call(DICE, raw))
    assert outcome.arguments == {"sides": 123456789012345678901234567890, "count": 1}
    assert outcome.raw_arguments == raw
    assert not outcome.repaired


def test_a_number_too_long_to_be_one_is_refused() -> None:
    assert isinstance(bind_call(DICE, '{"sides": ' + "9" * 10_000 + "}"), BindFailure)


@pytest.mark.parametrize(
    ("written", "arguments"),
    [
        (CallArguments(keywords=(("city", "Oslo"), ("days", 2))), {"city": "Oslo", "days": 2}),
        (CallArguments(positional=("Oslo",)), {"city": "Oslo"}),
        (CallArguments(positional=("Oslo", "2")), {"city": "Oslo", "days": 2}),
        (CallArguments(positional=({"city": "Oslo"},)), {"city": "Oslo"}),
        (CallArguments(positional=("Oslo",), keywords=(("days", 2),)), {"city": "Oslo", "days": 2}),
    ],
)
def test_call_arguments_are_placed(written: CallArguments, arguments: dict[str, Json]) -> None:
    assert bound(bind_call(WEATHER, written)).arguments == arguments


def test_an_object_is_wrapped_for_the_one_parameter_that_takes_one() -> None:
    written = CallArguments(positional=({"a": 1},))
    assert bound(bind_call(OPEN, written)).arguments == {"data": {"a": 1}}


@pytest.mark.parametrize(
    "written",
    [CallArguments(positional=("Oslo", 2, 3)), CallArguments(keywords=(("town", "Oslo"),))],
)
def test_call_arguments_that_fit_nowhere_are_refused(written: CallArguments) -> None:
    assert isinstance(bind_call(WEATHER, written), BindFailure)


def test_a_failure_tells_the_model_what_is_wrong_and_the_schema() -> None:
    outcome = bind_call(NOTE, '{"title": 1}')
    assert isinstance(outcome, BindFailure)
    message = outcome.message(NOTE)
    assert "'body' is a required property" in message
    assert '"required":["title","body"]' in message


def test_a_pattern_that_is_no_pattern_admits_anything() -> None:
    broken = tool("broken", {"a": {"type": "string", "pattern": "("}}, ("a",))
    assert bound(bind_call(broken, '{"a": "x"}')).arguments == {"a": "x"}


@pytest.mark.parametrize("number", ["1e999", "-1e999", "NaN", "Infinity", "-Infinity", "9" * 5_000])
@pytest.mark.parametrize(
    "raw", ['{{"data":{{"n":{}}}}}', "{{data: {{n: {}}}}}", '{{"data":"{{\\"n\\":{}}}"}}']
)
def test_a_number_that_json_cannot_write_again_is_refused(raw: str, number: str) -> None:
    outcome = bind_call(OPEN, raw.format(number))
    assert isinstance(outcome, BindFailure)


@pytest.mark.parametrize("number", ["1e999", "Infinity"])
def test_such_a_number_in_quotes_becomes_none(number: str) -> None:
    outcome = bind_call(NOTE, f'{{"title":"a","body":"b","weight":"{number}"}}')
    assert isinstance(outcome, BindFailure)
    large = bound(bind_call(NOTE, '{"title":"a","body":"b","weight":1e308}'))
    assert large.arguments["weight"] == 1e308


def test_why_a_number_is_refused_is_told() -> None:
    outcome = bind_call(DICE, f'{{"sides":{"9" * 5_000}}}')
    assert isinstance(outcome, BindFailure)
    assert "a number is too long" in outcome.message(DICE)
    assert "99999" not in outcome.message(DICE)
