"""Which guilds the operator's endpoint serves.

Invariant: a guild without a row was never judged, and is not served. A decision that was made
on an outdated view of things does not take effect.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, TypeAlias

from data.database import Database
from data.times import from_column, to_column

ApprovalState: TypeAlias = Literal["pending", "approved", "denied"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """Where a guild's approval stands, since when, and by whom it was decided.

    `decided_by` is None while nobody decided and where a rule did. `told` tells whether the
    operator was asked.
    """

    guild_id: int
    state: ApprovalState
    decided_by: int | None
    told: bool
    at: datetime


class Approvals:
    """Approvals by guild."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, guild_id: int) -> Approval | None:
        """Where it stands; None for a guild that was never judged."""
        rows = await self._database.read("SELECT * FROM approvals WHERE guild_id = ?", guild_id)
        if not rows:
            return None
        row = rows[0]
        return Approval(
            guild_id=row["guild_id"],
            state=row["state"],
            decided_by=row["decided_by"],
            told=bool(row["told"]),
            at=from_column(row["at"]),
        )

    async def add(self, guild_id: int, state: ApprovalState) -> None:
        """Judge a guild by rule; a judgement that stands is left as it is."""
        async with self._database.transaction() as transaction:
            await transaction.run(
                """INSERT OR IGNORE INTO approvals (guild_id, state, decided_by, told, at)
                VALUES (?, ?, NULL, 0, ?)""",
                guild_id,
                state,
                to_column(datetime.now(UTC)),
            )

    async def decide(
        self, guild_id: int, state: ApprovalState, *, by: int, seen: ApprovalState
    ) -> bool:
        """Decide on a guild that stood at `seen`; False, and no change, if it no longer does."""
        async with self._database.transaction() as transaction:
            rows = await transaction.run(
                """UPDATE approvals SET state = ?, decided_by = ?, at = ?
                WHERE guild_id = ? AND state = ? RETURNING guild_id""",
                state,
                by,
                to_column(datetime.now(UTC)),
                guild_id,
                seen,
            )
        return bool(rows)

    async def mark_told(self, guild_id: int) -> None:
        """Note that the operator was asked about a guild."""
        async with self._database.transaction() as transaction:
            await transaction.run("UPDATE approvals SET told = 1 WHERE guild_id = ?", guild_id)

    async def is_empty(self) -> bool:
        """Whether no guild was ever judged."""
        return not await self._database.read("SELECT 1 FROM approvals LIMIT 1")
