"""Services beside the model that guilds have chosen: who searches, who draws, who embeds.

Invariant: a guild has at most one of a kind, and nothing here hands out another guild's. A key lies
here encrypted, bound to the origin of the URL beside it; opening it is the caller's.
"""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal, TypeAlias, get_args

from data.database import Database
from data.times import from_column, to_column

ServiceKind: TypeAlias = Literal["search", "images", "embeddings"]

KINDS: tuple[ServiceKind, ...] = get_args(ServiceKind)


@dataclass(frozen=True, slots=True, kw_only=True)
class GuildService:
    """What a guild has chosen. `base_url` and `model` are empty where the provider has none;
    `allow_private` tells that the operator set the URL, which may then lie in their own network."""

    guild_id: int
    kind: ServiceKind
    provider: str
    base_url: str
    model: str
    sealed_key: str | None = field(repr=False)
    allow_private: bool
    set_by: int
    at: datetime


class GuildServices:
    """Services by guild and kind."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, guild_id: int, kind: ServiceKind) -> GuildService | None:
        """What a guild has chosen, None where it has not."""
        rows = await self._database.read(
            "SELECT * FROM services WHERE guild_id = ? AND kind = ?", guild_id, kind
        )
        if not rows:
            return None
        row = rows[0]
        return GuildService(
            guild_id=row["guild_id"],
            kind=kind,
            provider=row["provider"],
            base_url=row["base_url"],
            model=row["model"],
            sealed_key=row["sealed_key"],
            allow_private=bool(row["allow_private"]),
            set_by=row["set_by"],
            at=from_column(row["at"]),
        )

    async def put(
        self,
        guild_id: int,
        kind: ServiceKind,
        *,
        provider: str,
        base_url: str = "",
        model: str = "",
        sealed_key: str | None = None,
        allow_private: bool = False,
        set_by: int,
    ) -> None:
        """Set the guild's choice in the place of the former one, with its key."""
        async with self._database.transaction() as transaction:
            await transaction.run(
                """INSERT OR REPLACE INTO services (guild_id, kind, provider, base_url, model,
                    sealed_key, allow_private, set_by, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)""",
                guild_id,
                kind,
                provider,
                base_url,
                model,
                sealed_key,
                allow_private,
                set_by,
                to_column(datetime.now(UTC)),
            )

    async def remove(self, guild_id: int, kind: ServiceKind) -> None:
        """Forget the guild's choice with its key."""
        async with self._database.transaction() as transaction:
            await transaction.run(
                "DELETE FROM services WHERE guild_id = ? AND kind = ?", guild_id, kind
            )
