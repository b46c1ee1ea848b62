import json
from typing import Any

import pytest

from prompt.schema_level import SchemaLevel, offered, written
from prompt.surface import canonical_json
from tools.builtin import builtin_registry

LEVELS: tuple[SchemaLevel, ...] = ("simple", "full", "names_only")


def field(schema: dict[str, Any], level: SchemaLevel = "simple", **root: Any) -> Any:
    """What becomes of one argument's schema."""
    whole = {"type": "object", "properties": {"a": schema}, **root}
    return offered(whole, level)["properties"]["a"]


@pytest.mark.parametrize("tool", list(builtin_registry()), ids=lambda tool: tool.spec.name)
def test_a_simple_schema_keeps_its_bytes(tool: Any) -> None:
    parameters = tool.spec.parameters
    plain = {key: parameters[key] for key in parameters if key != "additionalProperties"}
    assert canonical_json(offered(parameters, "simple")) == canonical_json(plain)
    assert canonical_json(offered(parameters, "full")) == canonical_json(parameters)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("schema", [{}, {"type": "object"}, {"properties": None}, {"type": "null"}])
def test_the_root_is_an_object_with_properties(schema: Any, level: SchemaLevel) -> None:
    assert offered(schema, level) == {"type": "object", "properties": {}}


@pytest.mark.parametrize(
    ("schema", "simple"),
    [
        ({"type": "string", "pattern": r"^\d+$", "format": "date"}, {"type": "string"}),
        ({"type": ["null", "integer"]}, {"type": "integer"}),
        ({"type": []}, {"type": "string"}),
        ({"anyOf": [{"type": "null"}, {"type": "integer"}], "default": None}, None),
        ({"oneOf": [{"const": "a"}, {"const": "b"}]}, {"enum": ["a", "b"]}),
        ({"const": 3}, {"enum": [3]}),
        ({"allOf": [{"type": "string"}, {"maxLength": 3}]}, {"maxLength": 3, "type": "string"}),
        ({"type": "array", "items": [{"type": "string"}]}, None),
        ({"type": "array", "prefixItems": [{"type": "string"}]}, None),
        ({"type": "string", "title": "T", "description": "d"}, None),
        ({"not": {"type": "string"}}, {}),
    ],
)
def test_what_servers_cannot_compile_is_left_out(schema: Any, simple: Any) -> None:
    got = field(schema)
    text = json.dumps(got)
    for word in ("pattern", "format", "anyOf", "oneOf", "allOf", "const", "not", "title"):
        assert f'"{word}"' not in text
    assert not isinstance(got.get("type"), list)
    if simple is not None:
        assert got == simple


def test_an_optional_argument_keeps_its_default_and_description() -> None:
    schema = {
        "anyOf": [{"type": "string", "format": "date"}, {"type": "null"}],
        "default": None,
        "description": "a day",
    }
    assert field(schema) == {"type": "string", "default": None, "description": "a day"}


def test_lists_have_one_schema_for_all_their_entries() -> None:
    for schema in ({"items": [{"type": "string"}]}, {"prefixItems": [{"type": "string"}]}):
        assert field({"type": "array", **schema}) == {"type": "array", "items": {"type": "string"}}


@pytest.mark.parametrize("key", ["$defs", "definitions"])
@pytest.mark.parametrize("level", ["simple", "full"])
def test_references_are_written_out(key: str, level: SchemaLevel) -> None:
    definitions = {"Day/Time": {"type": "string", "description": "a day"}}
    got = field({"$ref": f"#/{key}/Day~1Time", "description": "when"}, level, **{key: definitions})
    assert got == {"type": "string", "description": "when"}


@pytest.mark.parametrize("level", ["simple", "full"])
def test_recursion_is_cut(level: SchemaLevel) -> None:
    tree = {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "children": {"type": "array", "items": {"$ref": "#/$defs/Tree"}},
        },
    }
    got = field({"$ref": "#/$defs/Tree"}, level, **{"$defs": {"Tree": tree}})
    inner = got["properties"]["children"]["items"]
    assert inner == {"type": "object", "properties": {}}
    whole = offered(tree | {"$defs": {"Tree": tree}}, level)
    assert "$ref" not in json.dumps(whole)


@pytest.mark.parametrize("reference", ["#/$defs/None", "https://example.org/x", "#", "#/a/b/c"])
def test_a_reference_to_nowhere_means_anything(reference: str) -> None:
    got = offered({"type": "object", "properties": {"a": {"$ref": reference}}}, "simple")
    assert "$ref" not in json.dumps(got)


