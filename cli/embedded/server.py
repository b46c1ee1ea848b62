"""The child process: llama.cpp's HTTP server with one model, on 127.0.0.1.

Invariant: it never outlives its parent. Its standard input is a pipe from the parent, and the
end of that pipe, however the parent ended, ends the server; so does SIGTERM. Standard output
carries one JSON line, `{"base_url", "model"}`, written when requests are accepted; everything
else that is printed, llama.cpp's own log included, goes to standard error.
"""

import argparse
import importlib
import json
import os
import signal
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import IO, Any

# A body in plain ChatML. It reads neither `tools` nor a message's `tool_calls`.
_PLAIN_TEMPLATE = (
    "{%- for message in messages %}"
    "{{ '<|im_start|>' + message.role + '\\n' + (message.content or '') + '<|im_end|>\\n' }}"
    "{%- endfor %}"
    "{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{%- endif %}"
)

_CONTEXT = 8192
_PROMPT_CACHE_MIB = 1024  # llama.cpp's own default, 8 GiB, is more than a small host has
_WARNINGS = 2  # llama.cpp's verbosity: a line a request (3) would grow the log without end


def main() -> None:
    """Serve until the parent goes away or SIGTERM comes."""
    arguments = _arguments()
    stop = threading.Event()

    def end(_signal: int, _frame: FrameType | None) -> None:
        stop.set()

    signal.signal(signal.SIGTERM, end)
    # Ctrl-C reaches the whole foreground group; there it means an answer, not the server.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with _take_stdout() as ready:
        # Held by name until the end: the server stops when this object is deleted.
        server = _start(arguments)
        report = {"base_url": f"{server.listening_address}/v1", "model": arguments.name}
        ready.write(json.dumps(report) + "\n")
    threading.Thread(target=_wait_for_parent, args=(stop,), daemon=True).start()
    stop.wait()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m cli.embedded.server", description=__doc__)
    parser.add_argument("--model", required=True, type=Path, help="path of a GGUF file")
    parser.add_argument("--name", required=True, help="what requests call the model")
    parser.add_argument("--plain-template", action="store_true", help="ChatML without tools")
    parser.add_argument("--context", type=int, default=_CONTEXT, help="window in tokens")
    parser.add_argument("--parallel", type=int, default=1, help="slots, each with that window")
    parser.add_argument("--threads", type=int, default=_cores(), help="default: all cores")
    return parser.parse_args()


def _cores() -> int:
    """Cores that this process may use, where the system tells."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _take_stdout() -> IO[str]:
    """A private copy of standard output; the descriptor itself then leads to standard error,
    so that nothing printed by the C++ code can be taken for the ready line."""
    private = os.dup(1)
    os.dup2(2, 1)
    return os.fdopen(private, "w", encoding="utf-8")


def _start(arguments: argparse.Namespace) -> Any:
    # Read by the OpenMP runtime when it is loaded. Threads that spin while they wait made the
    # server up to 35 times slower beside one other busy process.
    os.environ["OMP_WAIT_POLICY"] = "passive"
    os.environ["GOMP_SPINCOUNT"] = "0"
    llama = importlib.import_module("xllamacpp")  # by name: it is an optional extra
    params = llama.CommonParams()
    params.model.path = str(arguments.model)
    params.model_alias = {arguments.name}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = arguments.context * arguments.parallel
    params.n_parallel = arguments.parallel
    params.cache_ram_mib = _PROMPT_CACHE_MIB
    params.n_gpu_layers = 0
    params.cpuparams.n_threads = arguments.threads
    params.cpuparams_batch.n_threads = arguments.threads
    params.use_jinja = True
    params.endpoint_slots = False  # would show running prompts to anyone on this host
    params.verbosity = _WARNINGS
    if arguments.plain_template:
        params.chat_template = _PLAIN_TEMPLATE
    try:
        return llama.Server(params)
    except RuntimeError as error:
        # The reason is in the log lines above; a traceback would push it out of sight.
        raise SystemExit(str(error)) from None


def _wait_for_parent(stop: threading.Event) -> None:
    # The bare descriptor: a thread that waits inside sys.stdin's buffer at exit is fatal.
    while os.read(0, 1024):
        pass
    stop.set()


if __name__ == "__main__":
    main()
