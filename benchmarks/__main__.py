"""Runs the benchmark scripts and prints what they measured as one JSON object.

    python -m benchmarks            all of them
    python -m benchmarks parser     those that are named

Invariant: each script runs in a process of its own, so that none warms or burdens the next, and
what one measured is printed whatever becomes of the others.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence

from prompt.values import Json

SCRIPTS: Mapping[str, Sequence[str]] = {
    "parser": (),
    "retrieval": (),
    "prefix_cache": (),
    "tool_success": (),
    "load": (),
    "chaos": (),
    "crash": ("--turns", "40"),
}
"""By name, with arguments: those that take long are short here. docs/reliability.md has the long
form of each."""

# Threads of numpy's that wait for a core by spinning make small products slower, many times over
# on a machine that does something else as well.
_ENVIRONMENT = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}


def main(names: Sequence[str]) -> int:
    """Run all the scripts; the exit status is that of the first that failed."""
    unknown = [name for name in names if name not in SCRIPTS]
    if unknown:
        print(f"There is no benchmark {unknown[0]}. There are: {', '.join(SCRIPTS)}.")
        return 2
    results: dict[str, Json] = {}
    status = 0
    for name in names or SCRIPTS:
        command = [sys.executable, "-m", f"benchmarks.{name}", *SCRIPTS[name]]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=False, env=_ENVIRONMENT)
        if done.returncode != 0:
            print(f"benchmarks.{name} ended with status {done.returncode}.", file=sys.stderr)
            status = status or done.returncode
        # One that missed a goal has measured all the same.
        results[name] = _measured(done.stdout)
    print(json.dumps(results, indent=2))
    return status


def _measured(printed: bytes) -> Json:
    """What a script printed, None where it broke before it did."""
    try:
        return json.loads(printed)
    except ValueError:
        return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
