import pytest

from prompt.surface import ToolSurface
from providers.verbatim import NameIndex
from tests.providers.verbatim.surface import SURFACE, tool

MCP = ToolSurface(
    direct=tuple(
        tool(name)
        for name in (
            "mcp__docs__lookup",
            "mcp__docs__find",
            "mcp__web__find",
            "fs.read",
            "Get",
            "get",
        )
    )
)


@pytest.mark.parametrize(
    "written",
    [
        "get_weather",
        " get_weather\n",
        "`get_weather`",
        '"get_weather"',
        "GET_WEATHER",
        "getWeather",
        "GetWeather",
        "get-weather",
        "get.weather",
        "functions.get_weather",
        "default_api.getWeather",
        "default_api:get_weather",
        "tools/get_weather",
        "a::b::get_weather",
        "get_weather<|channel|>commentary",
    ],
)
def test_spellings_of_one_name(written: str) -> None:
    spec = NameIndex(SURFACE).resolve(written)
    assert spec
    assert spec.name == "get_weather"


@pytest.mark.parametrize(
    "written", ["", "get_wether", "weather", "get_weather2", "functions.", "."]
)
def test_damaged_names_are_not_guessed(written: str) -> None:
    assert NameIndex(SURFACE).resolve(written) is None


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("mcp__docs__lookup", "mcp__docs__lookup"),
        ("docs__lookup", "mcp__docs__lookup"),
        ("lookup", "mcp__docs__lookup"),
        ("functions.lookup", "mcp__docs__lookup"),
        ("docs__find", "mcp__docs__find"),
        ("find", None),
        ("fs.read", "fs.read"),
        ("fs_read", "fs.read"),
        ("get", "get"),
        ("Get", "Get"),
        ("GET", None),
    ],
)
def test_suffixes_and_cases_that_are_not_unique_are_not_guessed(
    written: str, name: str | None
) -> None:
    spec = NameIndex(MCP).resolve(written)
    assert (spec.name if spec else None) == name


@pytest.mark.parametrize(
    ("written", "first"),
    [
        ("get_wether", "get_weather"),
        ("search_web", "web_search"),
        ("searchWeb", "web_search"),
        ("dice_roll", "roll_dice"),
        ("remembr", "remember"),
    ],
)
def test_the_nearest_name_comes_first(written: str, first: str) -> None:
    assert NameIndex(SURFACE).closest(written)[0] == first


def test_names_like_no_other_have_no_neighbours() -> None:
    assert NameIndex(SURFACE).closest("xyzzy") == []
