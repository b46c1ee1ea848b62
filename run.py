"""Makes the environment that Verbatim runs in, keeps it up to date, and starts bot.py there.

    python run.py [ARGUMENT ...]    start bot.py with these arguments
    python run.py --install-only    make the environment and stop
    python run.py --dev ...         install what development needs, too

Invariant: `.venv/installed` names a lock only while all of that lock is installed. The mark is
emptied before anything changes and written last, so an installation that was cut off, by
whatever, is taken up again. Nothing but the standard library and what Python 3.8 understands:
an interpreter that is too old must get far enough to say so.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

OLDEST, NEWEST = (3, 11), (3, 13)

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
MARK = VENV / "installed"
LOG = VENV / "install.log"
RUNTIME_LOCK = ROOT / "requirements-runtime.lock"
FULL_LOCK = ROOT / "requirements.lock"
"""Holds everything that the runtime lock holds, in the same versions."""

_INTERRUPTED = 130
_PROBE = (
    "import sys; from importlib.util import find_spec; "
    "print(*sys.version_info[:2], *(int(find_spec(m) is not None) for m in ('ensurepip', 'pip')))"
)
_NO_ANSWER = re.compile(
    r"connection broken|max retries|timed out|from versions: none", re.IGNORECASE
)


class Trouble(Exception):
    """Why Verbatim cannot start here, and what to do about it, in one line."""


class Interpreter(NamedTuple):
    """A Python that answered, and what it is good for."""

    command: list[str]
    version: tuple[int, int]
    has_ensurepip: bool
    has_pip: bool

    @property
    def fits(self) -> bool:
        """Whether Verbatim runs on this version."""
        return OLDEST <= self.version <= NEWEST


def main(arguments: Sequence[str]) -> int:
    """Do what the arguments say; returns the exit status."""
    rest = list(arguments)
    flags: set[str] = set()
    while rest and rest[0] in {"--dev", "--install-only"}:
        flags.add(rest.pop(0))
    try:
        prepare(FULL_LOCK if "--dev" in flags else RUNTIME_LOCK)
    except Trouble as trouble:
        print(trouble, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nInterrupted. The next start takes it up again.", file=sys.stderr)
        return _INTERRUPTED
    if "--install-only" in flags:
        return 0
    return start([str(PYTHON), str(ROOT / "bot.py"), *rest])


def prepare(lock: Path) -> None:
    """Bring the environment to what `lock` says, unless it is there already. Raises Trouble."""
    python = probe([str(PYTHON)])
    if python is not None and not (python.fits and python.has_pip):
        python = None
    marked = _marked()
    if python and marked in {_mark(lock, python), _mark(FULL_LOCK, python)}:
        return
    maker = None if python else choose()
    _write_mark("")
    what = "Bringing the packages up to date" if marked else "Installing what Verbatim needs"
    print(f"{what} in {VENV}; this can take some minutes ...", file=sys.stderr, flush=True)
    if maker:
        _run([*maker.command, "-m", "venv", "--clear", str(VENV)])
        python = probe([str(PYTHON)])
    if python is None:
        raise Trouble(f"{PYTHON} does not run, though it was just made. Install Python anew.")
    _run(
        [
            *(str(PYTHON), "-m", "pip", "install", "--quiet", "--no-input"),
            *("--disable-pip-version-check", "--require-hashes", "--requirement", str(lock)),
        ]
    )
    _write_mark(_mark(lock, python))


def choose() -> Interpreter:
    """The interpreter to make the environment with: this one, or else the newest that fits.

    Raises Trouble if there is none.
    """
    incomplete = None
    for command in _candidates():
        found = probe(command)
        if found and found.fits:
            if found.has_ensurepip:
                return found
            incomplete = incomplete or found
    if incomplete:
        version = _dotted(incomplete.version)
        raise Trouble(
            f"Python {version} is here, but cannot make environments. On Debian and Ubuntu: "
            f"apt install python3-venv (or python{version}-venv). Elsewhere: install all of Python."
        )
    here = sys.version_info[:2]
    fault = "too old" if here < OLDEST else "too new"
    raise Trouble(
        f"Verbatim needs Python {_dotted(OLDEST)} to {_dotted(NEWEST)}; this is Python "
        f"{_dotted(here)}, which is {fault}, and no other was found. Install Python "
        f"{_dotted(NEWEST)} beside it, then start again."
    )


def probe(command: list[str]) -> Interpreter | None:
    """What the interpreter behind `command` is; None if there is none that runs."""
    try:
        answer = subprocess.run(
            [*command, "-I", "-c", _PROBE],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            check=False,
        )
    except OSError:
        return None
    words = answer.stdout.split()
    if answer.returncode != 0 or len(words) != 4:
        return None  # a launcher or shim whose interpreter is not installed
    major, minor, has_ensurepip, has_pip = map(int, words)
    return Interpreter(command, (major, minor), bool(has_ensurepip), bool(has_pip))


def start(command: list[str]) -> int:
    """Become `command`, or wait for it where processes cannot turn into others."""
    # Windows would read and write text in the code page of its region.
    os.environ.setdefault("PYTHONUTF8", "1")
    if os.name != "nt":
        os.execv(command[0], command)
    return wait_for(command)


def wait_for(command: list[str]) -> int:
    """Run `command` to its end and return its exit status.

    Ctrl-C reaches every process of a console; what it means is the command's to decide.
    """
    # Not by catching KeyboardInterrupt: raised just as the status was read, it would lose it. A
    # handler is not passed on to the command.
    before = signal.signal(signal.SIGINT, lambda _signal, _frame: None)
    try:
        return subprocess.run(command, check=False).returncode
    finally:
        signal.signal(signal.SIGINT, before)


def _candidates() -> Iterator[list[str]]:
    yield [sys.executable]
    for minor in range(NEWEST[1], OLDEST[1] - 1, -1):
        if os.name == "nt":
            yield ["py", f"-3.{minor}"]
        yield [f"python3.{minor}"]


def _marked() -> str:
    """What the mark says; empty if the environment was never finished, or not by this program."""
    try:
        return MARK.read_text(encoding="ascii")
    except (OSError, ValueError):
        return ""


def _mark(lock: Path, python: Interpreter) -> str:
    """Names the lock, and the version: after an upgrade of the system's Python, an environment
    has an interpreter that does not look where its packages lie."""
    return f"{hashlib.sha256(lock.read_bytes()).hexdigest()} {_dotted(python.version)}\n"


def _write_mark(text: str) -> None:
    try:
        VENV.mkdir(exist_ok=True)
        MARK.write_text(text, encoding="ascii")
    except OSError as error:
        raise Trouble(
            f"{error.filename or MARK} cannot be written: {error.strerror}. Give this user the "
            f"right to write to {ROOT} and all of {VENV}, or clone Verbatim to a place that has it."
        ) from error


def _run(command: list[str]) -> None:
    """Run a step of the installation without a word, unless it fails. Raises Trouble."""
    # A user's pip.conf may ask for --user, which environments refuse.
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, "PIP_USER": "0"},
        check=False,
    )
    if done.returncode == 0:
        return
    said = done.stdout.decode("utf-8", "replace")
    with contextlib.suppress(OSError):
        LOG.write_text(said, encoding="utf-8")
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith("error")]
    last = (errors or lines or [f"exit status {done.returncode}"])[-1]
    remedy = (
        "Check this machine's network, and HTTPS_PROXY if it is behind a proxy"
        if _NO_ANSWER.search(said)
        else f"Read {LOG}, put right what it names"
    )
    raise Trouble(f"The installation failed. {last[:300]}. {remedy}, then start again.")


def _dotted(version: tuple[int, int]) -> str:
    return f"{version[0]}.{version[1]}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
