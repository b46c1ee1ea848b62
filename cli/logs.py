"""Where the log goes: to the terminal, and to files in the home directory.

Invariant: what is logged anywhere holds no message text, keys or tokens; here it is only
filtered by weight.
"""

import logging
import sys
from logging.handlers import RotatingFileHandler
from pathlib import Path

from data.errors import StoreError

_BYTES = 2_000_000
_FILES = 3


def log_to(home: Path, level: str, *, chatting: bool) -> None:
    """Log from `level` on to `home`/logs and to the terminal; there only errors if it is
    `chatting` with somebody. Raises StoreError if the directory cannot be written."""
    folder = home / "logs"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = RotatingFileHandler(
            folder / "verbatim.log", maxBytes=_BYTES, backupCount=_FILES, encoding="utf-8"
        )
    except OSError as error:
        raise StoreError(
            f"{folder} cannot be written: {error.strerror}.",
            remedy="Give the user that runs Verbatim the right to write there, or point "
            "VERBATIM_HOME at another directory.",
        ) from error
    terminal = logging.StreamHandler(sys.stderr)
    if chatting:
        terminal.setLevel(logging.ERROR)
    root = logging.getLogger()
    root.setLevel(level.upper())
    # It names every request's address at INFO; the adapter says what matters.
    logging.getLogger("httpx2").setLevel(logging.WARNING)
    shape = logging.Formatter("%(asctime)s %(levelname)-7s %(name)s: %(message)s")
    for handler in (terminal, file):
        handler.setFormatter(shape)
        root.addHandler(handler)
