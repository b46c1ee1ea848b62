"""What an admin has set, for a guild as a whole or for one model in it.

Invariant: only what was set has a row; a default is never stored, so it can change later.
"""

import json
from collections.abc import Callable, Mapping

from data.database import Database
from prompt.values import Json


class GuildSettings:
    """Named JSON values by guild and model. Guild 0 stands for direct messages and the console,
    the empty model for the whole guild."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._watchers: list[Callable[[int], None]] = []

    def watched_by(self, watcher: Callable[[int], None]) -> None:
        """Have `watcher` told the guild after each change of its settings; it must not raise."""
        self._watchers.append(watcher)

    async def values(self, guild_id: int, model: str) -> Mapping[str, Json]:
        """What is set for exactly this guild and model; how layers add up is the caller's."""
        rows = await self._database.read(
            "SELECT name, value FROM settings WHERE guild_id = ? AND model = ? ORDER BY name",
            guild_id,
            model,
        )
        return {row["name"]: json.loads(row["value"]) for row in rows}

    async def put(self, guild_id: int, model: str, name: str, value: Json | None) -> None:
        """Set `name`, or with None go back to its default."""
        async with self._database.transaction() as transaction:
            if value is None:
                await transaction.run(
                    "DELETE FROM settings WHERE guild_id = ? AND model = ? AND name = ?",
                    guild_id,
                    model,
                    name,
                )
            else:
                await transaction.run(
                    """INSERT INTO settings (guild_id, model, name, value) VALUES (?, ?, ?, ?)
                    ON CONFLICT DO UPDATE SET value = excluded.value""",
                    guild_id,
                    model,
                    name,
                    json.dumps(value, allow_nan=False),
                )
        self.tell(guild_id)

    async def everything(self, guild_id: int) -> Mapping[str, Mapping[str, Json]]:
        """All that is set for a guild, by model; the empty model is the whole guild."""
        rows = await self._database.read(
            "SELECT model, name, value FROM settings WHERE guild_id = ? ORDER BY model, name",
            guild_id,
        )
        found: dict[str, dict[str, Json]] = {}
        for row in rows:
            found.setdefault(row["model"], {})[row["name"]] = json.loads(row["value"])
        return found

    async def replace(self, guild_id: int, everything: Mapping[str, Mapping[str, Json]]) -> None:
        """Set all of this, by model, and nothing else for a guild."""
        async with self._database.transaction() as transaction:
            await transaction.run("DELETE FROM settings WHERE guild_id = ?", guild_id)
            for model, values in everything.items():
                for name, value in values.items():
                    await transaction.run(
                        "INSERT INTO settings (guild_id, model, name, value) VALUES (?, ?, ?, ?)",
                        guild_id,
                        model,
                        name,
                        json.dumps(value, allow_nan=False),
                    )
        self.tell(guild_id)

    def tell(self, guild_id: int) -> None:
        """Tell the watchers that what serves a guild has changed."""
        for watcher in self._watchers:
            watcher(guild_id)
