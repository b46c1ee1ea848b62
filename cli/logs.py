"""Where the log goes: to the terminal, and to files in the home directory.

Invariant: what is logged anywhere holds no message text, keys or tokens. Here it is filtered by
weight, gets the turn to which it belongs, and secrets that slipped in all the same are blotted out.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from chat.at_work import turn_at_work
from data.errors import StoreError

if TYPE_CHECKING:
    # For types alone, so that commands that log nothing start at once.
    from data.settings import Settings

_BYTES = 2_000_000
_FILES = 3


def log_as_set(settings: Settings) -> None:
    """Log as the operator has set. Raises StoreError; see `log_to`."""
    log_to(
        settings.home,
        settings.log_level,
        # With a token the terminal belongs to the operator, without one to the chat.
        chatting=settings.discord_token is None,
        form=settings.log_form,
        secrets=settings.secrets(),
    )


def log_to(
    home: Path,
    level: str,
    *,
    chatting: bool,
    form: Literal["text", "json"] = "text",
    secrets: Sequence[str] = (),
) -> None:
    """Log from `level` on to `home`/logs and to the terminal; there only errors if it is
    `chatting` with somebody. Raises StoreError if the directory cannot be written."""
    folder = home / "logs"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = _File(folder / "verbatim.log", maxBytes=_BYTES, backupCount=_FILES, encoding="utf-8")
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
    secrets = sorted(filter(None, secrets), key=len, reverse=True)  # one may hold another
    shape = _Json(secrets) if form == "json" else _Lines(secrets)
    for handler in (terminal, file):
        handler.addFilter(_with_turn)
        handler.setFormatter(shape)
        root.addHandler(handler)


class _File(RotatingFileHandler):
    """Says once that it cannot be written, rather than with a traceback for each line."""

    _is_told = False

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 (logging's name)
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            super().handleError(record)
        elif not self._is_told:
            self._is_told = True
            print(f"The log cannot be written to {self.baseFilename}: {error}", file=sys.stderr)


def _with_turn(record: logging.LogRecord) -> bool:
    """Note the turn in which something is logged; it is asked for where that happens."""
    record.turn = turn_at_work.get()
    return True


class _Lines(logging.Formatter):
    """For people: a line each."""

    def __init__(self, secrets: Sequence[str]) -> None:
        super().__init__("%(asctime)s %(levelname)-7s %(name)s: %(in_turn)s%(message)s")
        self._secrets = secrets

    def format(self, record: logging.LogRecord) -> str:
        turn = getattr(record, "turn", None)
        record.in_turn = "" if turn is None else f"[turn {turn}] "
        return _blotted(super().format(record), self._secrets)


class _Json(logging.Formatter):
    """For programs: a JSON object each, on a line of its own."""

    def __init__(self, secrets: Sequence[str]) -> None:
        super().__init__()
        self._secrets = secrets

    def format(self, record: logging.LogRecord) -> str:
        told: dict[str, str] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": _blotted(record.getMessage(), self._secrets),
        }
        if (turn := getattr(record, "turn", None)) is not None:
            told["turn"] = str(turn)  # too large for the numbers of some readers
        if record.exc_info:
            told["traceback"] = _blotted(self.formatException(record.exc_info), self._secrets)
        return json.dumps(told)


def _blotted(text: str, secrets: Sequence[str]) -> str:
    for secret in secrets:
        text = text.replace(secret, "[secret]")
    return text
