"""Stands in for the optional extra in the server's child process.

It listens on a real socket and answers nothing. The model file's name chooses how a start
goes: `crash`, `hang` or `stubborn`, anything else is a good one.
"""

import json
import os
import signal
import socket
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any


class CommonParams(SimpleNamespace):
    """Takes whatever is set, like the real one."""

    def __init__(self) -> None:
        super().__init__(
            model=SimpleNamespace(), cpuparams=SimpleNamespace(), cpuparams_batch=SimpleNamespace()
        )


class Server:
    """Listens from construction to deletion."""

    def __init__(self, params: Any) -> None:
        os.write(1, b"chatter on the standard output\n")
        manner = Path(params.model.path).stem
        if manner == "crash":
            raise RuntimeError("no server today")
        self._socket = socket.create_server((params.hostnames[0], params.port))
        host, port = self._socket.getsockname()
        self.listening_address = f"http://{host}:{port}"
        self._report(params)
        if manner == "hang":
            time.sleep(60)
        if manner == "stubborn":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            os.dup2(os.pipe()[0], 0)  # an input that never ends

    def _report(self, params: Any) -> None:
        report = {
            "address": self.listening_address,
            "params": params,
            "environment": sorted(os.environ),
            "spin": [os.environ["OMP_WAIT_POLICY"], os.environ["GOMP_SPINCOUNT"]],
        }
        sys.stderr.write(json.dumps(report, default=_plain) + "\n")
        sys.stderr.flush()


def _plain(value: Any) -> Any:
    return vars(value) if isinstance(value, SimpleNamespace) else list(value)
