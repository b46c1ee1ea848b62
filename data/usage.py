"""What was used: tokens, time and money by day, guild, channel, member and model.

Invariant: numbers only, no word of anyone, and added up: one row stands for everything that a
member asked of one model in one channel on one day (UTC). Money is kept in millionths of whatever
currency the prices are in.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime, timedelta
from typing import LiteralString

from data.database import Database

KEPT = timedelta(days=400)
"""A year, and a month to compare it with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spender:
    """Whose use it is. `guild_id` is 0 in direct messages and the console; `owner` is the guild
    whose endpoint served, 0 for the operator's."""

    guild_id: int
    channel_id: int
    member_id: int
    model: str
    owner: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """How much. `prompt_tokens` includes `cached_tokens`, which a server had read before.

    `estimated` counts the requests whose tokens the endpoint did not report. The time to the first
    token is known of `first_tokens` requests, all times are sums in milliseconds.
    """

    questions: int = 0
    turns: int = 0
    requests: int = 0
    estimated: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    tool_calls: int = 0
    first_tokens: int = 0
    first_token_ms: int = 0
    total_ms: int = 0
    cost_micros: int = 0

    @property
    def tokens(self) -> int:
        """Tokens read and written."""
        return self.prompt_tokens + self.completion_tokens

    def __add__(self, other: "Amount") -> "Amount":
        return Amount(**{name: getattr(self, name) + getattr(other, name) for name in COLUMNS})


COLUMNS: tuple[str, ...] = tuple(field.name for field in fields(Amount))

_NAMES: LiteralString = (
    "questions, turns, requests, estimated, prompt_tokens, cached_tokens, completion_tokens, "
    "tool_calls, first_tokens, first_token_ms, total_ms, cost_micros"
)
_SUMS: LiteralString = (
    "sum(questions) AS questions, sum(turns) AS turns, sum(requests) AS requests, "
    "sum(estimated) AS estimated, sum(prompt_tokens) AS prompt_tokens, "
    "sum(cached_tokens) AS cached_tokens, sum(completion_tokens) AS completion_tokens, "
    "sum(tool_calls) AS tool_calls, sum(first_tokens) AS first_tokens, "
    "sum(first_token_ms) AS first_token_ms, sum(total_ms) AS total_ms, "
    "sum(cost_micros) AS cost_micros"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Whose:
    """What to add up: None takes any."""

    guild_id: int | None = None
    channel_id: int | None = None
    member_id: int | None = None
    owner: int | None = None


_WHOSE: LiteralString = (
    "(?1 IS NULL OR guild_id = ?1) AND (?2 IS NULL OR channel_id = ?2) "
    "AND (?3 IS NULL OR member_id = ?3) AND (?4 IS NULL OR owner = ?4)"
)


class Usages:
    """Use by day."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, day: date, spender: Spender, amount: Amount) -> None:
        """Add `amount` to what is kept of that day."""
        async with self._database.transaction() as transaction:
            await transaction.run(
                f"""INSERT INTO usage (day, guild_id, channel_id, member_id, model, owner, {_NAMES})
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT DO UPDATE SET
                    questions = questions + excluded.questions,
                    turns = turns + excluded.turns,
                    requests = requests + excluded.requests,
                    estimated = estimated + excluded.estimated,
                    prompt_tokens = prompt_tokens + excluded.prompt_tokens,
                    cached_tokens = cached_tokens + excluded.cached_tokens,
                    completion_tokens = completion_tokens + excluded.completion_tokens,
                    tool_calls = tool_calls + excluded.tool_calls,
                    first_tokens = first_tokens + excluded.first_tokens,
                    first_token_ms = first_token_ms + excluded.first_token_ms,
                    total_ms = total_ms + excluded.total_ms,
                    cost_micros = cost_micros + excluded.cost_micros""",  # noqa: S608
                day.isoformat(),
                spender.guild_id,
                spender.channel_id,
                spender.member_id,
                spender.model,
                spender.owner,
                *(getattr(amount, name) for name in COLUMNS),
            )

    async def total(self, whose: Whose, *, since: date, until: date) -> Amount:
        """All use from `since` to `until`, both included."""
        (row,) = await self._database.read(
            f"SELECT {_SUMS} FROM usage WHERE {_WHOSE} AND day BETWEEN ?5 AND ?6",  # noqa: S608
            *_asked(whose, since, until),
        )
        return _amount(row)

    async def days(self, whose: Whose, *, since: date, until: date) -> Mapping[date, Amount]:
        """The same by day; days without any are left out."""
        rows = await self._database.read(
            f"SELECT day, {_SUMS} FROM usage WHERE {_WHOSE} AND day BETWEEN ?5 AND ?6 "  # noqa: S608
            "GROUP BY day ORDER BY day",
            *_asked(whose, since, until),
        )
        return {date.fromisoformat(row["day"]): _amount(row) for row in rows}

    async def models(
        self, whose: Whose, *, since: date, until: date
    ) -> Sequence[tuple[str, Amount]]:
        """The same by model, the most used first."""
        rows = await self._database.read(
            f"SELECT model, {_SUMS} FROM usage "  # noqa: S608
            f"WHERE {_WHOSE} AND day BETWEEN ?5 AND ?6 AND model <> '' GROUP BY model "
            "ORDER BY sum(prompt_tokens) + sum(completion_tokens) DESC, model",
            *_asked(whose, since, until),
        )
        return [(row["model"], _amount(row)) for row in rows]

    async def warn_once(self, guild_id: int, day: date) -> bool:
        """True the first time that this is asked for a guild (0: the operator) and day."""
        async with self._database.transaction() as transaction:
            rows = await transaction.run(
                "INSERT OR IGNORE INTO usage_warnings (guild_id, day) VALUES (?, ?) RETURNING day",
                guild_id,
                day.isoformat(),
            )
        return bool(rows)

    async def prune(self) -> None:
        """Drop what is older than `KEPT`, counted from the newest: a clock that is set too far
        ahead takes none away."""
        (row,) = await self._database.read("SELECT max(day) AS day FROM usage")
        if row["day"] is None:
            return
        newest = min(datetime.now(UTC).date(), date.fromisoformat(row["day"]))
        oldest = (newest - KEPT).isoformat()
        async with self._database.transaction() as transaction:
            await transaction.run("DELETE FROM usage WHERE day < ?", oldest)
            await transaction.run("DELETE FROM usage_warnings WHERE day < ?", oldest)


def _asked(whose: Whose, since: date, until: date) -> tuple[int | str | None, ...]:
    return (
        whose.guild_id,
        whose.channel_id,
        whose.member_id,
        whose.owner,
        since.isoformat(),
        until.isoformat(),
    )


def _amount(row: sqlite3.Row) -> Amount:
    return Amount(**{name: row[name] or 0 for name in COLUMNS})
