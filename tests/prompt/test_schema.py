import socket
from typing import Any

import pytest

from prompt.schema import problems

SCHEMA = {
    "type": "object",
    "properties": {
        "sides": {"type": "integer", "minimum": 2},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["sides"],
    "additionalProperties": False,
}


@pytest.mark.parametrize("arguments", [{"sides": 6}, {"sides": 6.0}, {"sides": 2, "tags": ["a"]}])
def test_what_satisfies_the_schema_has_no_problems(arguments: Any) -> None:
    assert problems(SCHEMA, arguments) == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "'sides' is a required property"),
        ({"sides": "six"}, "sides: 'six' is not of type 'integer'"),
        ({"sides": 1}, "sides: 1 is less than the minimum of 2"),
        ({"sides": 6, "x": 1}, "'x' was unexpected"),
        ({"sides": 6, "tags": ["a", 5]}, "tags/1: 5 is not of type 'string'"),
        ([6], "[6] is not of type 'object'"),
    ],
)
def test_problems_say_where_and_what(arguments: Any, words: str) -> None:
    (problem,) = problems(SCHEMA, arguments)
    assert words in problem


def test_only_the_first_few_are_told_and_always_the_same() -> None:
    arguments = {"sides": 6, "tags": list(range(50))}
    found = problems(SCHEMA, arguments)
    assert len(found) == 4
    assert found == problems(SCHEMA, dict(reversed(arguments.items())))


def test_a_long_value_does_not_make_a_long_problem() -> None:
    (problem,) = problems(SCHEMA, {"sides": "6" * 100_000})
    assert len(problem) < 500
    assert problem.startswith("sides: ")
    assert problem.endswith("is not of type 'integer'")


@pytest.mark.parametrize(
    "broken",
    [
        {"type": "nonsense"},
        {"$ref": "#/nowhere"},
        {"minimum": "x"},
        {"pattern": "("},
        {"$ref": "#/properties/a"},
    ],
)
def test_a_broken_schema_admits_any_object_but_nothing_else(broken: Any) -> None:
    schema = {"type": "object", "properties": {"a": broken}}
    assert not problems(schema, {"a": 5})
    assert not problems(schema, {"a": "five"})
    assert problems(schema, ["a", 5]) == ["['a', 5] is not of type 'object'"]


def test_a_schema_never_fetches_what_it_refers_to() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.05)
        address = f"http://127.0.0.1:{server.getsockname()[1]}/schema.json"
        remote = {"type": "object", "properties": {"a": {"$ref": address}}}
        assert not problems(remote, {"a": 5})
        with pytest.raises(TimeoutError):
            server.accept()
