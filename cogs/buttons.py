"""The buttons under a reply: which there are, and what their custom ids say.

Invariant: an id names an action and a turn, and grants nothing; whoever serves it asks Discord what
the pressing member may do. No button is kept in memory, so all outlive a restart.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast

import discord
from discord import ui

from cogs.translations.saying import Speaks, retold

Action: TypeAlias = Literal["stop", "again", "on", "delete"]
"""What a button does to the turn whose reply it stands under: `again` answers anew, `on` goes on
where the answer breaks off."""

Button: TypeAlias = Literal["details", "thinking"] | Action
Row: TypeAlias = tuple[Button, ...]

NO_ROW: Row = ()
WRITING: Row = ("stop",)
QUIET: frozenset[Button] = frozenset({"details", "thinking", "delete"})
"""What stays under a reply that is no longer the newest one to its asker."""

DETAILS = "details"
THINKING = "thinking"
"""Custom ids; what they show is found by the message."""

_CUSTOM_ID = re.compile(r"reply:(stop|again|on|delete):(\d{1,20}):(\d{1,20}):(\d{1,20})")

_LABELS: Mapping[Button, str] = {
    "details": "Details",
    "thinking": "Show thinking",
    "again": "Regenerate",
    "on": "Continue",
    "stop": "Stop",
    "delete": "Delete",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """Whose message a reply answers. `turn_id` differs from `asked_id` where the reply goes on
    from an earlier one."""

    member_id: int
    asked_id: int
    turn_id: int

    @property
    def goes_on(self) -> bool:
        """Whether it is not an answer of its own."""
        return self.turn_id != self.asked_id


@dataclass(frozen=True, slots=True)
class Closed:
    """The end of a finished reply: its last message of words, and the buttons under it."""

    message: discord.Message
    row: Row
    answered: Answered


def read_custom_id(custom_id: str) -> tuple[Action, Answered] | None:
    """The action and turn of a button, None if it is none of these."""
    found = _CUSTOM_ID.fullmatch(custom_id)
    if found is None:
        return None
    member_id, asked_id, turn_id = (int(found[group]) for group in (2, 3, 4))
    answered = Answered(member_id=member_id, asked_id=asked_id, turn_id=turn_id)
    return cast("Action", found[1]), answered


def row_of(message: discord.Message) -> Row:
    """The buttons that stand under a message, of those that are known here."""
    found: list[Button] = []
    for custom_id in custom_ids(message):
        if custom_id in (DETAILS, THINKING):
            found.append(cast("Button", custom_id))
        elif (read := read_custom_id(custom_id)) is not None:
            found.append(read[0])
    return tuple(found)


def custom_ids(message: discord.Message) -> list[str]:
    """Those of the buttons that stand under a message."""
    return [
        button.custom_id
        for row in message.components
        if isinstance(row, discord.ActionRow)
        for button in row.children
        if isinstance(button, discord.Button) and button.custom_id is not None
    ]


def view_of(row: Row, answered: Answered, locale: Speaks) -> ui.View | None:
    """The buttons of `row`, in a language; None where there are none. Served by listeners, not by
    the view."""
    if not row:
        return None
    view = ui.View(timeout=None)
    for name in row:
        style = discord.ButtonStyle.secondary
        custom_id = name if name in (DETAILS, THINKING) else _id_of(name, answered)
        label = retold(locale, _LABELS[name])
        view.add_item(ui.Button(label=label, style=style, custom_id=custom_id))
    view.stop()
    return view


def _id_of(name: Button, answered: Answered) -> str:
    return f"reply:{name}:{answered.member_id}:{answered.asked_id}:{answered.turn_id}"
