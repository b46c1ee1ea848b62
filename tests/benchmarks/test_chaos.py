"""A few turns of the chaos run; the many are a benchmark."""

from typing import Any, cast

from benchmarks.chaos import chaos
from benchmarks.chaos_endpoint import WAYS

_LONG = ("torrent", "stalls", "slow")
"""Ways that take seconds."""


async def test_every_turn_ends_whatever_goes_wrong() -> None:
    ways = [way for way in WAYS if way not in _LONG]
    told = await chaos(20, 3, ways=ways, places=20)
    assert told["faults"] == []
    outcomes = cast("dict[str, dict[str, Any]]", told["outcomes"])
    ended = [outcome for found in outcomes.values() for outcome in found]
    assert sum(sum(found.values()) for found in outcomes.values()) == 20
    assert {"answer", "marked", "error"} <= set(ended)
    assert told["trouble"]