def test_references_that_multiply_stay_small() -> None:
    doubling: dict[str, Any] = {
        f"D{n}": {
            "type": "object",
            "properties": {"l": {"$ref": f"#/$defs/D{n + 1}"}, "r": {"$ref": f"#/$defs/D{n + 1}"}},
        }
        for n in range(40)
    }
    got = field({"$ref": "#/$defs/D0"}, "simple", **{"$defs": doubling})
    assert len(json.dumps(got)) < 200_000


def test_full_keeps_all_but_references() -> None:
    schema = {"type": ["string", "null"], "pattern": "^a", "anyOf": [{"minLength": 1}]}
    assert field(schema, "full") == schema


def test_names_only() -> None:
    schema = {
        "type": "object",
        "description": "x",
        "properties": {
            "a": {"type": "string", "pattern": "^a", "description": "d"},
            "b": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            "c": {"type": "array", "items": {"type": "object"}},
            "d": {},
        },
        "required": ["a"],
        "additionalProperties": False,
    }
    kinds = {"a": "string", "b": "integer", "c": "array", "d": "string"}
    assert offered(schema, "names_only") == {
        "type": "object",
        "properties": {name: {"type": kind} for name, kind in kinds.items()},
        "required": ["a"],
    }


INDEX = {"type": "object", "properties": {"index": {"type": "integer"}}, "required": ["index"]}
PLACE = {
    "type": "object",
    "properties": {"x": {"type": "integer"}, "y": {"type": "integer"}},
    "required": ["x", "y"],
}
BOTH = {name: {"type": "integer"} for name in ("index", "x", "y")}


@pytest.mark.parametrize("key", ["anyOf", "oneOf"])
@pytest.mark.parametrize("level", ["simple", "names_only"])
def test_alternatives_at_the_root_become_one_object(key: str, level: SchemaLevel) -> None:
    got = written({key: [INDEX, PLACE]}, level)
    assert got.parameters == {"type": "object", "properties": BOTH}
    assert got.note == "Give either index, or x and y."


def test_alternatives_inside_become_one_object_whose_description_tells() -> None:
    assert field({"anyOf": [INDEX, {"type": "null"}, PLACE], "description": "Where."}) == {
        "type": "object",
        "properties": BOTH,
        "description": "Where. Give either index, or x and y.",
    }


def test_alternatives_that_only_require_leave_the_properties() -> None:
    ways = [{"required": ["index"]}, {"required": ["x", "y"]}]
    got = written(
        {"type": "object", "properties": BOTH, "required": ["x"], "anyOf": ways}, "simple"
    )
    assert got.parameters == {"type": "object", "properties": BOTH, "required": ["x"]}
    assert got.note == "Give either index, or y."


def test_alternatives_share_what_each_requires_and_every_value_of_a_field() -> None:
    def shape(kind: str, size: str) -> dict[str, Any]:
        named = {"kind": {"const": kind}, size: {"type": "number"}}
        return {"type": "object", "properties": named, "required": ["kind", size]}

    got = written({"oneOf": [shape("circle", "radius"), shape("square", "side")]}, "simple")
    properties = got.parameters["properties"]
    assert properties["kind"] == {"enum": ["circle", "square"]}
    assert list(properties) == ["kind", "radius", "side"]
    assert got.parameters["required"] == ["kind"]
    assert got.note == "Give either radius, or side."


@pytest.mark.parametrize(
    "ways",
    [
        [{"required": ["a"]}, {"required": ["a", "b"]}],
        [{"required": ["a"]}, {"properties": {"b": {}}}],
        [{"required": ["a" * 150]}, {"required": ["b" * 150]}],
    ],
)
def test_a_note_that_tells_nothing_or_too_much_is_left_out(ways: list[Any]) -> None:
    assert written({"type": "object", "anyOf": ways}, "simple").note == ""


def test_alternatives_that_are_not_all_objects_give_the_first() -> None:
    assert field({"anyOf": [{"type": "string"}, INDEX]}) == {"type": "string"}


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("broken", ["object", 5, None, ["string"]])
def test_a_property_that_is_no_schema_is_dropped_and_named(broken: Any, level: SchemaLevel) -> None:
    schema = {
        "type": "object",
        "properties": {"path": {"type": "string"}, "type": broken, "any": True, "none": False},
        "required": ["path", "type"],
    }
    got = written(schema, level)
    assert list(got.parameters["properties"]) == ["path", "any"]
    assert got.parameters["required"] == ["path"]
    assert got.dropped == ("type",)
