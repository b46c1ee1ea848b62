import random
import string

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from prompt.values import Json, ToolCall
from tests.providers.verbatim.outcome import answer, calls, errors, parse, untiled
from tests.providers.verbatim.renderers import JSON_RENDERERS, RENDERERS, VALUE_RENDERERS, Call
from tests.providers.verbatim.surface import SURFACE

QUICK = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])

# What a string may hold in a dialect that does not quote it: no marker of its own.
PLAIN = st.text(
    alphabet=string.ascii_letters + string.digits + " .,:;!?'\"()[]{}/\\#@*-_+=&%$é東🌧\n\t",
    min_size=1,
    max_size=30,
).filter(lambda text: text.strip() == text)
MARKERS = st.sampled_from(
    """</tool_call> <tool_call> ``` </function> [/TOOL_CALLS] <|call|> </think> <think> ` }} )]
    <｜tool▁call▁end｜> \\" \\n""".split()  # noqa: SIM905
)
ANY = (
    st.lists(st.text(max_size=12) | MARKERS, max_size=4)
    .map("".join)
    .filter(lambda text: not text.endswith(">"))
)


def drawn_calls(strings: st.SearchStrategy[str]) -> st.SearchStrategy[list[Call]]:
    note: st.SearchStrategy[dict[str, Json]] = st.fixed_dictionaries(
        {"title": strings, "body": strings},
        optional={
            "tags": st.lists(strings, max_size=3),
            "pinned": st.booleans(),
            "weight": st.floats(allow_nan=False, allow_infinity=False, width=32),
            "place": st.fixed_dictionaries(
                {"room": strings}, optional={"shelf": st.integers(-5, 10**20)}
            ),
        },
    )
    one = st.one_of(
        st.tuples(
            st.just("get_weather"),
            st.fixed_dictionaries({"city": strings}, optional={"days": st.integers(-3, 99)}),
        ),
        st.tuples(st.just("remember"), st.fixed_dictionaries({"fact": strings})),
        st.tuples(st.just("roll_dice"), st.fixed_dictionaries({"sides": st.integers(1, 10**18)})),
        st.tuples(st.just("save_note"), note),
    )
    return st.lists(one, min_size=1, max_size=3)


PROSE = st.lists(
    st.sampled_from(
        [
            "Well",
            "the",
            "weather",
            "is",
            "fine,",
            "or",
            "so",
            "I",
            "hear",
            "(mostly).",
            "Let",
            "us",
            "see;",
            "3",
            "<",
            "4!",
        ]
    ),
    min_size=1,
    max_size=12,
).map(lambda words: " ".join(words) + "\n\n")


def cut(text: str, seed: int) -> list[str]:
    chance = random.Random(seed)
    parts: list[str] = []
    at = 0
    while at < len(text):
        size = chance.choice((1, 1, 2, 3, 5, 8, 40))
        parts.append(text[at : at + size])
        at += size
    return parts


@pytest.mark.parametrize("dialect", JSON_RENDERERS)
@QUICK
@given(wanted=drawn_calls(ANY), before=st.just("") | PROSE, seed=st.integers())
def test_calls_with_json_arguments_come_back(
    dialect: str, wanted: list[Call], before: str, seed: int
) -> None:
    check_round_trip(dialect, wanted, before, seed)


@pytest.mark.parametrize("dialect", VALUE_RENDERERS)
@QUICK
@given(wanted=drawn_calls(PLAIN), before=st.just("") | PROSE, seed=st.integers())
def test_calls_with_written_values_come_back(
    dialect: str, wanted: list[Call], before: str, seed: int
) -> None:
    check_round_trip(dialect, wanted, before, seed)


def check_round_trip(dialect: str, wanted: list[Call], before: str, seed: int) -> None:
    text = before + RENDERERS[dialect](wanted)
    events = parse(cut(text, seed))
    assert calls(events) == [(name, dict(arguments)) for name, arguments in wanted]
    assert not errors(events)
    assert answer(events).strip() == before.strip()
    assert not untiled(text, events)


FRAGMENTS = st.sampled_from(
    """<tool_call> </tool_call> <think> </think> ` ``` ```json { } [ ] ( ) " ' \\ get_weather
    get_weather( {"name": "arguments": , : <| |> <|im_end|> <|im_start|>user [TOOL_CALLS] [ARGS]
    <function=get_weather> <parameter=city> </parameter> </function> call: functions. Action:
    Thought: >>> <|channel|> analysis final <|message|> <|start|> <|call|> <|end|>
    to=functions.get_weather <|open|> <|close|> <|sep|> <arg_key> </arg_key> <｜DSML｜
    functools[ <｜tool▁sep｜> Oslo {"city":"Oslo"} <get_weather> <city> <![CDATA[ ]]> <escape>
    ]<]minimax[>[ | ~~~ “ ” é get_weather({"city":"Oslo"}) print( <|odd|> </""".split()  # noqa: SIM905
)
MESS = st.lists(
    FRAGMENTS
    | st.sampled_from([" ", "\n", "\n\n", "    ", "a", "some words "])
    | st.text(max_size=3),
    max_size=14,
).map("".join)
FINISH = st.sampled_from(["stop", "length", "tool_calls", "error", None])


@settings(QUICK, max_examples=600)
@given(text=MESS, seed=st.integers(), finish=FINISH)
@example(text="<think>", seed=0, finish=None)
@example(text="]<]minimax[>[<tool_call>", seed=0, finish="stop")
@example(text='<tool_call>{"name":"', seed=0, finish="tool_calls")
def test_any_text_in_any_partition(text: str, seed: int, finish: str) -> None:
    whole = parse([text], finish=finish)  # pyright: ignore[reportArgumentType]
    assert not untiled(text, whole)
    assert parse(text, finish=finish) == whole  # pyright: ignore[reportArgumentType]
    assert parse(cut(text, seed), finish=finish) == whole  # pyright: ignore[reportArgumentType]
    for event in whole:
        if isinstance(event, ToolCall):
            assert event.name in SURFACE.callable
