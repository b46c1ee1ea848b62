"""Loopback servers that stand for the web, a search provider or an image endpoint."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TypeAlias

from aiohttp import web

from prompt.values import Json
from tools.services import Missing, Service

Page: TypeAlias = web.Response | tuple[int, Json]
"""An answer, or a status with what is sent as JSON."""


@dataclass(slots=True)
class Site:
    """Answers by path. `asked` are the requests as they came, with their bodies."""

    pages: Mapping[str, Page]
    asked: list[web.Request] = field(default_factory=list[web.Request])
    bodies: list[bytes] = field(default_factory=list[bytes])
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(request)
        self.bodies.append(await request.read())
        found = self.pages.get(request.path, (404, {}))
        if isinstance(found, tuple):
            return web.json_response(found[1], status=found[0])
        # An answer can be sent once only.
        return web.Response(body=found.body, status=found.status, headers=found.headers)


@asynccontextmanager
async def site(pages: Mapping[str, Page]) -> AsyncGenerator[Site]:
    serving = Site(pages)
    app = web.Application(client_max_size=2**26)
    app.router.add_route("*", "/{path:.*}", serving.answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    serving.port = int(runner.addresses[0][1])
    try:
        yield serving
    finally:
        await runner.cleanup()


NO_SEARCH = Missing(why="no search provider is set; /config search sets one")
NO_IMAGES = Missing(why="no image endpoint is set; /config images sets one")


@dataclass(slots=True)
class Chosen:
    """The services of every guild."""

    searching: Service | Missing = NO_SEARCH
    drawing: Service | Missing = NO_IMAGES

    async def search(self, guild_id: int) -> Service | Missing:
        return self.searching

    async def images(self, guild_id: int) -> Service | Missing:
        return self.drawing
