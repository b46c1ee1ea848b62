"""Fetches what a model or a member named: public pages, and answers of services.

Invariant: each address is vetted at the moment of its connection, that of every redirect anew.
Nothing is sent but the request: no cookie, no referrer, no credentials of this machine, through no
proxy. Bytes are counted as they unpack, and reading ends when there are too many.
"""

import asyncio
import zlib
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx2

from net.guard import AddressRefused, AddressUnknown, Resolve, check_url
from net.transport import PinnedTransport

LARGEST_PAGE = 2 * 1024 * 1024
"""Bytes, unpacked."""

PAGE_SECONDS = 15.0
MOST_REDIRECTS = 3

_CONNECT_SECONDS = 10.0
_AGENT = "Mozilla/5.0 (compatible; Verbatim; Discord bot)"
"""Names what asks; many sites answer nothing to a client that does not look like a browser."""

_REDIRECTS = {301, 302, 303, 307, 308}
_TEXTUAL = {
    "application/json",
    "application/ld+json",
    "application/xml",
    "application/xhtml+xml",
    "application/rss+xml",
    "application/atom+xml",
    "application/javascript",
    "application/x-javascript",
    "application/yaml",
    "application/x-yaml",
    "application/toml",
    "application/x-sh",
    "application/sql",
    "application/pdf",
}


class FetchFailed(Exception):
    """What could not be fetched. The text says why, in words fit for a model and for members."""


class FetchBlocked(FetchFailed):
    """An address that is not fetched from. Nothing was sent to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """A page: where redirects led, the type that the server claims, with parameters, and bytes."""

    url: str
    content_type: str
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a service answered."""

    status: int
    content_type: str
    data: bytes


class Fetcher:
    """Fetches on behalf of guilds. `resolve` finds addresses; the default asks the system.

    `allow_private` lets pages come from the bot's own machine and networks.
    """

    def __init__(self, *, resolve: Resolve | None = None, allow_private: bool = False) -> None:
        self._resolve = resolve
        self._allow_private = allow_private

    async def page(self, url: str, *, seconds: float = PAGE_SECONDS) -> Fetched:
        """A page of text, or a PDF. Raises FetchFailed."""
        async with _within(seconds):
            for _ in range(MOST_REDIRECTS + 1):
                await self._vet(url)
                async with self._opened(
                    httpx2.Request("GET", url, headers=_page_headers()),
                    allow_private=self._allow_private,
                ) as response:
                    if (target := _redirect(response, url)) is None:
                        return Fetched(
                            url=url,
                            content_type=_checked_type(response),
                            data=await _body(response, LARGEST_PAGE),
                        )
                url = target
        raise FetchFailed(f"The page redirects more than {MOST_REDIRECTS} times.")

    async def file(self, url: str, *, most: int, seconds: float = PAGE_SECONDS) -> bytes:
        """A file of any type with at most `most` bytes, without redirects. Raises FetchFailed."""
        async with _within(seconds):
            await self._vet(url)
            request = httpx2.Request("GET", url, headers={"User-Agent": _AGENT})
            async with self._opened(request, allow_private=self._allow_private) as response:
                if response.status_code != 200:
                    raise FetchFailed(_answered(response))
                return await _body(response, most)

    async def ask(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str],
        content: bytes | None = None,
        allow_private: bool,
        most: int,
        seconds: float,
    ) -> Answer:
        """What a service answers, with any status; a redirect is an answer. Raises FetchFailed."""
        async with _within(seconds):
            try:
                request = httpx2.Request(
                    method,
                    url,
                    headers={"User-Agent": _AGENT, **headers},
                    content=content,
                )
            except httpx2.InvalidURL as error:
                raise FetchBlocked("That is no valid URL.") from error
            async with self._opened(request, allow_private=allow_private) as response:
                return Answer(
                    status=response.status_code,
                    content_type=response.headers.get("content-type", ""),
                    data=await _body(response, most),
                )

    async def _vet(self, url: str) -> None:
        """Refuse before anything is sent; PinnedTransport vets again as it connects."""
        try:
            await check_url(url, allow_private=self._allow_private, resolve=self._resolve)
        except AddressUnknown as error:
            raise FetchFailed(str(error)) from error
        except AddressRefused as error:
            raise FetchBlocked(_blocked(error)) from error
        except (OSError, ValueError) as error:
            raise FetchFailed("The host's address could not be looked up. Try again later.") from (
                error
            )

    @asynccontextmanager
    async def _opened(
        self, request: httpx2.Request, *, allow_private: bool
    ) -> AsyncGenerator[httpx2.Response]:
        """An answer whose body is still to be read; leaving closes the connection."""
        timeouts = httpx2.Timeout(None, connect=_CONNECT_SECONDS).as_dict()
        request.extensions = {**request.extensions, "timeout": timeouts}
        transport = PinnedTransport(
            allow_private=allow_private, resolve=self._resolve, takes_compressed=True
        )
        try:
            response = await transport.handle_async_request(request)
            response.request = request
            try:
                yield response
            finally:
                await response.aclose()
        except httpx2.TransportError as error:
            raise _failure(error, request.url.host) from error
        finally:
            await transport.aclose()


