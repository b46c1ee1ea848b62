"""Tells the time anywhere. The turn's clock is used, so one turn knows one time."""

from typing import Annotated
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import Field

from tools.registry import ToolContext, ToolFailure, tool


@tool(read_only=True)
async def current_time(
    context: ToolContext,
    *,
    timezone: Annotated[str, Field(description="IANA name such as Europe/Oslo")] = "UTC",
) -> str:
    """Tell the date, weekday and time in a time zone."""
    try:
        zone = ZoneInfo(timezone)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ToolFailure(
            f"There is no time zone {timezone!r}. Use an IANA name such as America/New_York."
        ) from error
    here = context.now.astimezone(zone)
    return f"{here:%A}, {here.day} {here:%B %Y}, {here:%H:%M} ({timezone})"
