"""What members want to be reminded of, and the time zones in which they think.

Invariant: every reminder is handed out for sending by a claim that is on the disk first, to one
sender at a time; it is gone once it was told or given up.
"""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from data.database import Database
from data.times import from_column, to_column

MOST_OF_MEMBER = 25
"""Reminders that a member may have in a guild, or in direct messages."""

MOST_OF_GUILD = 500
MAX_CHARS = 500
"""Characters of a reminder."""

_MAX_ID = 2**63 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Reminder:
    """One reminder. Guild 0 stands for direct messages; `message_id` is the message that asked for
    it. `attempts` counts the claims so far: with more than one, it may have been told before."""

    id: int
    guild_id: int
    channel_id: int
    member_id: int
    message_id: int
    text: str
    due: datetime
    attempts: int


class ReminderLimit(Exception):
    """A reminder was not kept: empty, too long or one too many. The message is fit for a member."""


class Reminders:
    """Reminders and time zones by guild and member."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(
        self,
        *,
        guild_id: int,
        channel_id: int,
        member_id: int,
        message_id: int,
        text: str,
        due: datetime,
        now: datetime,
    ) -> Reminder:
        """Keep a reminder, blank space in its text collapsed. Raises ReminderLimit."""
        # A model can write half of a surrogate pair, which the database cannot hold.
        text = " ".join(text.encode("utf-8", "replace").decode("utf-8").split())
        if not 1 <= len(text) <= MAX_CHARS:
            raise ReminderLimit(
                f"A reminder has 1 to {MAX_CHARS} characters; this one has {len(text)}."
            )
        async with self._database.transaction() as transaction:
            (row,) = await transaction.run(
                """INSERT INTO reminders
                    (guild_id, channel_id, member_id, message_id, text, due, retry_at, at)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6, ?7) RETURNING *""",
                guild_id,
                channel_id,
                member_id,
                message_id,
                text,
                to_column(due),
                to_column(now),
            )
            (own,) = await transaction.run(
                "SELECT count(*) FROM reminders WHERE guild_id = ? AND member_id = ?",
                guild_id,
                member_id,
            )
            if own[0] > MOST_OF_MEMBER:
                raise ReminderLimit(
                    f"You have {MOST_OF_MEMBER} reminders already; cancel one first."
                )
            (everyones,) = await transaction.run(
                "SELECT count(*) FROM reminders WHERE guild_id = ?", guild_id
            )
            if guild_id and everyones[0] > MOST_OF_GUILD:
                raise ReminderLimit(f"This server has {MOST_OF_GUILD} reminders already.")
        return _from_row(row)

    async def of_member(self, guild_id: int, member_id: int) -> Sequence[Reminder]:
        """The member's reminders, the next one first."""
        rows = await self._database.read(
            "SELECT * FROM reminders WHERE guild_id = ? AND member_id = ? ORDER BY due, id",
            guild_id,
            member_id,
        )
        return [_from_row(row) for row in rows]

    async def cancel(self, guild_id: int, member_id: int, reminder_id: int) -> Reminder | None:
        """Remove one of the member's own reminders and return it; None if there is no such one."""
        if not 0 < reminder_id <= _MAX_ID:
            return None
        async with self._database.transaction() as transaction:
            rows = await transaction.run(
                "DELETE FROM reminders WHERE guild_id = ? AND member_id = ? AND id = ? RETURNING *",
                guild_id,
                member_id,
                reminder_id,
            )
        return _from_row(rows[0]) if rows else None

    async def next_at(self) -> datetime | None:
        """When the next reminder should be sent; None if there is none."""
        rows = await self._database.read("SELECT min(retry_at) AS at FROM reminders")
        return from_column(rows[0]["at"]) if rows[0]["at"] else None

    async def claim(self, now: datetime, *, again_at: datetime) -> Reminder | None:
        """The longest due reminder, to be sent now; None if none is due. Nobody else gets it before
        `again_at`, also after a crash."""
        async with self._database.transaction() as transaction:
            rows = await transaction.run(
                """UPDATE reminders SET attempts = attempts + 1, retry_at = ?2
                WHERE id = (
                    SELECT id FROM reminders WHERE retry_at <= ?1 ORDER BY retry_at, id LIMIT 1
                ) RETURNING *""",
                to_column(now),
                to_column(again_at),
            )
        return _from_row(rows[0]) if rows else None

    async def postpone(self, reminder_id: int, retry_at: datetime) -> None:
        """Hand a claimed reminder out again later."""
        async with self._database.transaction() as transaction:
            await transaction.run(
                "UPDATE reminders SET retry_at = ? WHERE id = ?", to_column(retry_at), reminder_id
            )

    async def done(self, reminder_id: int) -> None:
        """Remove a reminder that was told, or that nobody can be told."""
        async with self._database.transaction() as transaction:
            await transaction.run("DELETE FROM reminders WHERE id = ?", reminder_id)

    async def zone(self, guild_id: int, member_id: int) -> str | None:
        """The IANA name of the time zone that the member has chosen; None if they have not."""
        rows = await self._database.read(
            "SELECT zone FROM time_zones WHERE guild_id = ? AND member_id = ?", guild_id, member_id
        )
        return rows[0]["zone"] if rows else None

    async def choose_zone(self, guild_id: int, member_id: int, zone: str) -> None:
        """Keep the time zone of a member. What is set already stays at its moment."""
        async with self._database.transaction() as transaction:
            await transaction.run(
                """INSERT INTO time_zones (guild_id, member_id, zone) VALUES (?, ?, ?)
                ON CONFLICT (guild_id, member_id) DO UPDATE SET zone = excluded.zone""",
                guild_id,
                member_id,
                zone,
            )


def _from_row(row: sqlite3.Row) -> Reminder:
    return Reminder(
        id=row["id"],
        guild_id=row["guild_id"],
        channel_id=row["channel_id"],
        member_id=row["member_id"],
        message_id=row["message_id"],
        text=row["text"],
        due=from_column(row["due"]),
        attempts=row["attempts"],
    )
