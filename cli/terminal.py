"""The edge to the terminal: lines in without blocking, foreign text out without side effects.

Invariant: what a model, a tool or an endpoint wrote reaches the terminal as characters to read,
never as control sequences.
"""

import asyncio
import codecs
import io
import os
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import TextIO

_KEPT = {0x09, 0x0A}
_DROPPED = dict.fromkeys(
    code
    for code in (
        *range(0x20),  # C0: escape sequences begin here
        *range(0x7F, 0xA0),  # delete and C1
        *range(0x202A, 0x202F),  # bidirectional embeddings and overrides
        *range(0x2066, 0x206A),  # bidirectional isolates
    )
    if code not in _KEPT
)


def printable(text: str) -> str:
    """`text` without control characters other than newline and tab."""
    return text.translate(_DROPPED)


def one_line(text: str, limit: int) -> str:
    """`text` printable, on one line, cut to `limit` characters."""
    flat = " ".join(printable(text).split())
    return flat if len(flat) <= limit else flat[: limit - 3] + "..."


def write_anything(stream: TextIO) -> None:
    """Let `stream` replace what its encoding lacks: a model may write any character."""
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="replace")


def forsake(stream: TextIO) -> None:
    """Send what `stream` still holds nowhere: its reader is gone, and closing it would fail."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


@contextmanager
def closing_descriptor(descriptor: int) -> Generator[None]:
    """Close a file descriptor in the end."""
    try:
        yield
    finally:
        os.close(descriptor)


class InputLines:
    """Lines of an input stream for a running event loop.

    A thread reads the stream's input until it ends, so whatever is typed while an answer
    runs waits in line. A terminal read cannot be called off: the thread lives as long as
    the input or the process, and nothing else may read the stream meanwhile. It reads a
    descriptor of its own: the stream's number may be another file's once the stream is closed.
    """

    def __init__(self, stream: TextIO) -> None:
        self._descriptor = os.dup(stream.fileno())
        self._encoding = os.device_encoding(self._descriptor) or stream.encoding
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()
        threading.Thread(target=self._read, name="console input", daemon=True).start()

    async def next(self) -> str | None:
        """The next line without its line end; None once the input has ended."""
        return await self._lines.get()

    def end(self) -> None:
        """Make `next` return None as soon as the lines before are taken."""
        self._lines.put_nowait(None)

    def _read(self) -> None:
        # Past the stream's own buffer, whose lock a blocked thread would hold at exit.
        decoder = codecs.getincrementaldecoder(self._encoding)("replace")
        rest = ""
        # RuntimeError: the loop was closed, and nobody listens any more.
        with closing_descriptor(self._descriptor), suppress(RuntimeError):
            while data := self._read_some():
                *lines, rest = (rest + decoder.decode(data)).split("\n")
                for line in lines:
                    self._loop.call_soon_threadsafe(self._lines.put_nowait, line.rstrip("\r"))
            if rest:
                self._loop.call_soon_threadsafe(self._lines.put_nowait, rest)
            self._loop.call_soon_threadsafe(self._lines.put_nowait, None)

    def _read_some(self) -> bytes:
        try:
            return os.read(self._descriptor, 4096)
        except OSError:  # the terminal is gone
            return b""
