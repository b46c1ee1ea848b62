"""One SQLite database, read and written without blocking the event loop.

Invariant: every write happens in a `transaction()`, and only one is open at a time; the
connections are in autocommit mode, so nothing begins or commits unseen. Reads go over a
second, read-only connection and see only what is committed.
"""

import asyncio
import logging
import sqlite3
from collections.abc import AsyncGenerator, Awaitable, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Literal, LiteralString, TypeAlias, TypeVar

import aiosqlite

from data.errors import StoreError, explained

T = TypeVar("T")

Value: TypeAlias = int | float | str | bytes | None
"""What a statement's parameter can be."""

BUSY_TIMEOUT = 5.0
"""Seconds to wait for a lock that another program holds, a backup job or a database browser."""

# Its debug lines hold the parameters of every statement, members' words among them.
logging.getLogger("aiosqlite").setLevel(logging.INFO)


class Transaction:
    """The writing connection while a transaction is open on it."""

    __slots__ = ("_connection",)

    def __init__(self, connection: aiosqlite.Connection) -> None:
        self._connection = connection

    async def run(self, sql: LiteralString, *parameters: Value) -> list[sqlite3.Row]:
        """Execute one statement and return its rows, those of a RETURNING clause too."""
        return list(await self._connection.execute_fetchall(sql, parameters))

    async def run_many(self, sql: LiteralString, rows: Iterable[Sequence[Value]]) -> None:
        """Execute one statement for each of `rows`, in one visit to the connection's thread."""
        await self._connection.executemany(sql, rows)


class Database:
    """The connections to one database file; made by `open_database`."""

    def __init__(
        self, path: Path, writer: aiosqlite.Connection, reader: aiosqlite.Connection
    ) -> None:
        self.path = path
        self._writer = writer
        self._reader = reader
        self._lock = asyncio.Lock()
        self._holder: asyncio.Task[object] | None = None
        self._open = True

    @asynccontextmanager
    async def transaction(self) -> AsyncGenerator[Transaction]:
        """A block whose statements take effect together when it is left normally, or not at all.

        Tasks take turns. An exception, cancellation included, rolls back; if the cancellation
        arrives while the commit itself is under way, the commit stands. Do nothing slow inside:
        everyone else who writes is waiting.

        Raises StoreError, and RuntimeError if this task already has a transaction open, which
        would otherwise wait for itself.
        """
        if self._holder is asyncio.current_task():
            raise RuntimeError("transaction() inside transaction(): pass the open one on instead")
        async with self._lock:
            self._check_open()
            self._holder = asyncio.current_task()
            try:
                with explained(self.path):
                    # The connection's thread takes statements in order. A cancelled one still
                    # runs, but the rollback stands behind it and before anyone else's BEGIN.
                    try:
                        await self._writer.execute_fetchall("BEGIN IMMEDIATE")
                        yield Transaction(self._writer)
                        await self._writer.commit()
                    except BaseException:
                        await self._writer.rollback()
                        raise
            finally:
                self._holder = None

    async def read(self, sql: LiteralString, *parameters: Value) -> list[sqlite3.Row]:
        """All rows of one query, as of the last commit. Raises StoreError."""
        self._check_open()
        with explained(self.path):
            return list(await self._reader.execute_fetchall(sql, parameters))

    async def checkpoint(self) -> None:
        """Move everything from the write-ahead log into the database and empty the log."""
        async with self._lock:
            self._check_open()
            with explained(self.path):
                await self._writer.execute_fetchall("PRAGMA wal_checkpoint(TRUNCATE)")

    async def retire(self) -> None:
        """Let the transaction under way end, and refuse every later use."""
        async with self._lock:
            self._open = False

    def _check_open(self) -> None:
        if not self._open:
            raise StoreError("The store is closed.", remedy="Verbatim is stopping; start it again.")


@asynccontextmanager
async def open_database(path: Path) -> AsyncGenerator[Database]:
    """Open the existing, migrated database at `path`; close both connections on the way out.

    Raises StoreError.
    """
    async with AsyncExitStack() as stack:
        with explained(path):
            writer = await _connect(stack, path, "rw")
            await writer.execute_fetchall("PRAGMA journal_mode = WAL")
            # FULL: what was acknowledged survives a power cut as well as a crash.
            await writer.execute_fetchall("PRAGMA synchronous = FULL")
            await writer.execute_fetchall("PRAGMA foreign_keys = ON")
            # What is deleted is overwritten, so that erasing a member's words erases them.
            await writer.execute_fetchall("PRAGMA secure_delete = ON")
            # Closed first: only the last connection to close, if it can write, empties the log.
            reader = await _connect(stack, path, "ro")
        database = Database(path, writer, reader)
        stack.push_async_callback(database.retire)
        yield database


def database_uri(path: Path, mode: Literal["ro", "rw"]) -> str:
    """`path` in the form that carries a mode; neither mode creates a file."""
    return f"{path.absolute().as_uri()}?mode={mode}"


async def to_the_end(work: Awaitable[T]) -> T:
    """Await `work`; if cancelled, let it end first. For what a thread does and must not be left
    half done: a cancelled future would only drop its outcome."""
    running = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        await asyncio.gather(running, return_exceptions=True)
        raise


async def _connect(
    stack: AsyncExitStack, path: Path, mode: Literal["ro", "rw"]
) -> aiosqlite.Connection:
    """A connection that `stack` closes. Left open, its thread would keep the process alive."""
    connection = aiosqlite.connect(
        database_uri(path, mode), uri=True, isolation_level=None, timeout=BUSY_TIMEOUT
    )
    stack.push_async_callback(connection.close)
    await to_the_end(connection)
    connection.row_factory = sqlite3.Row
    return connection
