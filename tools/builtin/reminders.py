"""Reminders of the asking member: set in their own words and time zone, listed and cancelled.

Invariant: nobody's reminders are told or changed for anyone else, and what was asked for in a
channel that not everyone here can read is not repeated here.
"""

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Annotated
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import Field

from data.reminders import MAX_CHARS, Reminder, ReminderLimit, Reminders
from prompt.values import Rate
from tools.moments import Moment, NoMoment, moment_in
from tools.registry import DeclaredTool, ToolContext, ToolFailure, tool

_UNKNOWN_ZONE = (
    "The member has chosen no time zone, so UTC was assumed: tell them that /reminders timezone "
    "sets theirs."
)


def reminder_tools(reminders: Reminders, changed: Callable[[], None]) -> Sequence[DeclaredTool]:
    """`changed` is called after a reminder was set or cancelled."""
    reading = asyncio.Lock()  # dateparser's caches are not made for threads

    async def moment(words: str, now: datetime, zone: ZoneInfo) -> Moment:
        async with reading:
            try:
                return await asyncio.to_thread(moment_in, words, now=now, zone=zone)
            except NoMoment as error:
                raise ToolFailure(str(error)) from error

    @tool(rate=Rate(calls=10, seconds=60))
    async def set_reminder(
        context: ToolContext,
        *,
        text: Annotated[
            str, Field(min_length=1, max_length=MAX_CHARS, description="what to remind of")
        ],
        when: Annotated[
            str,
            Field(description="in words: 'in 20 minutes', 'tomorrow at 9:00', 'friday 18:00'"),
        ],
        timezone: Annotated[
            str, Field(description="IANA name, only if the member names another than theirs")
        ] = "",
    ) -> str:
        """Remind the member you are talking with of something once, at a time they say."""
        chosen = timezone or await reminders.zone(context.guild_id, context.member_id)
        zone = zone_named(chosen or "UTC")
        if zone is None:
            raise ToolFailure(
                f"There is no time zone {chosen!r}. Use an IANA name such as America/New_York."
            )
        found = await moment(when, context.now, zone)
        try:
            kept = await reminders.add(
                guild_id=context.guild_id,
                channel_id=context.channel_id,
                member_id=context.member_id,
                message_id=context.message_id,
                text=text,
                due=found.at,
                now=context.now,
            )
        except ReminderLimit as error:
            raise ToolFailure(str(error)) from error
        changed()
        lines = [f"Reminder {kept.id} is set for {in_zone(kept.due, zone)}: {kept.text}"]
        if chosen is None:
            lines.append(_UNKNOWN_ZONE)
        if found.assumed:
            lines.append("No time of day was given, so 9:00 was assumed.")
        if found.moved:
            lines.append("Clocks are put forward then, so the time that was asked for is left out.")
        return "\n".join(lines)

    @tool(read_only=True, rate=Rate(calls=20, seconds=60))
    async def list_reminders(context: ToolContext) -> str:
        """List the reminders that the member you are talking with has set."""
        kept = await reminders.of_member(context.guild_id, context.member_id)
        if not kept:
            return "The member has no reminders."
        zone = zone_named(await reminders.zone(context.guild_id, context.member_id) or "UTC")
        told = [reminder for reminder in kept if await _is_open(context, reminder)]
        lines = [line_of(reminder, zone) for reminder in told]
        if rest := len(kept) - len(told):
            lines.append(
                f"{rest} more, set in channels that not everyone here can read: /reminders list "
                "shows them to the member alone."
            )
        return "\n".join(lines)

    # Not marked destructive: the reminder is the asking member's own, and the result quotes it.
    @tool(rate=Rate(calls=20, seconds=60))
    async def cancel_reminder(
        context: ToolContext,
        *,
        reminder_id: Annotated[int, Field(description="its number, as list_reminders tells it")],
    ) -> str:
        """Cancel one reminder of the member you are talking with."""
        gone = await reminders.cancel(context.guild_id, context.member_id, reminder_id)
        if gone is None:
            raise ToolFailure(
                f"The member has no reminder {reminder_id}. Call list_reminders for the numbers."
            )
        changed()
        if not await _is_open(context, gone):
            return f"Reminder {gone.id} is cancelled."
        return f"Reminder {gone.id} is cancelled: {gone.text}"

    return (set_reminder, list_reminders, cancel_reminder)


def zone_named(name: str) -> ZoneInfo | None:
    """The time zone of an IANA name; None if there is none."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def in_zone(moment: datetime, zone: ZoneInfo) -> str:
    """A moment as clocks of a zone show it."""
    here = moment.astimezone(zone)
    return f"{here:%A}, {here.day} {here:%B %Y}, {here:%H:%M} ({zone.key})"


def line_of(reminder: Reminder, zone: ZoneInfo | None) -> str:
    """A reminder in one line."""
    when = in_zone(reminder.due, zone or ZoneInfo("UTC"))
    return f"Reminder {reminder.id}, {when}: {reminder.text}"


async def _is_open(context: ToolContext, reminder: Reminder) -> bool:
    """Whether everyone who sees the answer may read where the reminder was asked for."""
    if reminder.channel_id == context.channel_id:
        return True
    rights = context.rights
    return rights is not None and await rights.can_all_read(reminder.channel_id)
