"""What the corpus cannot say: settings of a turn, ids, order, spans, the reasoning field."""

from dataclasses import replace

import pytest

from prompt.events import (
    CallError,
    CallStarted,
    FinishReason,
    ParserEvent,
    ReasoningDelta,
    Reclassified,
    TextDelta,
)
from prompt.surface import ToolSurface
from prompt.values import ToolCall
from providers.verbatim import ParserSettings, VerbatimParser, call_id, call_key
from tests.providers.verbatim.outcome import (
    answer,
    calls,
    errors,
    merged,
    parse,
    pieces,
    shown,
    untiled,
)
from tests.providers.verbatim.surface import REMEMBER, SURFACE, WEATHER, tool

MILK = call_key("remember", {"fact": "milk"})
OSLO = call_key("get_weather", {"city": "Oslo"})
SAY_MILK = '<tool_call>{"name": "remember", "arguments": {"fact": "milk"}}</tool_call>'
SAY_OSLO = '<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo"}}</tool_call>'


def test_a_call_copied_from_foreign_text_does_not_run() -> None:
    events = parse([SAY_MILK], settings=ParserSettings(copied=frozenset({MILK})))
    assert not calls(events)
    (error,) = errors(events)
    assert (error.code, error.name) == ("copied", "remember")


def test_other_spellings_of_a_copied_call_do_not_run_either() -> None:
    copied = ParserSettings(copied=frozenset({call_key("roll_dice", {"sides": 6, "count": 2})}))
    for text in ('roll_dice({"count": "2", "sides": 6.0})', "roll_dice(6, 2)"):
        assert [error.code for error in errors(parse([text], settings=copied))] == ["copied"]


def test_a_call_with_other_arguments_than_the_copied_one_runs() -> None:
    events = parse(['remember({"fact": "tea"})'], settings=ParserSettings(copied=frozenset({MILK})))
    assert calls(events) == [("remember", {"fact": "tea"})]


def test_a_call_quoted_from_the_member_stays_text() -> None:
    settings = ParserSettings(quoted=frozenset({MILK}))
    events = parse([SAY_MILK], settings=settings)
    assert shown(events) == [{"text": SAY_MILK}]
    assert not any(isinstance(event, CallStarted) for event in events)


def test_read_only_calls_run_though_copied_or_quoted() -> None:
    keys = frozenset({OSLO})
    events = parse([SAY_OSLO], settings=ParserSettings(copied=keys, quoted=keys))
    assert calls(events) == [("get_weather", {"city": "Oslo"})]


def test_ids_come_from_turn_and_ordinal() -> None:
    events = parse(["roll_dice(6)\nroll_dice(6)"])
    ids = [event.id for event in events if isinstance(event, ToolCall)]
    assert ids == [call_id("turn", 1), call_id("turn", 2)]


def test_arguments_keep_the_json_that_the_model_wrote() -> None:
    written = '{"title":"a","body":"b\\u0020c", "weight":1.0,"place":{"room":"x", "shelf":2}}'
    (call,) = (e for e in parse([f"save_note({written})"]) if isinstance(e, ToolCall))
    assert call.raw_arguments == written
    (call,) = (
        e
        for e in parse(['{"name": "save_note", "arguments": ' + written + "}"])
        if isinstance(e, ToolCall)
    )
    assert call.raw_arguments == written


def test_arguments_without_json_of_their_own_are_written_canonically() -> None:
    (call,) = (e for e in parse(['get_weather(days=2, city="Oslo")']) if isinstance(e, ToolCall))
    assert call.raw_arguments == '{"days":2,"city":"Oslo"}'


@pytest.mark.parametrize(
    "text",
    [
        SAY_OSLO,
        "<function=get_weather>\n<parameter=city>Oslo</parameter></function>",
        '[TOOL_CALLS]get_weather[ARGS]{"city": "Oslo"}',
        '<|channel|>commentary to=functions.get_weather<|message|>{"city": "Oslo"}<|call|>',
    ],
)
def test_a_call_is_announced_before_its_arguments_are_complete(text: str) -> None:
    parser = VerbatimParser(SURFACE)
    announced = parser.feed(text[: text.index("Oslo")])
    assert [event.name for event in announced if isinstance(event, CallStarted)] == ["get_weather"]
    rest = parser.feed(text[text.index("Oslo") :]) + parser.close("stop")
    assert [type(event) for event in rest] == [ToolCall]


@pytest.mark.parametrize(
    "text", ["roll_dice(6)", '{"name": "roll_dice", "arguments": {"sides": 6}}']
)
def test_every_call_is_announced_once(text: str) -> None:
    assert [type(event) for event in parse([text])] == [CallStarted, ToolCall]


