"""The home directory: everything that one instance keeps lies in it.

Invariant: what Verbatim creates there is readable by its own user only, where the system has
such rights. A directory that already exists keeps the rights that its owner gave it.
"""

import os
from pathlib import Path

from data.errors import StoreError


def prepare_home(home: Path) -> None:
    """Make sure that `home` is a directory, creating it and its parents if need be.

    Raises StoreError if it cannot be made or is something else.
    """
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
    except FileExistsError as error:
        raise StoreError(
            f"{home} is a file, not a directory.",
            remedy="Move it away, or point VERBATIM_HOME at a directory.",
        ) from error
    except OSError as error:
        raise StoreError(
            f"The directory {home} cannot be created: {error.strerror}.",
            remedy="Create it for the user that runs Verbatim, or point VERBATIM_HOME elsewhere.",
        ) from error


def create_private_file(path: Path) -> None:
    """Create an empty file that only its owner can read, unless it exists.

    SQLite gives the files beside a database (-wal, -shm) the rights of the database itself, so
    creating it beforehand covers them too. Raises StoreError.
    """
    try:
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        raise StoreError(
            f"{path} cannot be written: {error.strerror}.",
            remedy="Give the user that runs Verbatim the right to write there, "
            "or point VERBATIM_HOME at another directory.",
        ) from error
