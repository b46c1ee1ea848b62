"""Names of MCP tools on the wire."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.mcp.names import LONGEST, ToolKey, is_server_name, wire_names


def key(server: str, tool: str, scope: int = 0) -> ToolKey:
    return ToolKey(scope=scope, server=server, tool=tool)


def named(*keys: ToolKey) -> list[str]:
    return wire_names(keys)


def test_a_fit_name_is_kept_as_it_is():
    assert named(key("docs", "look-up_1")) == ["mcp__docs__look-up_1"]


@pytest.mark.parametrize(
    ("server", "tool", "name"),
    [
        ("docs", "look up/now", "mcp__docs__look_up_now"),
        ("my__docs", "a__b", "mcp__my_docs__a__b"),
        ("données", "é", "mcp__donn_es___"),
        ("docs", "a\nb", "mcp__docs__a_b"),
        ("", "", "mcp__server__tool"),
    ],
)
def test_other_names_are_mapped(server: str, tool: str, name: str):
    assert named(key(server, tool)) == [name]


def test_two_spellings_that_would_be_one_name_both_get_a_digest():
    alone = named(key("docs", "a b"))
    first, second = named(key("docs", "a b"), key("docs", "a/b"))
    assert alone == ["mcp__docs__a_b"]
    assert re.fullmatch(r"mcp__docs__a_b_[0-9a-f]{6}", first)
    assert re.fullmatch(r"mcp__docs__a_b_[0-9a-f]{6}", second)
    assert first != second
    assert named(key("docs", "a/b"), key("docs", "a b")) == [second, first]


def test_a_guilds_server_is_told_from_the_operators_of_the_same_name():
    first, second = named(key("docs", "find"), key("docs", "find", scope=42))
    assert first != second
    assert first.startswith("mcp__docs__find_")


def test_a_long_name_is_cut_with_a_digest_of_all_of_it():
    one, two = named(key("docs", "x" * 70 + "1"), key("docs", "x" * 70 + "2"))
    assert (len(one), len(two)) == (LONGEST, LONGEST)
    assert one != two
    assert one[:-6] == two[:-6]
    exact = "t" * (LONGEST - len("mcp__docs__"))
    assert named(key("docs", exact)) == [f"mcp__docs__{exact}"]


def test_a_tool_that_takes_anothers_digest_for_a_name_gets_none_of_its_calls():
    victim, _ = named(key("docs", "a b"), key("docs", "a/b"))
    stolen = victim.removeprefix("mcp__docs__")
    names = named(key("docs", "a b"), key("docs", "a/b"), key("docs", stolen))
    assert len(set(names)) == 3


@given(
    st.lists(
        st.builds(key, st.text(max_size=80), st.text(max_size=80), st.integers(0, 2)),
        unique=True,
        max_size=8,
    )
)
def test_names_are_fit_and_differ(keys: list[ToolKey]):
    names = wire_names(keys)
    assert len(set(names)) == len(keys)
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name) for name in names)


@pytest.mark.parametrize("name", ["", "a__b", "a b", "a.b", "é", "x" * 65, "a\n"])
def test_a_server_cannot_be_called(name: str):
    assert not is_server_name(name)


def test_a_server_can_be_called():
    assert is_server_name("My-docs_2")
