"""Which messages hold replies that are still being written, so that a new start finds them.

Invariant: a message is listed from soon after it was posted until its reply has ended. What a
start finds in the list was left half-written by a process that is gone.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from data.database import Database
from data.times import to_column


@dataclass(frozen=True, slots=True, kw_only=True)
class HalfWritten:
    """A message of a reply under way. `guild_id` is 0 in direct messages, `member_id` who asked.

    `turn_id` tells the turn; it is the id of the message that was asked but where the reply goes
    on from an earlier one.
    """

    message_id: int
    guild_id: int
    channel_id: int
    member_id: int
    asked_message_id: int
    turn_id: int


class Unfinished:
    """Messages of replies under way."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def begun(self, message: HalfWritten) -> None:
        """A message was posted, and its reply goes on."""
        async with self._database.transaction() as transaction:
            await transaction.run(
                """INSERT OR REPLACE INTO unfinished_replies
                    (message_id, guild_id, channel_id, member_id, asked_message_id, turn_id, at)
                VALUES (?, ?, ?, ?, ?, ?, ?)""",
                message.message_id,
                message.guild_id,
                message.channel_id,
                message.member_id,
                message.asked_message_id,
                message.turn_id,
                to_column(datetime.now(UTC)),
            )

    async def ended(self, message_ids: Sequence[int]) -> None:
        """These messages say all that they will, or are gone."""
        async with self._database.transaction() as transaction:
            await transaction.run(
                "DELETE FROM unfinished_replies WHERE message_id IN (SELECT value FROM "
                "json_each(?))",
                json.dumps(list(message_ids)),
            )

    async def all(self) -> Sequence[HalfWritten]:
        """Every message that is listed, in the order in which they were posted."""
        rows = await self._database.read("SELECT * FROM unfinished_replies ORDER BY message_id")
        return [
            HalfWritten(
                message_id=row["message_id"],
                guild_id=row["guild_id"],
                channel_id=row["channel_id"],
                member_id=row["member_id"],
                asked_message_id=row["asked_message_id"],
                turn_id=row["turn_id"],
            )
            for row in rows
        ]
