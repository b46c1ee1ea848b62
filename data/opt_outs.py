"""Members who do not want their messages read to a model.

Invariant: such a wish is kept until the member takes it back: neither erasing what is kept of the
member nor erasing the guild ends it.
"""

from datetime import UTC, datetime

from data.database import Database
from data.times import to_column


class OptOuts:
    """Wishes by guild (0: direct messages) and member."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of(self, guild_id: int) -> frozenset[int]:
        """The members of a guild who opted out."""
        rows = await self._database.read(
            "SELECT member_id FROM opt_outs WHERE guild_id = ?", guild_id
        )
        return frozenset(row["member_id"] for row in rows)

    async def add(self, guild_id: int, member_id: int) -> None:
        """Note that a member opts out; no news if they did before."""
        async with self._database.transaction() as transaction:
            await transaction.run(
                "INSERT INTO opt_outs (guild_id, member_id, at) VALUES (?, ?, ?) "
                "ON CONFLICT DO NOTHING",
                guild_id,
                member_id,
                to_column(datetime.now(UTC)),
            )

    async def remove(self, guild_id: int, member_id: int) -> None:
        """Forget the wish: the member is in again."""
        async with self._database.transaction() as transaction:
            await transaction.run(
                "DELETE FROM opt_outs WHERE guild_id = ? AND member_id = ?", guild_id, member_id
            )
