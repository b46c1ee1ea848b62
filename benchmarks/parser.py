"""Measures the parser of tool calls, alone and beside others. Prints JSON.

    python -m benchmarks.parser               installs the peers at the first time
    python -m benchmarks.parser --alone       without them

The answer is 2,000 tokens long and ends with a call of 1,500; the prose is as long, without a
call. Times are processor times, the best of several turns. They differ from machine to machine
and from day to day; the ratios, each taken within one process, do not.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Mapping
from functools import partial
from statistics import fmean

from benchmarks import peer_packages
from benchmarks.answers import ANSWER_TOKENS, CHARACTERS_A_TOKEN, long_answer, prose
from benchmarks.peers import PEERS, TIMES, ratios
from benchmarks.readers import Verbatim, best_of, deltas, held_back
from prompt.values import Json

_PATIENCE = 1.5
_PEER_LIMIT = 600.0
_NOT_MEASURED: Mapping[str, Json] = {
    "vllm": "imports its engine, torch and compiled kernels with it: gigabytes",
    "sglang": "the package itself is an engine as well; its detectors are taken from "
    "llm-router-utils, which packages them alone",
    "llama.cpp, ollama": "their parsers are C++ and Go, without a Python interface of their own",
}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Measure the parser of tool calls.")
    parser.add_argument("--alone", action="store_true", help="without the peers")
    measured: dict[str, Json] = {
        "python": platform.python_version(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "verbatim": {
            f"{kind}, by {size}": _own(kind, size) for kind in ("call", "prose") for size in (4, 1)
        },
    }
    if not parser.parse_args().alone:
        peer_packages.install()
        measured["peers"] = {name: _peer(name) for name in PEERS}
        measured["not measured"] = _NOT_MEASURED
    print(json.dumps(measured, indent=2, ensure_ascii=False))


def _own(kind: str, size: int) -> Json:
    texts = [_text(kind, times) for times in TIMES]
    seconds = [best_of([Verbatim], deltas(text, size), _PATIENCE)[0] for text in texts]
    measured: dict[str, Json] = {
        "characters": len(texts[0]),
        "characters_a_second": round(len(texts[0]) / seconds[0]),
        "time_at_length": ratios(seconds),
    }
    if kind == "prose":
        held = held_back(texts[0], size)
        measured["characters_held_back"] = {"mean": round(fmean(held), 2), "most": max(held)}
    return measured


def _text(kind: str, times: int) -> str:
    if kind == "call":
        return long_answer("hermes", times).text
    return prose(ANSWER_TOKENS * CHARACTERS_A_TOKEN * times)


def _peer(name: str) -> Json:
    """A peer has a process of its own: none can break another, or keep the rest waiting."""
    run = partial(subprocess.run, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True)
    try:
        done = run([sys.executable, "-m", "benchmarks.peers", name], timeout=_PEER_LIMIT)
    except subprocess.CalledProcessError as error:
        lines = error.stderr.decode("utf-8", "replace").strip().splitlines()
        return {"does not run": lines[-1] if lines else f"status {error.returncode}"}
    except subprocess.TimeoutExpired:
        return {"does not run": f"no result within {_PEER_LIMIT:.0f} s"}
    return json.loads(done.stdout)


if __name__ == "__main__":
    main()
