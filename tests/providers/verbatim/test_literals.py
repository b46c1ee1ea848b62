import pytest

from prompt.values import Json
from providers.verbatim.literals import (
    Leniency,
    Unreadable,
    read_call_arguments,
    read_value,
)

STRICT = Leniency()
GUESSING = Leniency(guess_quotes=True)
CLOSING = Leniency(close_missing=True)
BARE = Leniency(bare_words=True, quote_tokens=("<escape>",))


VALUES: list[tuple[str, Json]] = [
    ("1", 1),
    ("-1.5e3", -1500.0),
    (".5", ".5"),
    ("+3", 3),
    ("1_000", 1000),
    ("True", True),
    ("null", None),
    ("None", None),
    ("'a'", "a"),
    ("“a”", "a"),
    ("‘a’", "a"),
    ("`a`", "a"),
    ('"a\\tb\\u00e9\\x41\\/"', "a\tbéA/"),
    ('"\\ud83c\\udf27"', "🌧"),
    ("(1, 2)", [1, 2]),
    ("[1, [2], {}]", [1, [2], {}]),
    ("{'a': {'b': [True, None]}}", {"a": {"b": [True, None]}}),
    ("{a: 1, 'b' = 2,}", {"a": 1, "b": 2}),
    ("[1,, 2,]", [1, 2]),
    ("{} }]", {}),
    ('{"a": 1]', {"a": 1}),
    ("// why\n{/* x */'a': 1} # so", {"a": 1}),
]


@pytest.mark.parametrize(("text", "value"), VALUES)
def test_values(text: str, value: Json) -> None:
    assert read_value(text, STRICT) == value


@pytest.mark.parametrize(
    ("text", "leniency", "value"),
    [
        ('{"a": "x "y" z"}', GUESSING, {"a": 'x "y" z'}),
        ('["a "b", c", "d"]', GUESSING, ['a "b", c', "d"]),
        ('{"a": [1, {"b": 2', CLOSING, {"a": [1, {"b": 2}]}),
        ("{a:<escape>it's {x}, y<escape>,c:2}", BARE, {"a": "it's {x}, y", "c": 2}),
        ("{a:some words,c:2}", BARE, {"a": "some words", "c": 2}),
    ],
)
def test_what_is_forgiven(text: str, leniency: Leniency, value: Json) -> None:
    assert read_value(text, leniency) == value
    with pytest.raises(Unreadable):
        read_value(text, STRICT)


@pytest.mark.parametrize(
    "text",
    [
        *("", "x", "{", '"a', "{'a'}", "{'a': }", "{1: 2}", "1 2", "{} x", "f(1)", "[1 2]"),
        *("[" * 100, "__import__('os')", "1 + 1", "9" * 5_000, "<escape>a", "/* open"),
    ],
)
def test_what_is_no_value(text: str) -> None:
    with pytest.raises(Unreadable):
        read_value(text, STRICT)


@pytest.mark.parametrize(
    ("text", "positional", "keywords"),
    [
        ("", (), ()),
        ("1", (1,), ()),
        ("'a', 2,", ("a", 2), ()),
        ("a=1, b='x'", (), (("a", 1), ("b", "x"))),
        ("a: 1", (), (("a", 1),)),
        ("1, b = [2]", (1,), (("b", [2]),)),
        ("**{'a': 1}", ({"a": 1},), ()),
    ],
)
def test_call_arguments(
    text: str, positional: tuple[Json, ...], keywords: tuple[tuple[str, Json], ...]
) -> None:
    read = read_call_arguments(text, STRICT)
    assert (read.positional, read.keywords) == (positional, keywords)


@pytest.mark.parametrize("text", ["a", "a=b", "f(1)", "1 2", "a=1 b=2"])
def test_what_are_no_call_arguments(text: str) -> None:
    with pytest.raises(Unreadable):
        read_call_arguments(text, STRICT)
