"""Single facts about this instance that belong to no guild and no member.

Invariant: keys are fixed names in the code; nothing that a member wrote is stored here.
"""

from data.database import Database


class Meta:
    """Texts by key."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, key: str) -> str | None:
        """The text under `key`, None if there is none."""
        rows = await self._database.read("SELECT value FROM meta WHERE key = ?", key)
        return rows[0]["value"] if rows else None

    async def put(self, key: str, value: str) -> None:
        """Keep `value` under `key`."""
        async with self._database.transaction() as transaction:
            await transaction.run(
                """INSERT INTO meta (key, value) VALUES (?, ?)
                ON CONFLICT DO UPDATE SET value = excluded.value""",
                key,
                value,
            )
