"""Which questions are being answered, and in which messages, so that a new start finds them.

Invariant: a question is listed from soon after it is attended to, a message from soon after it was
posted, both until the reply has ended. What a start finds was left by a process that is gone.
"""

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from data.database import Database
from data.times import to_column


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenQuestion:
    """A question that is not answered yet. `guild_id` is 0 in direct messages, `member_id` who
    asked.

    `turn_id` tells the turn; it is the id of the message that was asked but where the reply goes
    on from an earlier one.
    """

    guild_id: int
    channel_id: int
    member_id: int
    asked_message_id: int
    turn_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HalfWritten(OpenQuestion):
    """A message of a reply under way."""

    message_id: int


class Unfinished:
    """Replies under way."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def asked(self, question: OpenQuestion) -> None:
        """A question is attended to."""
        async with self._database.transaction() as transaction:
            await transaction.run(
                """INSERT OR REPLACE INTO open_questions
                    (guild_id, channel_id, member_id, asked_message_id, turn_id, at)
                VALUES (?, ?, ?, ?, ?, ?)""",
                *_values(question),
            )

    async def answered(self, asked_message_id: int) -> None:
        """Nothing more comes to this question."""
        async with self._database.transaction() as transaction:
            await transaction.run(
                "DELETE FROM open_questions WHERE asked_message_id = ?", asked_message_id
            )

    async def questions(self) -> Sequence[OpenQuestion]:
        """Every question that is listed, in the order in which they were asked."""
        rows = await self._database.read("SELECT * FROM open_questions ORDER BY asked_message_id")
        return [OpenQuestion(**_question(row)) for row in rows]

    async def begun(self, message: HalfWritten) -> None:
        """A message was posted, and its reply goes on."""
        async with self._database.transaction() as transaction:
            await transaction.run(
                """INSERT OR REPLACE INTO unfinished_replies
                    (message_id, guild_id, channel_id, member_id, asked_message_id, turn_id, at)
                VALUES (?, ?, ?, ?, ?, ?, ?)""",
                message.message_id,
                *_values(message),
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
        return [HalfWritten(message_id=row["message_id"], **_question(row)) for row in rows]


_QUESTION = ("guild_id", "channel_id", "member_id", "asked_message_id", "turn_id")
"""Columns that both tables have, in the order in which they are written; then comes `at`."""


def _values(question: OpenQuestion) -> tuple[int | str, ...]:
    return (*(getattr(question, name) for name in _QUESTION), to_column(datetime.now(UTC)))


def _question(row: sqlite3.Row) -> dict[str, int]:
    return {name: row[name] for name in _QUESTION}
