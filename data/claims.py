"""Which messages have been taken up, so that none is answered twice.

Invariant: of all claims on one message, over restarts too, exactly one succeeds.
"""

from datetime import UTC, datetime, timedelta

from data.database import Database
from data.times import from_column, to_column

KEPT = timedelta(days=14)
"""Discord does not deliver a message again after so long."""


class Claims:
    """Claimed message ids."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def claim(self, message_id: int) -> bool:
        """True for the first claim on this message; it is on the disk when this returns."""
        async with self._database.transaction() as transaction:
            rows = await transaction.run(
                "INSERT OR IGNORE INTO claims (message_id, at) VALUES (?, ?) RETURNING message_id",
                message_id,
                to_column(datetime.now(UTC)),
            )
        return bool(rows)

    async def prune(self) -> None:
        """Drop claims older than `KEPT`, counted from the newest: a clock that is set too far ahead
        takes none away."""
        (row,) = await self._database.read("SELECT max(at) AS at FROM claims")
        if row["at"] is None:
            return
        oldest = min(datetime.now(UTC), from_column(row["at"])) - KEPT
        async with self._database.transaction() as transaction:
            await transaction.run("DELETE FROM claims WHERE at < ?", to_column(oldest))
