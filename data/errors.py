"""What goes wrong with the store, in words for the operator.

Invariant: a StoreError says what happened and what to do, and nothing that was stored.
"""

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path


class StoreError(Exception):
    """The store cannot be opened, read or written. `problem` says why, `remedy` what to do."""

    def __init__(self, problem: str, *, remedy: str) -> None:
        super().__init__(f"{problem} {remedy}")
        self.problem = problem
        self.remedy = remedy


class HomeInUse(StoreError):
    """Another process of ours uses the home directory."""


_WORDS = {
    "FULL": (
        "The disk that holds {path} is full.",
        "Free some space; nothing that was acknowledged is lost.",
    ),
    "READONLY": (
        "{path} cannot be written.",
        "Give the user that runs Verbatim the right to write the file and its directory.",
    ),
    "CANTOPEN": (
        "{path} cannot be opened.",
        "Check that its directory exists and that the user that runs Verbatim can write there.",
    ),
    "PERM": (
        "{path} may not be accessed.",
        "Give the user that runs Verbatim the right to read and write it.",
    ),
    "IOERR": (
        "The disk that holds {path} failed to read or write.",
        "Check the disk and the system log, then start again.",
    ),
    "CORRUPT": (
        "{path} is damaged.",
        "Put back a copy from the backups directory beside it with `python bot.py restore FILE`, "
        "or move it away to begin anew.",
    ),
    "NOTADB": (
        "{path} is not an SQLite database.",
        "Move it away, or point VERBATIM_HOME at another directory.",
    ),
    "BUSY": (
        "Another program keeps {path} locked.",
        "Close database browsers and backup jobs that have it open.",
    ),
    "LOCKED": (
        "Another program keeps {path} locked.",
        "Close database browsers and backup jobs that have it open.",
    ),
}


@contextmanager
def explained(path: Path) -> Generator[None]:
    """Turn SQLite's complaints about the file at `path` into StoreErrors.

    Only trouble with file, disk or locks is translated. A violated constraint or bad SQL is a
    mistake in this package and passes as it is.
    """
    try:
        yield
    except sqlite3.Error as error:
        family = family_of(error)
        if family is None:
            raise
        raise file_trouble(family, path) from error


def family_of(error: sqlite3.Error) -> str | None:
    """The kind of trouble with file, disk or locks, for `file_trouble`; None if it is another."""
    # Extended codes are spelt SQLITE_IOERR_WRITE, say; the second word is the family.
    name = getattr(error, "sqlite_errorname", None) or ""
    family = "".join(name.split("_")[1:2])
    return family if family in _WORDS else None


def file_trouble(family: str, path: Path) -> StoreError:
    """The StoreError for one of SQLite's primary result codes, without its `SQLITE_`."""
    problem, remedy = _WORDS[family]
    return StoreError(problem.format(path=path), remedy=remedy)
