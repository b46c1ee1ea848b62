import pytest

from prompt.values import Json
from providers.verbatim.arguments import read_json
from providers.verbatim.coercion import coerce

TEXT = {"type": "string"}
WHOLE = {"type": "integer"}
REAL = {"type": "number"}
TRUTH = {"type": "boolean"}
TEXTS = {"type": "array", "items": TEXT}
NUMBERS = {"type": "array", "items": WHOLE}
EITHER = {"anyOf": [WHOLE, TEXT]}
MAYBE = {"type": ["integer", "null"]}


@pytest.mark.parametrize(
    ("written", "schema", "bent"),
    [
        ("3", WHOLE, 3),
        (" 3 ", WHOLE, 3),
        ("-3", WHOLE, -3),
        ("3.0", WHOLE, 3),
        ("3.5", WHOLE, "3.5"),
        ("a few", WHOLE, "a few"),
        ("12345678901234567890123", WHOLE, 12345678901234567890123),
        (True, WHOLE, True),
        ("2.5", REAL, 2.5),
        ("1e3", REAL, 1000.0),
        ("2", REAL, 2),
        ("true", TRUTH, True),
        ("False", TRUTH, False),
        ("yes", TRUTH, "yes"),
        (1, TRUTH, 1),
        (5, TEXT, "5"),
        (True, TEXT, "true"),
        (None, TEXT, None),
        ("5", TEXT, "5"),
        ("null", TEXT, "null"),
        ("x", TEXTS, ["x"]),
        ('["x", "y"]', TEXTS, ["x", "y"]),
        ([1, 2], TEXTS, ["1", "2"]),
        (3, NUMBERS, [3]),
        ("3", NUMBERS, [3]),
        ("[1, 2]", NUMBERS, [1, 2]),
        ("a", NUMBERS, "a"),
        ('{"a": 1}', {"type": "object"}, {"a": 1}),
        ("{a}", {"type": "object"}, "{a}"),
        ("RED", {"enum": ["red", "green"]}, "red"),
        ("red", {"enum": ["red", "RED"]}, "red"),
        ("Red", {"enum": ["red", "RED"]}, "Red"),
        ("blue", {"enum": ["red"]}, "blue"),
        ("3", {"enum": [1, 2, 3]}, 3),
        ("A", {"const": "a"}, "a"),
        ("5", EITHER, "5"),
        (5, EITHER, 5),
        ("5", {"anyOf": [WHOLE, {"type": "null"}]}, 5),
        ("null", {"anyOf": [WHOLE, {"type": "null"}]}, None),
        ("5", MAYBE, 5),
        (None, MAYBE, None),
        ("5", {"allOf": [WHOLE]}, 5),
        ({"a": "1"}, {"properties": {"a": WHOLE}}, {"a": 1}),
        ({"a": "1"}, {"type": "object", "additionalProperties": WHOLE}, {"a": 1}),
        (["1", "2"], {"prefixItems": [WHOLE, TEXT]}, [1, "2"]),
        ("x", True, "x"),
        ("x", {}, "x"),
    ],
)
def test_values_are_bent_to_the_schema(written: Json, schema: Json, bent: Json) -> None:
    outcome = coerce(written, schema, {})
    assert outcome == bent
    assert type(outcome) is type(bent)


def test_digits_of_a_number_survive_as_a_string() -> None:
    assert coerce(read_json("1.10"), TEXT, {}) == "1.10"
    assert coerce(read_json("100000000000000000001"), TEXT, {}) == "100000000000000000001"


def test_null_is_dropped_only_where_it_is_optional_and_not_admitted() -> None:
    schema = {
        "type": "object",
        "properties": {"a": WHOLE, "b": WHOLE, "c": MAYBE, "d": {}},
        "required": ["b"],
    }
    nothing = {"a": None, "b": None, "c": None, "d": None, "e": None}
    assert coerce(nothing, schema, schema) == {"b": None, "c": None, "d": None, "e": None}


def test_references_are_followed() -> None:
    schema = {
        "type": "object",
        "properties": {"where": {"$ref": "#/$defs/place"}, "more": {"type": "array"}},
        "$defs": {
            "place": {
                "type": "object",
                "properties": {"shelf": WHOLE, "inside": {"$ref": "#/$defs/place"}},
            }
        },
    }
    written = {"where": {"shelf": "1", "inside": '{"shelf": "2"}'}}
    assert coerce(written, schema, schema) == {"where": {"shelf": 1, "inside": {"shelf": 2}}}


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#/$defs/loop", "$defs": {"loop": {"$ref": "#/$defs/loop"}}},
        {"$ref": "#/nowhere"},
        {"$ref": "https://x.invalid/schema"},
        {"type": "unheard-of"},
        {"type": 3},
        {"properties": []},
        {"enum": "red"},
        {"required": "a", "properties": {"a": WHOLE}},
    ],
)
def test_odd_schemas_change_nothing(schema: Json) -> None:
    assert coerce({"a": "x"}, schema, schema) == {"a": "x"}


def test_a_union_takes_the_variant_that_holds() -> None:
    schema = {
        "anyOf": [
            {"type": "object", "properties": {"n": WHOLE}, "required": ["n"]},
            {"type": "object", "properties": {"s": TEXT}, "required": ["s"]},
        ]
    }
    assert coerce({"n": "1"}, schema, schema) == {"n": 1}
    assert coerce({"s": 1}, schema, schema) == {"s": "1"}
