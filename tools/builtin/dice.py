"""Rolls dice. Results come from the operating system's randomness, never from the model.

One notation string rather than numbers apart: people write `2d6+3`, and small models copy that
rightly where they mix up which number is the sides.
"""

import re
import secrets
from typing import Annotated

from pydantic import Field

from tools.registry import ToolContext, ToolFailure, tool

MAX_DICE = 100
MAX_SIDES = 1000

_TERM = re.compile(r"([+-]?)(?:(\d{0,4})d(\d{1,5}|%)|(\d{1,6}))", re.IGNORECASE)


@tool(read_only=True)
async def roll_dice(
    context: ToolContext,
    *,
    dice: Annotated[str, Field(max_length=100, description="such as 2d6 or d20+3")],
) -> str:
    """Roll dice and tell each result and the total."""
    terms = _terms("".join(dice.split()))
    rolled: list[str] = []
    total = 0
    for sign, count, sides in terms:
        rolls = [secrets.randbelow(sides) + 1 for _ in range(count)] if sides else [count]
        total += sign * sum(rolls)
        for roll in rolls:
            rolled += ["-" if sign < 0 else "+", str(roll)]
    shown = " ".join(rolled).removeprefix("+ ")
    # Written as a sum, since a list of results tempts a small model to leave out the total.
    return f"{dice}: {shown}" + (f" = {total}" if len(rolled) > 2 else "")


def _terms(notation: str) -> list[tuple[int, int, int]]:
    """Sign, count and sides of each term; a plain number has 0 sides and counts itself."""
    terms: list[tuple[int, int, int]] = []
    end = 0
    while end < len(notation):
        match = _TERM.match(notation, end)
        if match is None or (terms and not match[1]):
            raise ToolFailure(
                f"{notation!r} is no dice notation. Write it like 2d6, d20+3 or 4d8-1."
            )
        sign = -1 if match[1] == "-" else 1
        if match[4]:
            terms.append((sign, int(match[4]), 0))
        else:
            sides = 100 if match[3] == "%" else int(match[3])
            if not 2 <= sides <= MAX_SIDES:
                raise ToolFailure(f"A die has 2 to {MAX_SIDES} sides.")
            terms.append((sign, int(match[2] or 1), sides))
        end = match.end()
    counts = [count for _, count, sides in terms if sides]
    if not sum(counts):
        raise ToolFailure("There is no die in this. Write it like 2d6, d20+3 or 4d8-1.")
    if sum(counts) > MAX_DICE:
        raise ToolFailure(f"At most {MAX_DICE} dice at once.")
    return terms