@asynccontextmanager
async def _within(seconds: float) -> AsyncGenerator[None]:
    """A limit of time whose end is a FetchFailed."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError as error:
        raise FetchFailed(
            f"The server took longer than {seconds:.0f} seconds. Try again later."
        ) from error


def _page_headers() -> dict[str, str]:
    return {
        "User-Agent": _AGENT,
        "Accept": "text/html,application/xhtml+xml,text/plain;q=0.9,*/*;q=0.5",
        "Accept-Language": "en,*;q=0.5",
    }


def _redirect(response: httpx2.Response, url: str) -> str | None:
    """Where an answer leads on; None where it is the page. Raises FetchFailed."""
    if response.status_code in _REDIRECTS and (location := response.headers.get("location")):
        try:
            return str(httpx2.URL(url).join(location))
        except httpx2.InvalidURL as error:
            raise FetchBlocked("The page redirects to what is no valid URL.") from error
    if response.status_code != 200:
        raise FetchFailed(_answered(response))
    return None


def _answered(response: httpx2.Response) -> str:
    reason = httpx2.codes.get_reason_phrase(response.status_code)
    answer = f"{response.status_code} {reason}".rstrip()
    return f"The server answered {answer}."


def _checked_type(response: httpx2.Response) -> str:
    content_type: str = response.headers.get("content-type", "text/plain")
    plain = content_type.partition(";")[0].strip().lower()
    if plain.startswith("text/") or plain in _TEXTUAL or plain.endswith(("+json", "+xml")):
        return content_type
    shown = plain if plain.isprintable() and len(plain) < 100 else "something else"
    raise FetchFailed(f"That is {shown}, not a page of text.")


async def _body(response: httpx2.Response, most: int) -> bytes:
    """The unpacked body. Raises FetchFailed where it has more bytes."""
    body = bytearray()
    try:
        async for data in _unpacked(response, most):
            body += data
            if len(body) > most:
                raise FetchFailed(f"That is larger than {most // 1024:,} KB, the most I fetch.")
    except zlib.error as error:
        raise FetchFailed("The server's answer is damaged.") from error
    return bytes(body)


async def _unpacked(response: httpx2.Response, most: int) -> AsyncIterator[bytes]:
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    if encoding == "identity":
        async for data in response.aiter_raw():
            yield data
        return
    if encoding not in {"gzip", "x-gzip", "deflate"}:
        raise FetchFailed("The server compresses its answer in a way that I do not read.")
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 32)  # either header
    async for data in response.aiter_raw():
        # A few kilobytes can stand for gigabytes, so no more is unpacked than can be taken.
        yield unpacker.decompress(data, most + 1)


def _failure(error: httpx2.TransportError, host: str) -> FetchFailed:
    cause = error.__cause__
    if isinstance(cause, AddressUnknown):
        return FetchFailed(str(cause))
    if isinstance(cause, AddressRefused):
        return FetchBlocked(_blocked(cause))
    if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout):
        return FetchFailed(f"{host} cannot be reached.")
    return FetchFailed(f"{host} broke the connection off.")


def _blocked(refused: AddressRefused) -> str:
    """The guard speaks to admins who set an endpoint; here a model named an address."""
    first, _, _ = str(refused).partition(". ")
    why = f"{first.removesuffix('.')}."
    return f"{why} Only public http and https addresses are fetched."
