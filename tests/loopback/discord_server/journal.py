"""What happened, in order, with times; and what a client did that Discord would not stand.

Invariant: records are only added. A record's fields may be completed while the request that
it describes is still being served, never afterwards.
"""

import asyncio
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tests.loopback.discord_server.wire import Payload


@dataclass(frozen=True, slots=True)
class Record:
    """One thing that happened, `at` seconds after the journal was opened."""

    at: float
    kind: str
    fields: Payload

    def __getitem__(self, name: str) -> Any:
        return self.fields[name]

    def get(self, name: str, default: Any = None) -> Any:
        """The field of that name, or `default`."""
        return self.fields.get(name, default)

    def to_json(self) -> Payload:
        """A flat object, for a driver in another process."""
        return {"at": self.at, "kind": self.kind, **self.fields}


class Journal:
    """The log that tests read: requests, messages, edits, typing, gateway events, violations."""

    def __init__(self) -> None:
        self._opened = time.monotonic()
        self._records: list[Record] = []
        self._waiters: list[tuple[Callable[[Record], bool], asyncio.Future[Record]]] = []

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[Record]:
        return iter(tuple(self._records))

    def now(self) -> float:
        """Seconds since the journal was opened."""
        return round(time.monotonic() - self._opened, 4)

    def note(self, kind: str, **fields: Any) -> Record:
        """Add a record and wake whoever waits for it."""
        record = Record(self.now(), kind, fields)
        self._records.append(record)
        self._wake(record)
        return record

    def complete(self, record: Record, **fields: Any) -> None:
        """Add to a record what was not known when it was made, and wake whoever waits for that."""
        record.fields.update(fields)
        self._wake(record)

    def _wake(self, record: Record) -> None:
        for matches, future in self._waiters:
            if not future.done() and matches(record):
                future.set_result(record)
        self._waiters = [waiter for waiter in self._waiters if not waiter[1].done()]

    def violation(self, what: str, **fields: Any) -> None:
        """Add something that Discord punishes or that members would suffer from."""
        self.note("violation", what=what, **fields)

    def of(self, kind: str, **fields: Any) -> list[Record]:
        """All records of one kind whose fields have these values, oldest first."""
        return [
            record
            for record in self._records
            if record.kind == kind and all(record.get(k) == v for k, v in fields.items())
        ]

    def violations(self) -> list[Record]:
        """All violations so far; a well-behaved client leaves this empty."""
        return self.of("violation")

    def since(self, position: int) -> list[Record]:
        """Records from `position` on, where a position is what `len()` gave earlier."""
        return self._records[position:]

    async def wait_for(
        self, matches: Callable[[Record], bool], *, timeout: float = 10.0, since: int = 0
    ) -> Record:
        """The first record from position `since` on that matches; waits for it if need be.

        Raises TimeoutError, with the latest records in its words, after `timeout` seconds.
        """
        for record in self._records[since:]:
            if matches(record):
                return record
        future: asyncio.Future[Record] = asyncio.get_running_loop().create_future()
        self._waiters.append((matches, future))
        try:
            return await asyncio.wait_for(future, timeout)
        except TimeoutError:
            raise TimeoutError(f"nothing matched within {timeout} s; {self._latest()}") from None

    async def until(self, condition: Callable[[], bool], *, timeout: float = 10.0) -> None:
        """Wait until `condition` holds; it is asked again after each new record."""
        if not condition():
            await self.wait_for(lambda _: condition(), timeout=timeout, since=len(self))

    def _latest(self) -> str:
        lines = [
            f"{record.at:8.3f} {record.kind} {record.fields}" for record in self._records[-12:]
        ]
        return "\n  ".join(["the latest records:", *lines])
