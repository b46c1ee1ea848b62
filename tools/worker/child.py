"""The worker process: takes one job after another from its parent and answers each.

Invariant: it ends when its parent does. It holds no secret, since it is started with next to no
environment, and no more memory and computing time than it was allowed, where the system can be
told so (POSIX). Elsewhere the parent's clock and the ceilings of each job are what holds.
"""

import contextlib
import os
import queue
import signal
import sys
import threading
from typing import BinaryIO

from prompt.values import JsonObject
from tools.worker.framing import Broken, packed, read_frame
from tools.worker.jobs import JOBS
from tools.worker.refusing import JobRefused

SPARE_SECONDS = 2
"""Computing time beyond the parent's limit, so that it is the parent who tells."""

OUT_OF_MEMORY = "It takes more memory to read than is allowed. Send a smaller or simpler one."
TOO_DEEP = "It is nested too deeply to be read."
DAMAGED = "It is damaged, or not what its name says. Save it anew, or send it in another format."


def main() -> None:
    """Work until the parent closes the pipe."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints must not get between the frames
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal, which means the parent
    _limit_memory(int(sys.argv[1]))
    # Told in mid-job too: a read that fails ends the process, whatever the job is busy with.
    waiting: queue.SimpleQueue[tuple[JsonObject, bytes]] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(sys.stdin.buffer, waiting), daemon=True).start()
    while True:
        fields, data = waiting.get()
        _limit_time(fields["seconds"])
        answer = _answer(fields, data)
        answers.write(packed(answer))
        answers.flush()
        if answer.get("last"):
            os._exit(1)


def _listen(stream: BinaryIO, waiting: "queue.SimpleQueue[tuple[JsonObject, bytes]]") -> None:
    try:
        while True:
            waiting.put(read_frame(stream))
    except (Broken, OSError, MemoryError):
        os._exit(0)


def _answer(fields: JsonObject, data: bytes) -> JsonObject:
    """The answer; `last` tells that the process is not fit for another job."""
    try:
        return {"done": JOBS[fields["job"]](fields["arguments"], data)}
    except JobRefused as refusal:
        return {"refused": str(refusal)}
    except MemoryError:
        return {"refused": OUT_OF_MEMORY, "last": True}
    except RecursionError:
        return {"refused": TOO_DEEP}
    except Exception as error:
        # Libraries fail on damaged files in every way that there is, and their words may quote
        # the file; the kind of error is all that may be logged.
        return {"refused": DAMAGED, "error": type(error).__name__}


def _limit_memory(most: int) -> None:
    if sys.platform != "win32":
        import resource

        with contextlib.suppress(
            ValueError, OSError
        ):  # macOS knows the limit and refuses to set it
            resource.setrlimit(resource.RLIMIT_AS, (most, most))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _limit_time(seconds: float) -> None:
    """Let the system end this process when one job computes for too long, parent or none."""
    if sys.platform != "win32":
        import resource

        used = resource.getrusage(resource.RUSAGE_SELF)
        until = int(used.ru_utime + used.ru_stime) + int(seconds) + SPARE_SECONDS
        with contextlib.suppress(ValueError, OSError):
            _, hard = resource.getrlimit(resource.RLIMIT_CPU)
            resource.setrlimit(resource.RLIMIT_CPU, (until, hard))


if __name__ == "__main__":
    main()
