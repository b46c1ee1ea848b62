"""Suggests values for an option of a command while a member types."""

from collections.abc import Iterable, Mapping

from discord import app_commands

_MOST = 25
"""That Discord shows."""

_LONGEST = 100
"""Characters."""


def choices(values: Iterable[str], typed: str) -> list[app_commands.Choice[str]]:
    """Those of `values` that hold what was typed, as far as Discord takes them."""
    return labelled({value: value for value in values if len(value) <= _LONGEST}, typed)


def labelled(labels: Mapping[str, str], typed: str) -> list[app_commands.Choice[str]]:
    """The same for values that members know by a label; one that is too long is shortened."""
    wanted = typed.strip().casefold()
    found = [
        app_commands.Choice(name=label[:_LONGEST], value=value)
        for value, label in labels.items()
        if wanted in label.casefold()
    ]
    return found[:_MOST]
