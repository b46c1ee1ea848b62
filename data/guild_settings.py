"""What an admin has set, for a guild as a whole or for one model in it.

Invariant: only what was set has a row; a default is never stored, so it can change later. Whoever
makes a new value of the present one does so within one transaction.
"""

import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from data.database import Database
from prompt.values import Json

Everything: TypeAlias = Mapping[str, Mapping[str, Json]]
"""All that is set for a guild, by model."""

_EVERYTHING = "SELECT model, name, value FROM settings WHERE guild_id = ? ORDER BY model, name"


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
        await self.change(guild_id, model, name, lambda _: value)

    async def change(
        self, guild_id: int, model: str, name: str, change: Callable[[Json], Json]
    ) -> None:
        """Set `name` to what `change` makes of its value, None being the default in both. Of
        several changes at once none is lost. What `change` raises passes through, and nothing is
        changed then."""
        async with self._database.transaction() as transaction:
            rows = await transaction.run(
                "SELECT value FROM settings WHERE guild_id = ? AND model = ? AND name = ?",
                guild_id,
                model,
                name,
            )
            value = change(json.loads(rows[0]["value"]) if rows else None)
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

    async def everything(self, guild_id: int) -> Everything:
        """All that is set for a guild, by model; the empty model is the whole guild."""
        return _by_model(await self._database.read(_EVERYTHING, guild_id))

    async def replace(self, guild_id: int, everything: Everything) -> None:
        """Set all of this, by model, and nothing else for a guild."""
        await self.rewrite(guild_id, lambda _: everything)

    async def rewrite(self, guild_id: int, change: Callable[[Everything], Everything]) -> None:
        """Set what `change` makes of all that is set, by model, and nothing else for a guild."""
        async with self._database.transaction() as transaction:
            everything = change(_by_model(await transaction.run(_EVERYTHING, guild_id)))
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


def _by_model(rows: Sequence[sqlite3.Row]) -> Everything:
    found: dict[str, dict[str, Json]] = {}
    for row in rows:
        found.setdefault(row["model"], {})[row["name"]] = json.loads(row["value"])
    return found
