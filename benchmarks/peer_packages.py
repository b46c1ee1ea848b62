"""Brings the peers onto this machine, apart from what Verbatim runs on.

Invariant: they lie in a folder of their own that only a peer's process has on its path, behind
everything else, and come from a lock with hashes and without their dependencies: those would be
gigabytes of inference engine, of which reading text needs nothing.
"""

import hashlib
import importlib.abc
import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / ".venv-bench"
LOCK = ROOT / "requirements-bench.lock"
_MARK = FOLDER / "installed"


def install() -> None:
    """Install what the lock names, unless it is there. Raises CalledProcessError."""
    wanted = hashlib.sha256(LOCK.read_bytes()).hexdigest()
    if _MARK.is_file() and _MARK.read_text(encoding="ascii") == wanted:
        return
    print(f"Installing the peers into {FOLDER} ...", file=sys.stderr, flush=True)
    shutil.rmtree(FOLDER, ignore_errors=True)
    command = [
        *(sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"),
        *("--no-deps", "--require-hashes", "--target", str(FOLDER)),
        *("--requirement", str(LOCK)),
    ]
    subprocess.run(command, check=True, stdout=sys.stderr)
    _MARK.write_text(wanted, encoding="ascii")


def make_importable(*, blank: Sequence[str] = (), shallow: Sequence[str] = ()) -> None:
    """Put the peers on the path of this process.

    `blank` modules are empty where they are not installed: the peer imports them but reads no
    text with them. `shallow` packages are entered without running their `__init__`, which would
    import the engine.
    """
    sys.path.append(str(FOLDER))
    sys.meta_path.append(_BlankModules(frozenset(blank)))
    for name in shallow:
        package = ModuleType(name)
        package.__path__ = [str(FOLDER.joinpath(*name.split(".")))]
        sys.modules[name] = package


class _BlankModule(ModuleType):
    """Has whatever name is asked of it, as an empty class."""

    def __getattr__(self, name: str) -> type:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


class _BlankModules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Stands last in line, so that it is only asked for what is not installed."""

    def __init__(self, names: frozenset[str]) -> None:
        self._names = names

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.partition(".")[0] not in self._names:
            return None
        return ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _BlankModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        pass
