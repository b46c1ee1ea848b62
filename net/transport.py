"""Carries requests to vetted addresses alone.

Invariant: the address that was checked is the address that is connected to, at each connection
anew; the Host header and the name that the certificate must show stay those of the URL. Neither
a proxy nor a redirect leads elsewhere: no proxy is used, and a redirect is an answer like any
other, which is the client's to leave alone.
"""

import httpx2

from net.guard import AddressRefused, Resolve, vetted_addresses


class PinnedTransport(httpx2.AsyncBaseTransport):
    """For an httpx2 client that talks to one origin.

    `allow_private` lets it reach the bot's own machine and networks. A refusal leaves as a
    ConnectError with the AddressRefused as its cause.
    """

    def __init__(self, *, allow_private: bool, resolve: Resolve | None = None) -> None:
        self._allow_private = allow_private
        self._resolve = resolve
        self._inner = httpx2.AsyncHTTPTransport()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send the request to the first address that accepts a connection."""
        try:
            addresses = await vetted_addresses(
                request.url, allow_private=self._allow_private, resolve=self._resolve
            )
        except (AddressRefused, OSError) as error:
            raise httpx2.ConnectError(str(error), request=request) from error
        failure: httpx2.TransportError | None = None
        for address in addresses:
            try:
                return await self._inner.handle_async_request(_pinned(request, address))
            except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
                failure = error  # nothing was sent yet, so the next address may be tried
        raise failure or httpx2.ConnectError("the host has no address", request=request)

    async def aclose(self) -> None:
        """Close every connection."""
        await self._inner.aclose()


def _pinned(request: httpx2.Request, address: str) -> httpx2.Request:
    """The request with an address in place of the name; its headers keep the name."""
    return httpx2.Request(
        request.method,
        request.url.copy_with(host=address),
        headers=request.headers,
        stream=request.stream,
        extensions={**request.extensions, "sni_hostname": request.url.raw_host.decode("ascii")},
    )
