"""Where the history of each channel begins, and up to where it was listened to.

Invariant: a cut point is the id of a message and moves only when it is told to, so that one
turn's prompt starts with the same message as the last one's. A watermark only rises.
"""

from collections.abc import Mapping

from data.database import Database


class Channels:
    """Cut points and watermarks by channel."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def cut_point(self, channel_id: int) -> int | None:
        """The message at which history is cut; None if it never was."""
        rows = await self._database.read(
            "SELECT cut_point FROM channels WHERE channel_id = ?", channel_id
        )
        return rows[0]["cut_point"] if rows else None

    async def move_cut_point(self, channel_id: int, message_id: int) -> None:
        """Cut history at `message_id` from now on."""
        async with self._database.transaction() as transaction:
            await transaction.run(
                """INSERT INTO channels (channel_id, cut_point) VALUES (?, ?)
                ON CONFLICT DO UPDATE SET cut_point = excluded.cut_point""",
                channel_id,
                message_id,
            )

    async def watermarks(self, guild_id: int) -> Mapping[int, int]:
        """The newest message that was looked at, by channel of a guild."""
        rows = await self._database.read(
            "SELECT channel_id, message_id FROM watermarks WHERE guild_id = ?", guild_id
        )
        return {row["channel_id"]: row["message_id"] for row in rows}

    async def raise_watermark(self, guild_id: int, channel_id: int, message_id: int) -> None:
        """Note that a channel was listened to up to `message_id`."""
        async with self._database.transaction() as transaction:
            await transaction.run(
                """INSERT INTO watermarks (channel_id, guild_id, message_id) VALUES (?, ?, ?)
                ON CONFLICT DO UPDATE SET message_id = max(message_id, excluded.message_id)""",
                channel_id,
                guild_id,
                message_id,
            )
