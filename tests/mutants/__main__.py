"""Applies each mutation in a copy of the tree, runs the tests there, and prints a table.

    python -m tests.mutants             all
    python -m tests.mutants WORD ...    those whose rule or file has one of the words

A mutation that no test notices is a hole in the tests, and fails the run. So does a mutation
whose anchor does not stand in its file exactly once, or that breaks more than it should: tests
must fail, not be impossible to collect.

Invariant: the tree itself is never touched. Each run has a time limit, so that a mutation that
never ends counts as noticed.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.mutants.mutations import MUTATIONS, Mutation

ROOT = Path(__file__).resolve().parents[2]
_COPIED = ("pyproject.toml", "prompt", "providers", "data", "net", "tools", "chat", "tests")
_TIME_LIMIT = 120.0
_PYTEST = (
    *("-m", "pytest", "-x", "-q", "--no-header", "--tb=no", "-p", "no:cacheprovider"),
    # These measure time, which a mutation seldom touches and a busy machine often does.
    *("-k", "not eight_times_the_text"),
)
_TESTS_FAILED = 1
_FAILED = re.compile(r"^FAILED \S*?([\w.]+)::(\w+)(?:\[(.*?)\](?= - |$))?", re.MULTILINE)
_CORPUS_CASE = re.compile(r"(\w+):\d+: (.*)")


class Faulty(Exception):
    """A mutation is not what it should be, or the tests fail without any."""


def main(words: Sequence[str]) -> int:
    """Run the mutations that are asked for; the exit status."""
    chosen = [m for m in MUTATIONS if not words or any(w in f"{m.rule} {m.file}" for w in words)]
    try:
        survivors = _run(chosen)
    except Faulty as fault:
        print(fault, file=sys.stderr)
        return 2
    print(f"\n{len(chosen) - survivors} of {len(chosen)} were noticed.")
    return 1 if survivors else 0


def _run(chosen: Sequence[Mutation]) -> int:
    """Try the mutations, printing a row each; how many went unnoticed. Raises Faulty."""
    misplaced = [
        m for m in chosen if (ROOT / m.file).read_text(encoding="utf-8").count(m.before) != 1
    ]
    if misplaced:
        raise Faulty("\n".join(f"{m.file}: not in one place: {m.dropped}" for m in misplaced))
    survivors = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        copy_tree(copy)
        for tests in sorted({m.tests for m in chosen}):
            if first_failure(copy, tests):
                raise Faulty(f"{tests} fails without a mutation")
        print("| rule | what was dropped | noticed by |\n|---|---|---|")
        for mutation in chosen:
            noticed = tried(copy, mutation, mutation.tests)
            survivors += not noticed
            row = (mutation.rule, mutation.dropped, noticed or "**nothing**")
            print(f"| {' | '.join(row)} |", flush=True)
    return survivors


def copy_tree(to: Path) -> None:
    """What the tests need of the tree, in a folder of its own."""
    ignored = shutil.ignore_patterns("__pycache__", ".*")
    for name in _COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, to / name, ignore=ignored)
        else:
            shutil.copy2(source, to / name)


def tried(copy: Path, mutation: Mutation, *tests: str) -> str:
    """The first of `tests` that notices the mutation; empty if none does. Raises Faulty."""
    path = copy / mutation.file
    healthy = path.read_text(encoding="utf-8")
    path.write_text(healthy.replace(mutation.before, mutation.after), encoding="utf-8")
    try:
        return first_failure(copy, *tests)
    finally:
        path.write_text(healthy, encoding="utf-8")


def first_failure(copy: Path, *tests: str) -> str:
    """The first of `tests` that fails in the copy; empty if none does. Raises Faulty."""
    command = [sys.executable, *_PYTEST, *tests]
    environ = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            command, cwd=copy, env=environ, capture_output=True, timeout=_TIME_LIMIT, check=False
        )
    except subprocess.TimeoutExpired:
        return f"no end within {_TIME_LIMIT:.0f} s"
    if done.returncode == 0:
        return ""
    said = done.stdout.decode("utf-8", "replace")
    failed = _FAILED.search(said)
    if done.returncode != _TESTS_FAILED or failed is None:
        raise Faulty(said)
    case = _CORPUS_CASE.fullmatch(failed.group(3) or "")
    if case:
        return f"corpus, {case.group(1)}: {case.group(2)}"
    return f"`{failed.group(1)}::{failed.group(2)}`"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
