"""Copies of the database: made while it is in use, kept for a time, put back.

Invariant: a backup stands under its name only when it is whole and was read back. Restoring
changes nothing before the backup has been checked and brought to the current schema, and removes
nothing that it has not copied. Only backups that the schedule made are ever pruned.

All but `keep_backups` blocks; call it in a thread.
"""

import asyncio
import logging
import re
import shutil
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from data.database import to_the_end
from data.errors import StoreError, explained
from data.home import create_private_file, prepare_home
from data.lock import instance_lock
from data.migrate import BACKUPS, MIGRATIONS, connect, copy_whole, find_migrations, inspect, migrate

log = logging.getLogger(__name__)

_STAMP = "%Y%m%dT%H%M%SZ"
_SCHEDULED = re.compile(r"scheduled-(\d{8}T\d{6}Z)\.db")

_GLANCE = 600.0
"""Seconds after which the clock is looked at again: somebody may set it, or the machine slept."""

_LOG_SUFFIX = "-wal"
_BESIDE = (_LOG_SUFFIX, "-shm", "-journal")
"""What SQLite keeps beside a database in use."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Backup:
    """A backup that was made: where it lies, its schema and its size in bytes."""

    path: Path
    schema: int
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """What restoring did: the backup's schema, and where the former database is kept, if any."""

    schema: int
    former: Path | None


def default_name(database: Path, now: datetime) -> Path:
    """Where a backup goes that was asked for without a name."""
    return database.parent / BACKUPS / f"backup-{now.strftime(_STAMP)}.db"


def back_up(database: Path, to: Path) -> Backup:
    """Copy the database, as of its last commit, to the new file `to`. Whoever uses it may go on.

    Raises StoreError: there is no sound database, `to` exists or cannot be written.
    """
    if not database.is_file():
        raise StoreError(
            f"There is no database at {database}.",
            remedy="Point VERBATIM_HOME at the directory that the bot uses.",
        )
    if to.exists():
        raise StoreError(f"{to} exists already.", remedy="Name a file that does not.")
    newest = _newest()
    inspect(database, newest=newest)
    prepare_home(to.parent)
    with explained(database), closing(connect(database, "ro")) as connection:
        copy_whole(connection, to)
    return Backup(path=to, schema=inspect(to, newest=newest), size=to.stat().st_size)


def restore(backup: Path, database: Path) -> Restored:
    """Put `backup` in the place of the database, brought to the current schema.

    The database that is there is kept in the backups directory, also a damaged one. Raises
    StoreError: the bot runs, or the backup is missing, damaged, foreign, empty or newer. The
    database is then as it was.
    """
    if not backup.is_file():
        raise StoreError(f"There is no file {backup}.", remedy="Name a backup that exists.")
    prepare_home(database.parent)
    with instance_lock(database.parent):
        schema = inspect(backup, newest=_newest())
        if not schema:
            raise StoreError(f"{backup} holds nothing.", remedy="Name a backup of Verbatim's.")
        incoming = database.with_name(f"{database.name}.incoming")
        try:
            with explained(backup), closing(connect(backup, "ro")) as connection:
                copy_whole(connection, incoming)
            migrate(incoming, copied=True)
            with explained(incoming), closing(connect(incoming, "rw")) as connection:
                # What was asked since the backup may have been answered; it is not looked at again.
                connection.execute("DELETE FROM watermarks")
            former = _set_aside(database)
            # A log of the former database would be taken for one of the restored.
            _remove(database, _BESIDE)
            incoming.replace(database)
        except OSError as error:
            raise _cannot_write(database.parent, error) from error
        finally:
            _remove(incoming, ("", *_BESIDE))
    return Restored(schema=schema, former=former)


def _set_aside(database: Path) -> Path | None:
    """Copy the database and its log, byte by byte: it may be damaged."""
    if not database.exists() or not database.stat().st_size:
        return None
    now = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
    former = database.parent / BACKUPS / f"replaced-{now}.db"
    prepare_home(former.parent)
    for suffix in ("", _LOG_SUFFIX):
        source = database.with_name(f"{database.name}{suffix}")
        if source.exists():
            copy = former.with_name(f"{former.name}{suffix}")
            create_private_file(copy)
            shutil.copyfile(source, copy)
    return former


async def keep_backups(
    database: Path,
    *,
    every: timedelta,
    keep: int,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
    glance: float = _GLANCE,
) -> None:
    """Make a backup whenever the last one is `every` old, and keep the newest `keep` of them, until
    cancelled. A failure is logged with its remedy, and tried again at the next glance."""
    directory = database.parent / BACKUPS
    while True:
        try:
            due = await asyncio.to_thread(_due_in, directory, every, now())
            if due <= timedelta():
                made = await to_the_end(asyncio.to_thread(_scheduled, database, keep, now()))
                log.info("Backup made: %s, %d kB.", made.path, made.size // 1000)
                due = every
        except StoreError as error:
            log.error("No backup was made: %s", error)
            due = timedelta(seconds=glance)
        await asyncio.sleep(min(glance, due.total_seconds()))


def _scheduled(database: Path, keep: int, now: datetime) -> Backup:
    directory = database.parent / BACKUPS
    try:
        for left in directory.glob("scheduled-*.db.partial*"):  # by a process that was killed
            left.unlink(missing_ok=True)
    except OSError as error:
        raise _cannot_write(directory, error) from error
    made = back_up(database, directory / f"scheduled-{now.strftime(_STAMP)}.db")
    try:
        for _, path in _made(directory, now)[:-keep]:
            path.unlink(missing_ok=True)
    except OSError as error:
        raise _cannot_write(directory, error) from error
    return made


def _due_in(directory: Path, every: timedelta, now: datetime) -> timedelta:
    """How long until the next backup is due; not positive if it is now."""
    made = _made(directory, now)
    return made[-1][0] + every - now if made else timedelta()


def _made(directory: Path, now: datetime) -> Sequence[tuple[datetime, Path]]:
    """The backups that the schedule has made, the newest last.

    Those of a clock that was ahead do not count until their time has come, so that they neither
    stand for newer ones nor push those out.
    """
    found: list[tuple[datetime, Path]] = []
    for path in directory.glob("scheduled-*.db"):
        if match := _SCHEDULED.fullmatch(path.name):
            try:
                at = datetime.strptime(match[1], _STAMP).replace(tzinfo=UTC)
            except ValueError:  # somebody else's file
                continue
            found.append((at, path))
    return sorted(pair for pair in found if pair[0] <= now)


def _newest() -> int:
    return len(find_migrations(MIGRATIONS))


def _remove(path: Path, suffixes: Sequence[str]) -> None:
    for suffix in suffixes:
        path.with_name(f"{path.name}{suffix}").unlink(missing_ok=True)


def _cannot_write(directory: Path, error: OSError) -> StoreError:
    return StoreError(
        f"The files in {directory} cannot be changed: {error.strerror}.",
        remedy="Free some space, or give the user that runs Verbatim the right to write there.",
    )
