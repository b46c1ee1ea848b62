"""The HTTP client of an adapter, which survives servers that close the connections they keep.

Invariant: a request goes out a second time, and no third one, only if it went out on a connection
that had carried others before, and the server closed that without a word. A connection that is
new, an answer that has begun, or one that is no HTTP fails as it is. (An answer that breaks off
within its first headers counts as none: the layers below do not tell the two apart.)

llama.cpp's server, for one, closes a connection behind each streamed answer, some milliseconds
after the answer's end, and the next request of a turn is quicker.
"""

from typing import Any

import httpx2
from openai import DefaultAsyncHttpxClient

_CONNECTING = "connection.connect_tcp.started"
_ANSWERED = "http11.receive_response_headers.complete"

_WITHOUT_A_WORD = "without sending a response"
"""In the words of RemoteProtocolError where the connection ended before an answer; others of its
kind tell of answers that cannot be read."""


class KeptConnections(DefaultAsyncHttpxClient):
    """Sends a request anew where its connection turns out to be closed already."""

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """See httpx2.AsyncClient."""
        is_new = is_answered = False

        async def trace(event: str, _: object) -> None:
            nonlocal is_new, is_answered
            is_new = is_new or event == _CONNECTING
            is_answered = is_answered or event == _ANSWERED

        request.extensions = {**request.extensions, "trace": trace}
        try:
            return await super().send(request, **options)
        except (httpx2.RemoteProtocolError, httpx2.ReadError, httpx2.WriteError) as error:
            unreadable = isinstance(error, httpx2.RemoteProtocolError) and (
                _WITHOUT_A_WORD not in str(error)
            )
            if is_new or is_answered or unreadable:
                raise
        return await super().send(request, **options)
