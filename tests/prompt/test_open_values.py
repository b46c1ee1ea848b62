import pytest

from prompt.open_values import open_parameters, sources, waits_for
from prompt.values import Json, ToolSpec


def spec(name: str, description: str, **parameters: str) -> ToolSpec:
    properties = {each: {"type": "integer", "description": parameters[each]} for each in parameters}
    schema: dict[str, Json] = {
        "type": "object",
        "properties": properties,
        "required": list(parameters),
    }
    return ToolSpec(name=name, description=description, parameters=schema)


LEND = spec("lend_boat", "Lend out a boat.", boat_id="")
RETURN = spec("return_boat", "Take a boat back.", boat_id="")
LIST = spec("list_boats", "All boats of the club.")
ADD = spec("add_boat", "Enter a new boat.")
SHOW = spec("show_boat", "Show one boat.", boat_id="")
TIDES = spec("list_tides", "When the tide is high.")
PIER = spec("pier", "Look up who owes a fee.")
FEE = spec("waive_fee", "Let a member off.", member="who owes it, as pier tells")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({}, ()),
        ({"id": "?", "days": 7}, ("id",)),
        ({"id": "?", "days": "?"}, ("id", "days")),
        ({"query": "what is a boat?"}, ()),
        ({"options": ["?", "!"]}, ()),
        ("?", ()),
        (None, ()),
    ],
)
def test_only_a_value_that_is_the_sign_alone_is_open(
    arguments: Json, expected: tuple[str, ...]
) -> None:
    assert open_parameters(arguments) == expected


def test_a_tool_that_looks_up_the_same_things_is_the_source() -> None:
    offered = [LEND, RETURN, TIDES, ADD, LIST, SHOW]
    assert sources(LEND, ["boat_id"], offered) == ["list_boats"]


def test_neither_the_tool_itself_nor_one_that_needs_the_same_value_is_a_source() -> None:
    assert sources(LEND, ["boat_id"], [LEND, RETURN, SHOW]) == []


def test_one_that_only_acts_is_no_source() -> None:
    assert sources(LEND, ["boat_id"], [LEND, ADD]) == []


def test_a_tool_that_the_schema_names_comes_before_others() -> None:
    members = spec("list_members", "All members and what fee each pays.")
    assert sources(FEE, ["member"], [members, PIER, FEE]) == ["pier"]


def test_no_more_than_two_are_named() -> None:
    many = [spec(f"find_boat_{each}", "Find a boat.") for each in "abc"]
    assert sources(LEND, ["boat_id"], many) == ["find_boat_a", "find_boat_b"]


def test_what_is_told() -> None:
    assert waits_for(["boat_id"]) == "waits for boat_id"
    assert waits_for(["a", "b"], ["x", "y"]) == "waits for a and b. First call x or y."
    assert waits_for(["a"], why="3 is known from nowhere") == "waits for a: 3 is known from nowhere"
    assert waits_for(["a"], then="Asked: lend it me") == "waits for a. Asked: lend it me"
