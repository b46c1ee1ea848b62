"""Which contexts a guild has, and which of them a channel uses.

Invariant: every statement names the guild; a context's number alone reaches nothing.
"""

import json
import unicodedata
from collections.abc import Sequence
from datetime import UTC, datetime

from data.database import Database
from data.knowledge import rows
from data.knowledge.values import (
    AuthorisedContexts,
    BadName,
    Context,
    CreateRefusal,
    Limits,
    NameTaken,
    OverLimit,
)
from data.times import to_column

LONGEST_NAME = 64
EVERYWHERE = 0
"""In place of a channel's id: wherever nothing else is chosen for the channel."""


class Contexts:
    """Contexts by guild, and the choice of them by channel."""

    def __init__(self, database: Database, limits: Limits) -> None:
        self._database = database
        self._limits = limits

    async def create(self, guild_id: int, name: str, created_by: int) -> Context | CreateRefusal:
        """Make an empty context. Blank space in its name is collapsed."""
        name = _tidy(name)
        if not 1 <= len(name) <= LONGEST_NAME:
            return BadName(longest=LONGEST_NAME)
        async with self._database.transaction() as transaction:
            taken = await transaction.run(
                rows.CONTEXTS + " AND folded_name = ?2",
                guild_id,
                _folded(name),
            )
            if taken:
                return NameTaken(context=rows.context(taken[0]))
            ((kept,),) = await transaction.run(
                "SELECT count(*) FROM knowledge_contexts WHERE guild_id = ?", guild_id
            )
            if kept >= self._limits.contexts:
                return OverLimit(what="contexts", kept=kept, wanted=1, limit=self._limits.contexts)
            (row,) = await transaction.run(
                "INSERT INTO knowledge_contexts (guild_id, name, folded_name, created_by, at) "
                "VALUES (?, ?, ?, ?, ?) RETURNING *",
                guild_id,
                name,
                _folded(name),
                created_by,
                to_column(datetime.now(UTC)),
            )
        return rows.context(row)

    async def all(self, guild_id: int) -> Sequence[Context]:
        """The guild's contexts by name."""
        found = await self._database.read(
            rows.CONTEXTS + " ORDER BY folded_name",
            guild_id,
        )
        return [rows.context(row) for row in found]

    async def named(self, guild_id: int, name: str) -> Context | None:
        """The guild's context of this name; upper and lower case are alike."""
        found = await self._database.read(
            rows.CONTEXTS + " AND folded_name = ?2",
            guild_id,
            _folded(_tidy(name)),
        )
        return rows.context(found[0]) if found else None

    async def authorise(self, guild_id: int, wanted: Sequence[int | str]) -> AuthorisedContexts:
        """Those of `wanted`, numbers or names of contexts, that are this guild's, each once.

        What is not there and what is another guild's are alike: neither is in the result.
        """
        sought = [_folded(_tidy(want)) if isinstance(want, str) else want for want in wanted]
        own = await self.all(guild_id)
        found = [one for one in own if one.id in sought or _folded(one.name) in sought]
        return AuthorisedContexts(guild_id=guild_id, contexts=tuple(found))

    async def use(self, authorised: AuthorisedContexts, channel_id: int = EVERYWHERE) -> None:
        """Choose the contexts for a channel, in place of what was chosen for it; none takes the
        choice back, and the guild's applies."""
        async with self._database.transaction() as transaction:
            await transaction.run(
                "DELETE FROM knowledge_uses WHERE guild_id = ? AND channel_id = ?",
                authorised.guild_id,
                channel_id,
            )
            # SELECT: a context that was deleted meanwhile is left out.
            await transaction.run(
                "INSERT INTO knowledge_uses (guild_id, channel_id, context_id) "
                "SELECT guild_id, ?, id FROM knowledge_contexts "
                "WHERE guild_id = ? AND id IN (SELECT value FROM json_each(?))",
                channel_id,
                authorised.guild_id,
                json.dumps([context.id for context in authorised.contexts]),
            )

    async def selected(self, guild_id: int, channel_id: int) -> AuthorisedContexts:
        """What a channel uses: its own choice, else the guild's. A thread has its parent's."""
        found = await self._database.read(
            rows.CONTEXTS  # noqa: S608
            + """ AND id IN (
                SELECT context_id FROM knowledge_uses WHERE guild_id = ?1 AND channel_id = (
                    SELECT max(channel_id) FROM knowledge_uses
                    WHERE guild_id = ?1 AND channel_id IN (0, ?2)
                )
            ) ORDER BY folded_name""",
            guild_id,
            channel_id,
        )
        return AuthorisedContexts(
            guild_id=guild_id, contexts=tuple(rows.context(row) for row in found)
        )

    async def uses(self, guild_id: int) -> Sequence[tuple[int, Context]]:
        """Every choice in the guild: channel (or `EVERYWHERE`) and context."""
        found = await self._database.read(
            """SELECT channel_id, knowledge_contexts.* FROM knowledge_uses
            JOIN knowledge_contexts USING (guild_id)
            WHERE guild_id = ? AND context_id = id ORDER BY channel_id, folded_name""",
            guild_id,
        )
        return [(row["channel_id"], rows.context(row)) for row in found]


def _tidy(name: str) -> str:
    return " ".join(unicodedata.normalize("NFC", name.encode("utf-8", "replace").decode()).split())


def _folded(name: str) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
