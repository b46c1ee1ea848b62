"""Brings a database file to the current schema, before anything else opens it.

Invariant: a file that is damaged, foreign or newer is refused unchanged, and an existing
database is copied before it is changed. Each migration takes effect whole or not at all, and
`PRAGMA user_version` tells which one was the last.

Everything here blocks; call it in a thread.
"""

import errno
import os
import re
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from data.database import BUSY_TIMEOUT, database_uri
from data.errors import StoreError, explained, family_of, file_trouble
from data.home import create_private_file, prepare_home

MIGRATIONS = Path(__file__).parent / "migrations"
BACKUPS = "backups"
"""The directory for copies, beside the database."""

APPLICATION_ID = 0x5662746D
"""Set by the first migration; marks a file as ours."""

_SQLITE_NEEDED = (3, 37, 0)
"""The first SQLite with STRICT tables."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """One numbered SQL file: `0002_what_it_does.sql`."""

    number: int
    path: Path


def find_migrations(directory: Path) -> Sequence[Migration]:
    """The migrations in `directory`, in order. They count from 1 without gaps or doubles.

    Raises StoreError otherwise: the installation is damaged or two branches were merged badly.
    """
    remedy = "Install Verbatim again; its files are incomplete or mixed from two versions."
    found: list[Migration] = []
    for path in sorted(directory.glob("*.sql")):
        match = re.fullmatch(r"(\d{4})_[a-z0-9_]+\.sql", path.name)
        if match is None:
            raise StoreError(f"{path.name} is not the name of a migration.", remedy=remedy)
        migration = Migration(number=int(match[1]), path=path)
        expected = len(found) + 1
        if migration.number != expected:
            raise StoreError(
                f"Migration {expected:04d} was expected, but the next file is {path.name}.",
                remedy=remedy,
            )
        found.append(migration)
    return found


def migrate(path: Path, *, directory: Path = MIGRATIONS, copied: bool = False) -> None:
    """Create the database at `path`, or bring it up to date with the files in `directory`.

    Before an existing database changes, a copy is put into `backups/` beside it, unless it is
    `copied` already. Raises StoreError; the database is then as it was, or up to the last
    migration that succeeded.
    """
    if sqlite3.sqlite_version_info < _SQLITE_NEEDED:
        raise StoreError(
            f"This Python uses SQLite {sqlite3.sqlite_version}; 3.37 or newer is needed.",
            remedy="Use a newer Python, or update the system's SQLite library.",
        )
    migrations = find_migrations(directory)
    create_private_file(path)
    version = inspect(path, newest=len(migrations))
    pending = migrations[version:]
    if not pending:
        return
    if path.stat().st_size == 0:
        _create(path, migrations)
        return
    with explained(path), closing(connect(path, "rw")) as connection:
        copy = _copy(connection, path, version) if version and not copied else None
        for migration in pending:
            _apply(connection, migration, copy)


def connect(path: Path, mode: Literal["ro", "rw"]) -> sqlite3.Connection:
    """A plain connection to an existing file, in autocommit mode."""
    return sqlite3.connect(
        database_uri(path, mode),
        uri=True,
        isolation_level=None,
        timeout=BUSY_TIMEOUT,
    )


def inspect(path: Path, *, newest: int) -> int:
    """The schema version of the file at `path`, 0 for an empty one; changes nothing.

    Raises StoreError for a file that is damaged, another program's or of a schema after `newest`.
    """
    if path.stat().st_size == 0:
        return 0
    with explained(path), closing(connect(path, "ro")) as connection:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        (health,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if health != "ok":
        raise file_trouble("CORRUPT", path)
    if tables and application != APPLICATION_ID:
        raise StoreError(
            f"{path} is another program's database.",
            remedy="Move it away, or point VERBATIM_HOME at another directory.",
        )
    if version > newest:
        raise StoreError(
            f"{path} was written by a newer Verbatim: its schema is {version}, "
            f"this version knows {newest}.",
            remedy="Update Verbatim, or put back the copy in the backups directory "
            "that was made before the update.",
        )
    return version


def _create(path: Path, migrations: Sequence[Migration]) -> None:
    """Make a new database beside its place and put it there once it is whole and on the disk.

    So it need not wait for the disk after each migration, and a start that is cut short leaves
    none that is half made.
    """
    partial = path.with_name(f"{path.name}.partial")
    try:
        with explained(path):
            partial.unlink(missing_ok=True)
            create_private_file(partial)
            with closing(connect(partial, "rw")) as connection:
                connection.execute("PRAGMA synchronous = OFF")
                connection.execute("PRAGMA journal_mode = MEMORY")
                for migration in migrations:
                    _apply(connection, migration, None)
            with partial.open("rb+") as file:
                os.fsync(file.fileno())
            partial.replace(path)
    except OSError as error:
        raise file_trouble("FULL" if error.errno == errno.ENOSPC else "IOERR", path) from error
    finally:
        partial.unlink(missing_ok=True)


def _copy(connection: sqlite3.Connection, path: Path, version: int) -> Path:
    """Copy the open database into `backups/`, with what its write-ahead log holds."""
    now = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
    copy = path.parent / BACKUPS / f"{path.stem}-schema{version:04d}-{now}{path.suffix}"
    prepare_home(copy.parent)
    copy_whole(connection, copy)
    return copy


def copy_whole(connection: sqlite3.Connection, copy: Path) -> None:
    """Copy what an open database holds at this moment, its write-ahead log included, to `copy`.

    The copy is one file, which needs no other to be read. It appears under its name when it is
    complete and on the disk. Raises StoreError about the copy.
    """
    partial = copy.with_name(f"{copy.name}.partial")
    create_private_file(partial)
    try:
        with explained(partial), closing(connect(partial, "rw")) as target:
            connection.backup(target)
            target.execute("PRAGMA journal_mode = DELETE")
        partial.replace(copy)
    except BaseException:
        for suffix in ("", "-journal", "-wal", "-shm"):
            partial.with_name(f"{partial.name}{suffix}").unlink(missing_ok=True)
        raise


def _apply(connection: sqlite3.Connection, migration: Migration, copy: Path | None) -> None:
    """Run one migration and check that it ended where it must; within `explained`.

    If it raises, closing the connection rolls back what the migration left open.
    """
    script = migration.path.read_text(encoding="utf-8")
    try:
        # Foreign keys stay unenforced here, SQLite's default: a migration that rebuilds a table
        # would otherwise delete what refers to it.
        connection.executescript(script)
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        problem = None
        if connection.in_transaction:
            problem = "it does not commit"
        elif version != migration.number:
            problem = f"it left the schema at {version}"
    except sqlite3.Error as error:
        if family_of(error) is not None:
            raise  # the migration is not to blame
        problem = str(error)
    if problem:
        kept = f" A copy made before is {copy}." if copy else ""
        raise StoreError(
            f"Migration {migration.path.name} failed: {problem}.",
            remedy="The database is as it was before this migration; go back to the version of "
            f"Verbatim that you used until now, and report this line.{kept}",
        )
