"""What is known about an endpoint and model: how it takes tools, and the switches that it needs.

Invariant: one verdict for each pair. The operator's endpoint is its base URL without credentials,
one that a guild brought is its id, so that guilds do not learn from each other.
"""

import json
import sqlite3
from collections.abc import Callable, Sequence

from data.database import Database
from prompt.verbatim import Verdict

_KNOWN = (
    "SELECT structured_calls, refuses_tools_field, reason, learnt, token_ratio, cut_at "
    "FROM verdicts WHERE endpoint = ? AND model = ?"
)


class Verdicts:
    """Verdicts by endpoint and model."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, endpoint: str, model: str) -> Verdict:
        """The stored verdict, or the one that says that nothing is known yet."""
        return _verdict(await self._database.read(_KNOWN, endpoint, model))

    async def put(self, endpoint: str, model: str, verdict: Verdict) -> None:
        """Replace what is known."""
        await self.change(endpoint, model, lambda _: verdict)

    async def change(
        self, endpoint: str, model: str, change: Callable[[Verdict], Verdict]
    ) -> tuple[Verdict, Verdict]:
        """Replace what is known by what `change` makes of it; both, the former first. Of several
        changes at once none is lost."""
        async with self._database.transaction() as transaction:
            former = _verdict(await transaction.run(_KNOWN, endpoint, model))
            if (verdict := change(former)) == former:
                return former, verdict
            await transaction.run(
                """INSERT INTO verdicts
                    (endpoint, model, structured_calls, refuses_tools_field, reason, learnt,
                    token_ratio, cut_at)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT DO UPDATE SET
                    structured_calls = excluded.structured_calls,
                    refuses_tools_field = excluded.refuses_tools_field,
                    reason = excluded.reason,
                    learnt = excluded.learnt,
                    token_ratio = excluded.token_ratio,
                    cut_at = excluded.cut_at""",
                endpoint,
                model,
                verdict.structured_calls,
                verdict.refuses_tools_field,
                verdict.reason,
                json.dumps(dict(verdict.learnt)),
                verdict.token_ratio,
                verdict.cut_at,
            )
        return former, verdict


def _verdict(rows: Sequence[sqlite3.Row]) -> Verdict:
    if not rows:
        return Verdict()
    return Verdict(
        structured_calls=bool(rows[0]["structured_calls"]),
        refuses_tools_field=bool(rows[0]["refuses_tools_field"]),
        reason=rows[0]["reason"],
        learnt=json.loads(rows[0]["learnt"]),
        token_ratio=rows[0]["token_ratio"],
        cut_at=rows[0]["cut_at"],
    )
