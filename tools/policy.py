"""Says whether a tool runs freely, asks first, or is off in a guild.

Invariant: pure. What an admin chose wins; else a tool is judged by what it may do, and a server
that no admin vouches for cannot free its own tools.
"""

from collections.abc import Mapping
from typing import Literal, TypeAlias, cast, get_args

from prompt.values import Json, ToolSpec

Policy: TypeAlias = Literal["free", "asks", "off"]

POLICIES = "tool_policies"
"""Names the guild-wide setting: an object of tool names, as registered, and policies."""


def policy_of(spec: ToolSpec, stored: Mapping[str, Json]) -> Policy:
    """The policy of a tool where `stored` are the guild-wide settings."""
    return chosen_of(spec.registered or spec.name, stored) or default_policy(spec)


def default_policy(spec: ToolSpec) -> Policy:
    """What holds where no admin chose."""
    if spec.destructive:
        return "asks"
    if spec.source.startswith("mcp:") and not (spec.trusted or spec.read_only):
        return "asks"
    return "free"


def chosen_of(name: str, stored: Mapping[str, Json]) -> Policy | None:
    """What an admin chose for a tool; None where nobody did, or what is stored is no policy."""
    policies = stored.get(POLICIES)
    chosen = cast("Mapping[str, Json]", policies).get(name) if isinstance(policies, dict) else None
    return cast("Policy", chosen) if chosen in get_args(Policy) else None
