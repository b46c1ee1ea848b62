import json

import pytest

from prompt.surface import ToolSurface, canonical_json
from prompt.values import Json, JsonObject, ToolSpec
from tests.prompt.builders import NOTE, ROLL, SURFACE


def test_the_array_has_the_shape_that_requests_carry() -> None:
    assert ToolSurface(direct=(NOTE,)).native == (
        {
            "type": "function",
            "function": {
                "name": "note",
                "description": 'Keep a "note"\\.',
                "parameters": {"type": "object", "properties": {"text": {"type": "string"}}},
            },
        },
    )


def test_the_block_is_the_array_in_one_canonical_spelling() -> None:
    assert json.loads(SURFACE.block) == list(SURFACE.native)
    assert SURFACE.block == canonical_json(list(SURFACE.native))
    assert "Würfelt — “fairly”." in SURFACE.block  # no escapes that cost tokens
    assert ": " not in SURFACE.block.replace('Keep a \\"note\\"', "")
    assert SURFACE.block.index('"sides"') < SURFACE.block.index('"count"')  # keys keep their order


def test_deferred_tools_may_run_without_standing_in_the_array() -> None:
    surface = ToolSurface(direct=(ROLL,), deferred=(NOTE,))
    assert [entry["function"]["name"] for entry in surface.native] == ["roll_dice"]
    assert list(surface.callable) == ["roll_dice", "note"]
    assert surface.callable["note"] is NOTE


def test_a_surface_of_deferred_tools_alone_is_not_empty() -> None:
    assert ToolSurface(deferred=(NOTE,))
    assert not ToolSurface()


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="share a name"):
        ToolSurface(direct=(ROLL,), deferred=(ROLL,))


@pytest.mark.parametrize("number", [float("inf"), float("-inf"), float("nan")])
def test_what_json_cannot_say_is_written_as_null(number: float) -> None:
    value: Json = {"a": [number, 1.5, {"b": (number, "x")}], "c": True}
    assert canonical_json(value) == '{"a":[null,1.5,{"b":[null,"x"]}],"c":true}'


def test_a_schema_with_an_infinite_default_makes_a_block_all_the_same() -> None:
    schema: JsonObject = {"type": "object", "properties": {"n": {"default": float("inf")}}}
    spec = ToolSpec(name="wait", description="Waits.", parameters=schema)
    assert '"default":null' in ToolSurface(direct=(spec,)).block
