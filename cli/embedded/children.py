"""How this package starts child processes: without the bot's secrets, and pip in one manner.

Invariant: no child inherits the Discord token or any of the bot's own settings.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]

_POLL = 0.1
_ERROR_MARK = "ERROR: "


class PipFailed(Exception):
    """pip ended with an error; the text is its own last word."""


def child_environment(**extra: str) -> Mapping[str, str]:
    """This process's environment without the bot's settings and keys, plus `extra`."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name != "DISCORD_TOKEN" and not name.startswith("VERBATIM_")
    }
    return {**kept, **extra}


def run_pip(
    arguments: Sequence[str], *, scratch: Path, tick: Callable[[], None] = lambda: None
) -> None:
    """Run this interpreter's pip until it ends, calling `tick` about ten times a second.

    pip keeps its temporary files below `scratch`, so they lie on the disk whose space was
    checked, and their growth can be watched. Which index it asks is decided by pip's own
    configuration. Raises PipFailed.
    """
    scratch.mkdir(parents=True, exist_ok=True)
    temporary = str(scratch)
    log = scratch / "pip.log"
    with log.open("wb") as errors:
        process = subprocess.Popen(  # noqa: S603 - our interpreter, arguments from this package
            [sys.executable, "-m", "pip", *arguments, "--quiet", "--no-input"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            env=child_environment(
                TMPDIR=temporary,
                TEMP=temporary,
                TMP=temporary,
                PIP_DISABLE_PIP_VERSION_CHECK="1",
            ),
        )
        try:
            while process.poll() is None:
                tick()
                time.sleep(_POLL)
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
    if process.returncode != 0:
        raise PipFailed(_last_word(log.read_text(encoding="utf-8", errors="replace")))


def _last_word(text: str) -> str:
    """pip's final error line; a missing pip says it without the mark."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith(_ERROR_MARK)]
    last = (errors or lines or ["it said nothing"])[-1]
    return last.removeprefix(_ERROR_MARK)
