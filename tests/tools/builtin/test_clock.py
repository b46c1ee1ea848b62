from datetime import UTC, datetime
from typing import Any

import pytest

from tests.tools.conftest import Contexts
from tools.builtin.clock import current_time
from tools.registry import ToolFailure


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({}, "Saturday, 4 July 2026, 22:30 (UTC)"),
        ({"timezone": "UTC"}, "Saturday, 4 July 2026, 22:30 (UTC)"),
        ({"timezone": "Europe/Oslo"}, "Sunday, 5 July 2026, 00:30 (Europe/Oslo)"),
        ({"timezone": "Asia/Kolkata"}, "Sunday, 5 July 2026, 04:00 (Asia/Kolkata)"),
        ({"timezone": "America/New_York"}, "Saturday, 4 July 2026, 18:30 (America/New_York)"),
    ],
)
async def test_the_time_of_the_turn_anywhere(context: Contexts, arguments: Any, told: str) -> None:
    assert (await current_time.run(context(), arguments)).text == told


async def test_winter_time(context: Contexts) -> None:
    winter = context(now=datetime(2026, 1, 4, 22, 30, tzinfo=UTC))
    assert (await current_time.run(winter, {"timezone": "Europe/Oslo"})).text == (
        "Sunday, 4 January 2026, 23:30 (Europe/Oslo)"
    )


@pytest.mark.parametrize(
    "zone", ["", "Mars/Olympus", "America", "../../etc/passwd", "/etc/passwd", "a\0b", "\ud800"]
)
async def test_what_is_no_zone_is_told_with_an_example(context: Contexts, zone: str) -> None:
    with pytest.raises(ToolFailure, match="America/New_York"):
        await current_time.run(context(), {"timezone": zone})
