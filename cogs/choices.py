"""Suggests values for an option of a command while a member types."""

from collections.abc import Iterable

from discord import app_commands

_MOST = 25
"""That Discord shows."""

_LONGEST = 100
"""Characters."""


def choices(values: Iterable[str], typed: str) -> list[app_commands.Choice[str]]:
    """Those of `values` that hold what was typed, as far as Discord takes them."""
    wanted = typed.strip().casefold()
    found = [value for value in values if wanted in value.casefold() and len(value) <= _LONGEST]
    return [app_commands.Choice(name=value, value=value) for value in found[:_MOST]]
