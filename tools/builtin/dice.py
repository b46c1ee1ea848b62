"""Rolls dice. Results come from the operating system's randomness, never from the model."""

import secrets
from typing import Annotated

from pydantic import Field

from tools.registry import ToolContext, tool


@tool(read_only=True)
async def roll_dice(
    context: ToolContext,
    *,
    sides: Annotated[int, Field(ge=2, le=1000, description="faces of each die")] = 6,
    count: Annotated[int, Field(ge=1, le=100, description="how many dice")] = 1,
) -> str:
    """Roll dice and tell each result and their total."""
    rolls = [secrets.randbelow(sides) + 1 for _ in range(count)]
    listed = ", ".join(map(str, rolls))
    return f"{count}d{sides}: {listed}" + (f" (total {sum(rolls)})" if count > 1 else "")
