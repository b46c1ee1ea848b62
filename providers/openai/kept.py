"""The HTTP client of an adapter, which survives servers that close the connections they keep.

Invariant: a request goes out a second time only if a connection that had carried others before was
closed before a byte of the answer came. llama.cpp's server, for one, closes it behind each streamed
answer, some milliseconds after the answer's end, and the next request of a turn is quicker.
"""

from typing import Any

import httpx2
from openai import DefaultAsyncHttpxClient

_CONNECTING = "connection.connect_tcp.started"


class KeptConnections(DefaultAsyncHttpxClient):
    """Sends a request anew where its connection turns out to be closed already."""

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """See httpx2.AsyncClient."""
        is_new = False

        async def trace(event: str, _: object) -> None:
            nonlocal is_new
            is_new = is_new or event == _CONNECTING

        request.extensions = {**request.extensions, "trace": trace}
        try:
            return await super().send(request, **options)
        except httpx2.RemoteProtocolError:
            if is_new:
                raise
        return await super().send(request, **options)
