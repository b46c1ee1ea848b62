"""A REST request as handlers see it, and what a route is.

Invariant: a handler returns what the client gets (JSON, None for 204, an Answer for another
status) or raises ApiError; it never touches the HTTP library.
"""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from aiohttp import BodyPartReader, web

from tests.loopback.discord_server.core import Core
from tests.loopback.discord_server.errors import ApiError, Problem
from tests.loopback.discord_server.limits import Limits
from tests.loopback.discord_server.model import Upload
from tests.loopback.discord_server.wire import Payload
from tests.loopback.discord_server.world import snowflake

Handler: TypeAlias = "Callable[[Core, Request], Awaitable[Any]]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """JSON with a status other than 200."""

    status: int
    body: Any


@dataclass(frozen=True, slots=True)
class Route:
    """A method and a path with `{parameters}`, and who serves them.

    `bucket` names the rate limit. Webhook routes carry their token in the path: they need no
    authorization and do not count among all requests of the bot.
    """

    method: str
    pattern: str
    handler: Handler
    bucket: str | None = None
    authorized: bool = True
    counted: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """A body's JSON object and its files."""

    fields: Payload
    files: tuple[Upload, ...] = ()


class Request:
    """What a handler may ask of a request."""

    def __init__(self, http: web.Request, arguments: Mapping[str, str], limits: Limits) -> None:
        self._http = http
        self._arguments = arguments
        self._limits = limits

    @property
    def method(self) -> str:
        """The HTTP method."""
        return self._http.method

    @property
    def query(self) -> Mapping[str, str]:
        """The query's parameters."""
        return self._http.query

    def text(self, name: str) -> str:
        """A parameter of the path."""
        return self._arguments[name]

    def id(self, name: str) -> int:
        """A parameter of the path that is an id."""
        return snowflake(self._arguments[name], f"{name}_id")

    def has(self, name: str) -> bool:
        """Whether the route has such a parameter."""
        return name in self._arguments

    async def json(self) -> Any:
        """The JSON value that the body holds; an empty object if there is none."""
        self._check_size(self._http.content_length or 0)
        raw = await self._http.read()
        if not raw:
            return {}
        if not self._http.headers.get("Content-Type", "").startswith("application/json"):
            message = 'Expected "Content-Type" header to be one of {"application/json"}.'
            error: Payload = {"code": "CONTENT_TYPE_INVALID", "message": message}
            raise ApiError(Problem.INVALID_FORM, {"_errors": [error]})
        try:
            return json.loads(raw)
        except ValueError:
            raise ApiError(Problem.INVALID_JSON) from None

    async def form(self) -> Form:
        """The JSON object of the body, with the files that came with it."""
        if self._http.headers.get("Content-Type", "").startswith("multipart/"):
            return await self._multipart()
        return Form(fields=await self.json())

    async def _multipart(self) -> Form:
        self._check_size(self._http.content_length or 0)
        fields: Payload = {}
        files: list[Upload] = []
        total = 0
        async for part in await self._http.multipart():
            if not isinstance(part, BodyPartReader) or part.name is None:
                continue
            data = bytes(await part.read(decode=False))
            total += len(data)
            self._check_size(total)
            if part.name == "payload_json":
                fields = json.loads(data)
            elif part.name.startswith("files["):
                upload = Upload(
                    filename=part.filename or "file",
                    data=data,
                    content_type=part.headers.get("Content-Type"),
                    slot=part.name.removeprefix("files[").removesuffix("]"),
                )
                files.append(upload)
            else:
                fields[part.name] = data.decode()
        return Form(fields=fields, files=tuple(files))

    def _check_size(self, size: int) -> None:
        if size > self._limits.request_bytes:
            raise ApiError(Problem.TOO_LARGE)
