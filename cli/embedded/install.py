"""Installs llama.cpp's server, an optional extra, once the operator has chosen it.

Invariant: only the version and the files that requirements-embedded.lock pins by hash are
installed, and nothing is compiled.
"""

import importlib
import importlib.metadata
import re
import tempfile
from pathlib import Path

from cli.embedded.children import REPOSITORY, PipFailed, run_pip
from cli.embedded.errors import InstallError

LOCK = REPOSITORY / "requirements-embedded.lock"
PACKAGE = "xllamacpp"


def installed() -> bool:
    """Whether this environment has the server in the pinned version."""
    pin = re.search(rf"^{PACKAGE}==(\S+)", LOCK.read_text(encoding="utf-8"), re.MULTILINE)
    try:
        return pin is not None and importlib.metadata.version(PACKAGE) == pin[1]
    except importlib.metadata.PackageNotFoundError:
        return False


def install() -> None:
    """Install the server into this environment; blocks until then. Raises InstallError."""
    with tempfile.TemporaryDirectory() as scratch:
        try:
            run_pip(
                [
                    *("install", "--require-hashes", "--only-binary", ":all:"),
                    *("--requirement", str(LOCK)),
                ],
                scratch=Path(scratch),
            )
        except PipFailed as error:
            raise InstallError(f"pip could not install {PACKAGE}: {error}") from error
    importlib.invalidate_caches()
