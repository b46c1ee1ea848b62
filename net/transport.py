"""Carries requests to vetted addresses alone.

Invariant: the address that was checked is the address that is connected to, at each connection
anew; the Host header and the name that the certificate must show stay those of the URL. Neither
a proxy nor a redirect leads elsewhere: no proxy is used, and a redirect is an answer like any
other, which is the client's to leave alone.
"""

from collections.abc import AsyncIterator

import httpx2

from net.guard import AddressRefused, Resolve, vetted_addresses

LARGEST_ANSWER = 32 * 1024 * 1024
"""Bytes. No model writes so much in one answer; a hostile server would fill the memory."""


class PinnedTransport(httpx2.AsyncBaseTransport):
    """For an httpx2 client. `allow_private` lets it reach the bot's own machine and networks.

    A refusal leaves as a ConnectError with the AddressRefused as its cause, an answer that is
    longer than `largest` bytes as a ReadError, and so does one that is compressed, which was not
    asked for, unless `takes_compressed` tells that the caller counts while unpacking.
    """

    def __init__(
        self,
        *,
        allow_private: bool,
        resolve: Resolve | None = None,
        largest: int = LARGEST_ANSWER,
        takes_compressed: bool = False,
    ) -> None:
        self._allow_private = allow_private
        self._takes_compressed = takes_compressed
        self._resolve = resolve
        self._largest = largest
        # One for each name: two names at one address must not share a connection, whose
        # certificate was checked for one of them.
        self._inner: dict[bytes, httpx2.AsyncHTTPTransport] = {}

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send the request to the first address that accepts a connection."""
        try:
            addresses = await vetted_addresses(
                request.url, allow_private=self._allow_private, resolve=self._resolve
            )
        except (AddressRefused, OSError) as error:
            raise httpx2.ConnectError(str(error), request=request) from error
        if (inner := self._inner.get(request.url.raw_host)) is None:
            inner = self._inner[request.url.raw_host] = httpx2.AsyncHTTPTransport()
        failure: httpx2.TransportError | None = None
        for address in addresses:
            try:
                response = await inner.handle_async_request(_pinned(request, address))
            except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
                failure = error  # nothing was sent yet, so the next address may be tried
            else:
                return await self._bounded(response, request)
        raise failure or httpx2.ConnectError("the host has no address", request=request)

    async def aclose(self) -> None:
        """Close every connection."""
        for inner in self._inner.values():
            await inner.aclose()

    async def _bounded(self, response: httpx2.Response, request: httpx2.Request) -> httpx2.Response:
        # A few compressed kilobytes can stand for gigabytes, before anyone counts.
        compressed = response.headers.get("content-encoding", "identity") != "identity"
        if compressed and not self._takes_compressed:
            await response.aclose()
            raise httpx2.ReadError("the answer is compressed", request=request)
        return httpx2.Response(
            response.status_code,
            headers=response.headers,
            stream=_Bounded(response, self._largest, request),
            extensions=response.extensions,
        )


class _Bounded(httpx2.AsyncByteStream):
    """The body of an answer, up to so many bytes."""

    def __init__(self, response: httpx2.Response, largest: int, request: httpx2.Request) -> None:
        self._response = response
        self._left = largest
        self._request = request

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for data in self._response.aiter_raw():
            self._left -= len(data)
            if self._left < 0:
                raise httpx2.ReadError("the answer is too long", request=self._request)
            yield data

    async def aclose(self) -> None:
        await self._response.aclose()


def _pinned(request: httpx2.Request, address: str) -> httpx2.Request:
    """The request with an address in place of the name; its headers keep the name."""
    headers = request.headers.copy()
    headers["Accept-Encoding"] = "identity"
    return httpx2.Request(
        request.method,
        request.url.copy_with(host=address),
        headers=headers,
        stream=request.stream,
        extensions={**request.extensions, "sni_hostname": request.url.raw_host.decode("ascii")},
    )
