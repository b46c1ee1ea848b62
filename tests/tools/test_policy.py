"""Which tools run freely, ask, or are off."""

import pytest

from prompt.values import Json, ToolSpec
from tools.policy import POLICIES, Policy, policy_of


def spec(
    source: str = "builtin",
    *,
    read_only: bool = False,
    destructive: bool = False,
    trusted: bool = False,
    registered: str | None = None,
) -> ToolSpec:
    return ToolSpec(
        name="t",
        description="",
        parameters={},
        source=source,
        read_only=read_only,
        destructive=destructive,
        trusted=trusted,
        registered=registered,
    )


@pytest.mark.parametrize(
    ("given", "policy"),
    [
        (spec(read_only=True), "free"),
        (spec(), "free"),
        (spec(destructive=True), "asks"),
        (spec("mcp:garden"), "asks"),
        (spec("mcp:garden", read_only=True), "free"),
        (spec("mcp:garden", trusted=True), "free"),
        (spec("mcp:garden", trusted=True, destructive=True), "asks"),
    ],
)
def test_a_tool_is_judged_by_what_it_may_do(given: ToolSpec, policy: Policy) -> None:
    assert policy_of(given, {}) == policy


@pytest.mark.parametrize("chosen", ["free", "asks", "off"])
def test_what_an_admin_chose_wins(chosen: Policy) -> None:
    assert policy_of(spec(destructive=True), {POLICIES: {"t": chosen}}) == chosen


def test_a_choice_is_kept_by_the_tools_own_name() -> None:
    renamed = spec(destructive=True, registered="t.wipe")
    assert policy_of(renamed, {POLICIES: {"t.wipe": "free"}}) == "free"
    assert policy_of(renamed, {POLICIES: {"t": "free"}}) == "asks"


@pytest.mark.parametrize("broken", [None, "free", ["t"], {"t": "sometimes"}, {"t": None}])
def test_what_is_stored_but_no_policy_frees_nothing(broken: Json) -> None:
    assert policy_of(spec(destructive=True), {POLICIES: broken}) == "asks"
