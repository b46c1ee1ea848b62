"""Opens a server as an SDK client, over pipes or streamable HTTP.

Invariant: no answer is longer than the bound, over HTTP only vetted addresses are connected to and
no credential follows a redirect elsewhere. The context is entered and left in one task.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import TypeAlias, cast

import httpx2
from mcp import Client, MCPError, types
from mcp.client import IncomingMessage, Transport
from mcp.client.streamable_http import MCP_SESSION_ID, streamable_http_client

from data.mcp_servers import HttpServer, StdioServer
from net.guard import Resolve
from net.transport import PinnedTransport
from tools.mcp.mending import mending
from tools.mcp.pipes import program

LARGEST_BODY = 8 * 1024 * 1024
"""Bytes of one body or one line."""

_CONNECT_SECONDS = 10.0
_FAREWELL_SECONDS = 3.0
_ABOUT_US = types.Implementation(name="verbatim", version="1")

_STATUS = {
    401: "It refuses the token (401). Enter the right one.",
    403: "It refuses access (403). Check the token and what it may do.",
    404: "There is no MCP server at this path (404). Check the URL; many end in /mcp.",
    405: "It takes no messages at this path (405). Check the URL; many end in /mcp.",
    429: "It has had too many requests (429). It is tried again later.",
}

Server: TypeAlias = StdioServer | HttpServer


class HttpRefused(Exception):
    """An answer whose status says why there is no session; the text says it in words."""


def cause_of(error: BaseException) -> BaseException:
    """The first error in a group of them, or the error itself."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    return error


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A client that is open. `ended` is set when a program says nothing more, `forgotten` when a
    server answered that it does not know the session any more. `refusal` tells in words what the
    status of the last answer over HTTP said, empty where it was a good one."""

    client: Client
    ended: asyncio.Event
    forgotten: asyncio.Event
    refusal: Callable[[], str]


Changed: TypeAlias = Callable[[], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Opener:
    """Opens servers. `complaints` is the directory for what programs write to standard error;
    `resolve` finds addresses in place of the system."""

    complaints: Path | None = None
    resolve: Resolve | None = field(default=None, repr=False)
    largest: int = LARGEST_BODY
    _silent: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]], repr=False)

    @asynccontextmanager
    async def open(self, server: Server, changed: Changed) -> AsyncGenerator[Link]:
        """`changed` is awaited when the server tells that its list of tools is another one."""
        ended, forgotten = asyncio.Event(), asyncio.Event()

        async def heard(message: IncomingMessage) -> None:
            if isinstance(message, types.ToolListChangedNotification):
                await changed()

        key = server.name, server.url if isinstance(server, HttpServer) else server.command
        refusal: Callable[[], str] = str
        transport: Transport
        async with AsyncExitStack() as stack:
            if isinstance(server, StdioServer):
                transport = program(
                    server,
                    largest=self.largest,
                    complaints=self._complaints_of(server),
                    ended=ended,
                )
            else:
                sessions = _Sessions(self._pinned(server), forgotten)
                refusal = sessions.refusal
                http = await stack.enter_async_context(_http_client(server, sessions))
                transport = streamable_http_client(
                    server.url, http_client=http, max_sse_event_size=self.largest
                )
            # No cache: a list is asked for when it has changed, and only then.
            client = Client(
                mending(transport),
                message_handler=heard,
                client_info=_ABOUT_US,
                cache=None,
                mode="legacy" if key in self._silent else "auto",
            )
            try:
                await stack.enter_async_context(client)
            except asyncio.CancelledError:
                # Some older servers say nothing at all to a question that they do not know, such
                # as which protocol they speak. The next time they are told.
                self._silent.symmetric_difference_update({key})
                raise
            except Exception as error:
                self._silent.discard(key)
                if isinstance(cause_of(error), MCPError) and (said := refusal()):
                    raise HttpRefused(said) from error
                raise
            yield Link(client=client, ended=ended, forgotten=forgotten, refusal=refusal)

    def _complaints_of(self, server: StdioServer) -> Path | None:
        if self.complaints is None:
            return None
        self.complaints.mkdir(mode=0o700, parents=True, exist_ok=True)
        return self.complaints / f"mcp-{server.name}.log"

    def _pinned(self, server: HttpServer) -> PinnedTransport:
        return PinnedTransport(
            allow_private=server.allow_private, resolve=self.resolve, largest=self.largest
        )


def _http_client(server: HttpServer, transport: httpx2.AsyncBaseTransport) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(
        transport=transport,
        headers=server.headers,
        # A stream may say nothing for hours; calls have limits of their own.
        timeout=httpx2.Timeout(_CONNECT_SECONDS, read=None),
    )


class _Sessions(httpx2.AsyncBaseTransport):
    """Notices what only the status of an answer tells."""

    def __init__(self, inner: httpx2.AsyncBaseTransport, forgotten: asyncio.Event) -> None:
        self._inner = inner
        self._forgotten = forgotten
        self._status = 0

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if request.method == "DELETE":  # a farewell, which is not worth a wait
            times = dict.fromkeys(("connect", "read", "write", "pool"), _FAREWELL_SECONDS)
            request.extensions = {**request.extensions, "timeout": times}
        response = await self._inner.handle_async_request(request)
        self._status = response.status_code
        if self._status == HTTPStatus.NOT_FOUND and MCP_SESSION_ID in request.headers:
            self._forgotten.set()
        return response

    def refusal(self) -> str:
        """See Link."""
        if self._status < HTTPStatus.BAD_REQUEST:
            return ""
        return _STATUS.get(self._status, f"It answered with HTTP status {self._status}.")

    async def aclose(self) -> None:
        await self._inner.aclose()