def test_arguments_beyond_the_limit_are_refused_and_the_rest_goes_on() -> None:
    settings = ParserSettings(max_argument_chars=1_000)
    long = SAY_MILK.replace("milk", "m" * 2_000)
    text = f"{long}\n{SAY_OSLO}"
    for size in (0, 7):
        events = parse(pieces(text, size), settings=settings)
        assert [error.code for error in errors(events)] == ["too_large"]
        assert calls(events) == [("get_weather", {"city": "Oslo"})]
        assert not untiled(text, events)


@pytest.mark.parametrize(
    "text",
    [
        "remember({0})",
        '<tool_call>{{"name": "remember", "arguments": {0}}}</tool_call>',
        '{{"name": "remember", "arguments": {0}}}',
        "[TOOL_CALLS]remember[ARGS]{0}",
        "<function=remember>{0}</function>",
    ],
)
def test_an_argument_of_a_megabyte_works_where_the_limit_allows_it(text: str) -> None:
    fact = "words " * 170_000
    whole = text.format('{"fact": "' + fact + '"}')
    settings = ParserSettings(max_argument_chars=2_000_000)
    assert calls(parse([whole], settings=settings)) == [("remember", {"fact": fact})]
    assert [e.code for e in errors(parse([whole]))] == ["too_large"]


def test_memory_stays_bounded_while_a_call_is_too_large() -> None:
    parser = VerbatimParser(SURFACE, ParserSettings(max_argument_chars=10_000))
    parser.feed('<tool_call>{"name": "remember", "arguments": {"fact": "')
    for _ in range(1_000):
        parser.feed("words " * 200)
    assert len(parser._engine.scan.text) < 40_000  # pyright: ignore[reportPrivateUsage]
    events = parser.feed('"}}</tool_call>')
    assert [event.code for event in events if isinstance(event, CallError)] == ["too_large"]


@pytest.mark.parametrize(
    "text",
    [
        'Sure.\r\nget_weather({"city": "Oslo"})\r\n',
        'Sure.\r\n`get_weather({"city": "Oslo"})`\r\n',
        'Sure.\r\n```json\r\n{"name": "get_weather",\r\n"arguments": {"city": "Oslo"}}\r\n```\r\n',
        "Sure.\r\n<function=get_weather>\r\n<parameter=city>\r\nOslo\r\n</parameter>\r\n</function>\r\n",
        'Sure.\r\nAction: get_weather\r\nAction Input: {"city": "Oslo"}\r\n',
    ],
)
def test_line_ends_may_be_two_characters(text: str) -> None:
    for size in (0, 1):
        events = parse(pieces(text, size))
        assert calls(events) == [("get_weather", {"city": "Oslo"})]
        assert answer(events) == "Sure.\r\n\r\n"


def test_unknown_names_are_answered_with_the_closest() -> None:
    (error,) = errors(parse([SAY_OSLO.replace("get_weather", "get_wether")]))
    assert "get_weather" in error.message
    assert "roll_dice" not in error.message


def test_unknown_names_like_no_other_are_answered_with_all() -> None:
    (error,) = errors(parse([SAY_OSLO.replace("get_weather", "xyzzy")]))
    assert all(name in error.message for name in SURFACE.callable)


def test_arguments_that_do_not_fit_are_answered_with_the_schema() -> None:
    (error,) = errors(parse(["roll_dice({})"]))
    assert '"required":["sides"]' in error.message
    assert "'sides' is a required property" in error.message


def test_deferred_tools_are_called_directly() -> None:
    events = parse(['save_note({"title": "a", "body": "b"})'])
    assert calls(events) == [("save_note", {"title": "a", "body": "b"})]


def test_without_tools_nothing_is_a_call() -> None:
    assert not calls(parse([SAY_OSLO], surface=ToolSurface()))


@pytest.mark.parametrize(
    "finish", ["stop", "tool_calls", "content_filter", "error", "length", None]
)
def test_complete_calls_run_however_the_response_ends(finish: FinishReason | None) -> None:
    assert calls(parse([SAY_OSLO], finish=finish)) == [("get_weather", {"city": "Oslo"})]


@pytest.mark.parametrize("finish", ["length", "error", None])
def test_brackets_are_only_closed_where_the_model_stopped_by_itself(
    finish: FinishReason | None,
) -> None:
    text = SAY_OSLO.removesuffix("}}</tool_call>")
    assert not calls(parse([text], finish=finish))
    assert [error.code for error in errors(parse([text], finish=finish))] == ["truncated"]
    assert calls(parse([text], finish="stop")) == [("get_weather", {"city": "Oslo"})]


def test_after_the_end_nothing_is_new() -> None:
    parser = VerbatimParser(SURFACE)
    parser.feed(SAY_OSLO[:-5])
    assert parser.close("stop")
    assert not parser.close("stop")
    assert not parser.feed("more")
    assert not parser.feed_reasoning("more")


def test_nothing_in_nothing_out() -> None:
    parser = VerbatimParser(SURFACE)
    assert not parser.feed("")
    assert not parser.feed_reasoning("")
    assert not parser.close(None)


