"""An MCP server over HTTP that does what it is told, rightly or wrongly.

It speaks the wire by hand, because an SDK would not let it misbehave.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

from aiohttp import web

Body: TypeAlias = dict[str, Any]
Misdeed: TypeAlias = Callable[[web.Request, Body], Awaitable[web.StreamResponse]]


def tool(name: str, description: str = "", **more: Any) -> Body:
    """A tool as a server lists it."""
    return {
        "name": name,
        "description": description,
        "inputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}},
        **more,
    }


class Unruly:
    """A server whose `tools` may change. `misdeeds` answer a method in place of the right answer.

    `token` is what it asks for, if anything. `heard` are the methods that it was asked, `sessions`
    those that it still knows, `cancelled` the requests that were taken back.
    """

    def __init__(self) -> None:
        self.tools = [tool("echo")]
        self.misdeeds: dict[str, Misdeed] = {}
        self.token = ""
        self.heard: list[str] = []
        self.sessions: set[str] = set()
        self.cancelled: list[Any] = []
        self.url = ""
        self._opened = 0
        self._streams: list[web.StreamResponse] = []
        self._closing = asyncio.Event()

    async def announce(self) -> None:
        """Tell every listener that the list of tools has changed."""
        note = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
        for stream in self._streams:
            await stream.write(f"event: message\ndata: {json.dumps(note)}\n\n".encode())

    @property
    def listeners(self) -> int:
        return len(self._streams)

    async def post(self, request: web.Request) -> web.StreamResponse:
        """One message."""
        if self.token and request.headers.get("Authorization") != f"Bearer {self.token}":
            return web.Response(status=401)
        body: Body = await request.json()
        method = body.get("method", "")
        self.heard.append(method)
        session = request.headers.get("Mcp-Session-Id")
        if session is not None and session not in self.sessions:
            return web.Response(status=404)
        if method in self.misdeeds:
            return await self.misdeeds[method](request, body)
        if method == "notifications/cancelled":
            self.cancelled.append(body["params"]["requestId"])
        if "id" not in body:
            return web.Response(status=202)
        return self._answer(method, body)

    def _answer(self, method: str, body: Body) -> web.Response:
        if method == "initialize":
            self._opened += 1
            session = f"s{self._opened}"
            self.sessions.add(session)
            result: Body = {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {"listChanged": True}},
                "serverInfo": {"name": "unruly", "version": "1"},
            }
            return reply(body, result, headers={"Mcp-Session-Id": session})
        if method == "tools/list":
            return reply(body, {"tools": self.tools})
        if method == "tools/call":
            return said(body, json.dumps(body["params"]))
        error = {"code": -32601, "message": "Method not found"}
        return web.json_response({"jsonrpc": "2.0", "id": body["id"], "error": error})

    async def listen(self, request: web.Request) -> web.StreamResponse:
        """The stream of news."""
        stream = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await stream.prepare(request)
        self._streams.append(stream)
        try:
            await self._closing.wait()
        finally:
            self._streams.remove(stream)
        return stream

    async def forget(self, request: web.Request) -> web.StreamResponse:
        """The end of a session."""
        self.sessions.discard(request.headers.get("Mcp-Session-Id", ""))
        return web.Response(status=200)

    def close(self) -> None:
        """Let the streams end."""
        self._closing.set()


def reply(body: Body, result: Body, **more: Any) -> web.Response:
    """The right form of an answer."""
    return web.json_response({"jsonrpc": "2.0", "id": body["id"], "result": result}, **more)


def said(body: Body, text: str) -> web.Response:
    """The answer of a tool."""
    return reply(body, {"content": [{"type": "text", "text": text}]})


@asynccontextmanager
async def unruly() -> AsyncGenerator[Unruly]:
    """A server on a free port of this machine."""
    server = Unruly()
    app = web.Application()
    app.router.add_post("/mcp", server.post)
    app.router.add_get("/mcp", server.listen)
    app.router.add_delete("/mcp", server.forget)
    runner = web.AppRunner(app, shutdown_timeout=0.2)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        host, port = runner.addresses[0][:2]
        server.url = f"http://{host}:{port}/mcp"
        yield server
    finally:
        server.close()
        await runner.cleanup()
