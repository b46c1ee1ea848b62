"""Keeps two processes from using one home directory.

Invariant: the operating system holds the lock, never the mere existence of a file; a process
that dies in any way gives it back. The file stays, since removing it would race with a process
that has just opened it.
"""

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from data.errors import HomeInUse, StoreError
from data.home import create_private_file

if sys.platform == "win32":
    import msvcrt

    _LOCKED_BYTE = 1 << 20
    """Far behind the process id: Windows lets nobody read a locked range."""

    def _try_lock(descriptor: int) -> bool:
        os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except PermissionError:
            return False
        finally:
            os.lseek(descriptor, 0, os.SEEK_SET)
        return True

else:
    import fcntl

    def _try_lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


LOCK_NAME = "instance.lock"


@contextmanager
def instance_lock(home: Path) -> Generator[None]:
    """Hold the one lock on `home`. Raises StoreError at once if another process holds it."""
    path = home / LOCK_NAME
    create_private_file(path)
    descriptor = os.open(path, os.O_RDWR)
    try:
        try:
            locked = _try_lock(descriptor)
        except OSError as error:
            raise StoreError(
                f"The directory {home} cannot be locked: {error.strerror}.",
                remedy="Point VERBATIM_HOME at a local disk; some network disks know no locks.",
            ) from error
        if not locked:
            raise HomeInUse(
                f"Another Verbatim process{_holder(descriptor)} is using the directory {home}.",
                remedy="Stop it first, or point VERBATIM_HOME at another directory.",
            )
        with suppress(OSError):  # a full disk has no room for it; it only tells who holds the lock
            os.ftruncate(descriptor, 0)
            os.write(descriptor, f"{os.getpid()}\n".encode())
        yield
    finally:
        os.close(descriptor)


def _holder(descriptor: int) -> str:
    """The process id in the file, as words; empty while its owner has not written it yet."""
    written = os.read(descriptor, 32).strip()
    return f" (process {written.decode()})" if written.isdigit() else ""