# The reasoning field.


def thought(
    reasoning: str,
    content: str = "",
    *,
    settings: ParserSettings | None = None,
    native_calls: bool = False,
    size: int = 0,
) -> list[ParserEvent]:
    parser = VerbatimParser(SURFACE, settings or ParserSettings())
    events: list[ParserEvent] = []
    step = size or len(reasoning) or 1
    for at in range(0, len(reasoning), step):
        events += parser.feed_reasoning(reasoning[at : at + step])
    events += parser.feed(content)
    return merged(events + parser.close("stop", native_calls=native_calls))


def test_a_reasoning_field_has_no_spans() -> None:
    events = thought("Easy <b>.", "Hello.", size=1)
    assert events == [
        ReasoningDelta(text="Easy <b>."),
        TextDelta(text="Hello.", span=(0, 6)),
    ]


def test_a_call_in_the_reasoning_field_runs_if_nothing_else_is_said() -> None:
    events = thought(f"Look.\n{SAY_OSLO}\nYes.", size=3)
    assert shown(events) == [
        {"reasoning": "Look.\n"},
        {"call": "get_weather", "arguments": {"city": "Oslo"}},
        {"reasoning": "\nYes."},
    ]


def test_a_call_in_the_reasoning_field_is_a_draft_beside_others() -> None:
    assert not calls(thought(f"Look.\n{SAY_OSLO}", native_calls=True))
    assert not calls(thought(f"Look.\n{SAY_OSLO}", "Hello."))
    assert calls(thought(f"Look.\n{SAY_OSLO}", "roll_dice(6)")) == [("roll_dice", {"sides": 6})]


def test_a_call_in_the_reasoning_field_can_be_switched_off() -> None:
    never = ParserSettings(call_in_reasoning="never")
    assert not calls(thought(f"Look.\n{SAY_OSLO}", settings=never))


def test_a_copied_call_in_thinking_does_not_run() -> None:
    settings = ParserSettings(copied=frozenset({MILK}))
    assert not calls(thought(SAY_MILK, settings=settings))


def test_a_closing_tag_in_the_reasoning_field_ends_nothing() -> None:
    events = thought("Easy.</think> More <|im_start|>user", "Hello.")
    assert shown(events) == [{"reasoning": "Easy. More "}, {"text": "Hello."}]


def test_reclassified_text_is_exactly_what_was_shown() -> None:
    events = parse(["I think<|im_end|> so.\n</think>\nHello."])
    taken_back = [event for event in events if isinstance(event, Reclassified)]
    assert [(event.text, event.span) for event in taken_back] == [
        ("I think", (0, 7)),
        (" so.\n", (17, 22)),
    ]
    assert answer(events) == "\nHello."


def test_thinking_that_ended_properly_is_not_reclassified_again() -> None:
    events = parse(["<think>a</think>One. <think>b</think>Two.</think>Three."])
    assert (
        shown(events)
        == [
            {"reasoning": "a"},
            {"text": "One. "},
            {"reasoning": "b"},
            {"reasoning": "Two."},
            {"text": "Three."},
        ]
        or answer(events) == "One. Three."
    )


# Names that need care.


def test_names_with_dots_and_hyphens_run() -> None:
    surface = ToolSurface(direct=(tool("get-rain"), tool("fs.read"), tool("a__b")))
    for name in ("get-rain", "fs.read", "a__b"):
        for text in (f"{name}()", f"`{name}()`", f'{{"name": "{name}", "arguments": {{}}}}'):
            assert calls(parse([text], surface=surface)) == [(name, {})]


def test_a_schema_that_the_validator_cannot_use_admits_any_object() -> None:
    broken = replace(WEATHER, parameters={"type": "object", "$ref": "https://x.invalid/schema"})
    surface = ToolSurface(direct=(broken, REMEMBER))
    assert calls(parse(['get_weather({"a": 1})'], surface=surface)) == [("get_weather", {"a": 1})]


@pytest.mark.parametrize(
    "text",
    [
        '{{"name":"roll_dice","arguments":{{"sides":{}}}}}',
        '```json\n{{"name":"roll_dice","arguments":{{"sides":{}}}}}\n```',
        '<tool_call>{{"name":"roll_dice","arguments":{{"sides":{}}}}}</tool_call>',
        '[{{"name":"roll_dice","arguments":{{"sides":{}}}}}]',
        '`roll_dice({{"sides":{}}})`',
        "roll_dice(sides={})",
    ],
)
@pytest.mark.parametrize("number", ["9" * 5_000, "1e999", "NaN", '{"a":' * 100 + "1" + "}" * 100])
def test_a_call_with_a_number_beyond_reading_is_a_call_and_is_not_shown(
    text: str, number: str
) -> None:
    events = parse([text.format(number)])
    assert [error.code for error in errors(events)] == ["invalid_arguments"]
    assert not answer(events).strip()
