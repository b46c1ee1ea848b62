"""What the load benchmark takes for a fault, and one small load and soak to see that they work."""

import asyncio
from pathlib import Path
from typing import Any, cast

import pytest

from benchmarks.load import FEWEST, faults, goals, load, soak
from cogs.delivery import CADENCE
from cogs.pacing import ALL_EDITS


def told(**figures: object) -> dict[str, Any]:
    sound: dict[str, Any] = {"unfinished_turns": 0, "violations": [], "tokens_never_shown": 0}
    return {**sound, "most_requests_in_a_second": 45, **figures}


@pytest.mark.parametrize(
    ("streams", "seconds"),
    [(1, CADENCE), (FEWEST, CADENCE), (43, CADENCE), (70, 70 / ALL_EDITS), (100, 100 / ALL_EDITS)],
)
def test_the_goal_follows_the_cadence_that_discord_leaves(streams: int, seconds: float) -> None:
    assert goals(streams)["lag_p99"] == pytest.approx(seconds + 1.2)
    assert goals(streams)["cpu_ratio"] == 1.5


@pytest.mark.parametrize(
    ("figures", "found"),
    [
        ({}, []),
        ({"lag_p99": 2.4, "cpu_ratio": 1.5}, []),
        ({"lag_p99": 2.5}, ["lag_p99 is 2.5, over 2.45"]),
        ({"cpu_ratio": 1.51}, ["cpu_ratio is 1.51, over 1.5"]),
        ({"most_requests_in_a_second": 51}, ["most_requests_in_a_second is 51, over 50"]),
        ({"tokens_never_shown": 3}, ["tokens never shown: 3"]),
        ({"unfinished_turns": 1}, ["unfinished_turns: 1"]),
        ({"growth_percent": 5.1}, ["growth_percent is 5.1, over 5.0"]),
        ({"more_tasks": 3}, ["more_tasks is 3, over 2.0"]),
        ({"more_open_files": 20}, []),
        ({"more_open_files": 21}, ["more_open_files is 21, over 20.0"]),
    ],
)
def test_what_is_over_a_goal_is_a_fault(figures: dict[str, object], found: list[str]) -> None:
    assert faults(told(**figures), goals(FEWEST)) == found


def test_where_nothing_is_judged_violations_count_still() -> None:
    assert faults(told(lag_p99=99, violations=["x"]), {}) == ["violations: ['x']"]


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="figures are read from /proc")
async def test_a_small_load_is_measured_whole() -> None:
    measured = await asyncio.wait_for(load(3, 50.0, 60, 5), 120)
    assert faults(measured, {}) == []
    assert measured["streams"] == 3
    bot = cast("dict[str, float]", measured["bot"])
    client = cast("dict[str, float]", measured["client"])
    assert bot["cpu_seconds"] > 0
    assert client["cpu_seconds"] > 0
    assert 0 < cast("float", measured["lag_p50"]) <= cast("float", measured["lag_p99"])


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="figures are read from /proc")
async def test_a_small_soak_counts_tasks() -> None:
    measured = await asyncio.wait_for(soak(4, 5), 120)
    assert (measured["unfinished_turns"], measured["violations"]) == (0, [])
    (tasks,) = cast("list[int]", measured["tasks_at_rest"])
    assert tasks > 3
