"""The bot's own turns with their tool exchanges, found again by the messages that show them.

Invariant: a message shows at most one turn. Saving a turn again replaces it whole.
"""

import json
import logging
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from data.database import Database
from data.encoding import EncodingError, decode_turns, encode_turns
from data.times import from_column, to_column
from prompt.values import Turn

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTurn:
    """One answered message: who asked what where, and what the model and tools said, in order.

    `guild_id` is 0 in direct messages and the console. `reply_message_ids` stand in channel
    order. `at` must know its time zone.
    """

    id: str
    guild_id: int
    channel_id: int
    member_id: int
    asked_message_id: int
    reply_message_ids: tuple[int, ...]
    turns: tuple[Turn, ...]
    at: datetime


class Turns:
    """Stored turns, by id and by reply message."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def save(self, turn: StoredTurn) -> None:
        """Keep `turn`, in place of an earlier one with its id."""
        content = encode_turns(turn.turns)
        async with self._database.transaction() as transaction:
            await transaction.run(
                """INSERT INTO turns
                    (id, guild_id, channel_id, member_id, asked_message_id, content, at)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (id) DO UPDATE SET
                    guild_id = excluded.guild_id,
                    channel_id = excluded.channel_id,
                    member_id = excluded.member_id,
                    asked_message_id = excluded.asked_message_id,
                    content = excluded.content,
                    at = excluded.at""",
                turn.id,
                turn.guild_id,
                turn.channel_id,
                turn.member_id,
                turn.asked_message_id,
                content,
                to_column(turn.at),
            )
            await transaction.run("DELETE FROM replies WHERE turn_id = ?", turn.id)
            for ordinal, message_id in enumerate(turn.reply_message_ids):
                await transaction.run(
                    "INSERT OR REPLACE INTO replies (message_id, turn_id, ordinal) "
                    "VALUES (?, ?, ?)",
                    message_id,
                    turn.id,
                    ordinal,
                )

    async def prune(self, keep: timedelta) -> None:
        """Drop turns older than that, counted from the newest: a clock that is set too far ahead
        takes none away."""
        (row,) = await self._database.read("SELECT max(at) AS at FROM turns")
        if row["at"] is None:
            return
        oldest = min(datetime.now(UTC), from_column(row["at"])) - keep
        async with self._database.transaction() as transaction:
            await transaction.run("DELETE FROM turns WHERE at < ?", to_column(oldest))

    async def latest_place(self) -> tuple[int, int] | None:
        """Guild (0: direct messages) and channel of the newest turn, None if there is none."""
        rows = await self._database.read(
            "SELECT guild_id, channel_id FROM turns ORDER BY at DESC, id DESC LIMIT 1"
        )
        return (rows[0]["guild_id"], rows[0]["channel_id"]) if rows else None

    async def by_messages(self, message_ids: Sequence[int]) -> Mapping[int, StoredTurn]:
        """The turns that these messages show; messages without one are left out.

        A turn that can no longer be read is logged and left out as well: history without it is
        better than no answer.
        """
        rows = await self._database.read(
            """SELECT asked.value AS shown_by, turns.*,
                (SELECT json_group_array(message_id) FROM
                    (SELECT message_id FROM replies WHERE turn_id = turns.id ORDER BY ordinal)
                ) AS reply_message_ids
            FROM json_each(?) AS asked
            JOIN replies ON replies.message_id = asked.value
            JOIN turns ON turns.id = replies.turn_id""",
            json.dumps(list(message_ids)),
        )
        decoded: dict[str, StoredTurn | None] = {}
        found: dict[int, StoredTurn] = {}
        for row in rows:
            if row["id"] not in decoded:
                decoded[row["id"]] = _from_row(row)
            turn = decoded[row["id"]]
            if turn is not None:
                found[row["shown_by"]] = turn
        return found

    async def by_ids(self, ids: Sequence[str]) -> Mapping[str, StoredTurn]:
        """The turns of these ids, as far as there are any; see `by_messages`."""
        rows = await self._database.read(
            """SELECT turns.*,
                (SELECT json_group_array(message_id) FROM
                    (SELECT message_id FROM replies WHERE turn_id = turns.id ORDER BY ordinal)
                ) AS reply_message_ids
            FROM json_each(?) AS asked
            JOIN turns ON turns.id = asked.value""",
            json.dumps(list(ids)),
        )
        found = {str(row["id"]): _from_row(row) for row in rows}
        return {id_: turn for id_, turn in found.items() if turn is not None}


def _from_row(row: sqlite3.Row) -> StoredTurn | None:
    try:
        turns = decode_turns(row["content"])
    except EncodingError as error:
        log.warning("turn %s is left out of the history: %s", row["id"], error)
        return None
    return StoredTurn(
        id=row["id"],
        guild_id=row["guild_id"],
        channel_id=row["channel_id"],
        member_id=row["member_id"],
        asked_message_id=row["asked_message_id"],
        reply_message_ids=tuple(json.loads(row["reply_message_ids"])),
        turns=turns,
        at=from_column(row["at"]),
    )
