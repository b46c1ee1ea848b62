"""What members asked the bot to remember about them.

Invariant: every statement names guild and member; no fact is ever read, changed or counted
outside the guild and member that it belongs to.
"""

import re
import sqlite3
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from data.database import Database
from data.times import from_column, to_column

MAX_FACTS = 200
"""Facts a member and guild."""
MAX_CHARS = 500
"""Characters a fact."""

_MAX_ID = 2**63 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One remembered sentence. `id` names it for forgetting; `at` is when it was last told."""

    id: int
    text: str
    at: datetime


class FactLimit(Exception):
    """A fact was not kept: too long, empty, or one too many. The message is fit for a member."""


class Facts:
    """Facts by guild and member."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def remember(self, guild_id: int, member_id: int, text: str) -> Fact:
        """Keep `text`, its blank space collapsed. The same words again renew the same fact.

        Raises FactLimit.
        """
        # A model can write half of a surrogate pair, which the database cannot hold.
        text = " ".join(text.encode("utf-8", "replace").decode("utf-8").split())
        if not 1 <= len(text) <= MAX_CHARS:
            raise FactLimit(f"A fact has 1 to {MAX_CHARS} characters; this one has {len(text)}.")
        async with self._database.transaction() as transaction:
            (row,) = await transaction.run(
                """INSERT INTO facts (guild_id, member_id, text, at) VALUES (?, ?, ?, ?)
                ON CONFLICT (guild_id, member_id, text) DO UPDATE SET at = excluded.at
                RETURNING id, text, at""",
                guild_id,
                member_id,
                text,
                to_column(datetime.now(UTC)),
            )
            (count,) = await transaction.run(
                "SELECT count(*) FROM facts WHERE guild_id = ? AND member_id = ?",
                guild_id,
                member_id,
            )
            if count[0] > MAX_FACTS:
                raise FactLimit(f"{MAX_FACTS} facts are kept already; one must be forgotten first.")
        return _from_row(row)

    async def recall(self, guild_id: int, member_id: int, query: str | None) -> Sequence[Fact]:
        """The member's facts, newest first; with a query, those that share a word with it.

        Upper and lower case are alike. A word of three letters or more also finds longer words
        that begin with it.
        """
        rows = await self._database.read(
            "SELECT id, text, at FROM facts WHERE guild_id = ? AND member_id = ? "
            "ORDER BY at DESC, id DESC",
            guild_id,
            member_id,
        )
        facts = [_from_row(row) for row in rows]
        if query is None or not query.strip():
            return facts
        pattern = _pattern(query)
        return [fact for fact in facts if pattern.search(_fold(fact.text))]

    async def forget(self, guild_id: int, member_id: int, fact_id: int) -> Fact | None:
        """Remove one of the member's own facts and return it; None if there is no such fact."""
        if not 0 < fact_id <= _MAX_ID:
            return None
        async with self._database.transaction() as transaction:
            rows = await transaction.run(
                "DELETE FROM facts WHERE guild_id = ? AND member_id = ? AND id = ? "
                "RETURNING id, text, at",
                guild_id,
                member_id,
                fact_id,
            )
        return _from_row(rows[0]) if rows else None


def _from_row(row: sqlite3.Row) -> Fact:
    return Fact(id=row["id"], text=row["text"], at=from_column(row["at"]))


def _fold(text: str) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def _pattern(query: str) -> re.Pattern[str]:
    """Finds any word of the query. A query that has only symbols is sought as it is."""
    folded = _fold(query).strip()
    words = re.findall(r"\w+", folded)
    if not words:
        return re.compile(re.escape(folded))
    return re.compile("|".join(_word_pattern(word) for word in words))


def _word_pattern(word: str) -> str:
    # "Lo": letters without case, as in Chinese, Japanese and Thai, where no blank space tells
    # where a word starts.
    if any(unicodedata.category(character) == "Lo" for character in word):
        return re.escape(word)
    end = "" if len(word) >= 3 else r"\b"
    return rf"\b{re.escape(word)}{end}"
