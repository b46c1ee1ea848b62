"""Serves REST: finds the route, lets faults and limits have their say, answers.

Invariant: every request leaves one record in the journal, with route, status and duration.
"""

import asyncio
import json
import re
import time
from collections.abc import Iterable, Mapping
from typing import Any

from aiohttp import web

from tests.loopback.discord_server.core import Core
from tests.loopback.discord_server.errors import ApiError, Problem
from tests.loopback.discord_server.faults import (
    Delay,
    GatewayPage,
    LostAnswer,
    Reset,
    Status,
    Throttle,
)
from tests.loopback.discord_server.journal import Record
from tests.loopback.discord_server.rest.request import Answer, Request, Route

# Clients take a 429 without Via for one of the proxy, and give up.
COMMON_HEADERS = {"Via": "1.1 google", "Server": "loopback"}
CUT = -1
CUT_AFTER_WORK = -2
"""What the journal gives as status where no answer left."""


class Router:
    """The entry of all requests under /api/v10."""

    def __init__(self, core: Core, routes: Iterable[Route]) -> None:
        self._core = core
        self._routes = [(route, _compile(route.pattern)) for route in routes]

    async def handle(self, http: web.Request) -> web.Response:
        """Serve one request."""
        path = "/" + http.match_info["tail"]
        found = self._find(http.method, path)
        if found is None:
            self._core.journal.note("rest", method=http.method, path=path, route=None, status=404)
            self._core.journal.violation("route is not served", method=http.method, path=path)
            return _answer({"message": "404: Not Found", "code": 0}, status=404)
        route, arguments = found
        record = self._core.journal.note("rest", method=http.method, path=path, route=route.pattern)
        started = time.monotonic()
        headers: dict[str, str] = {}
        try:
            self._check_headers(route, http)
            response = await self._meet_faults(route, arguments, http, record)
            if response is None:
                response = self._throttle(route, arguments, path, headers)
            if response is None:
                response = await self._call(route, arguments, http, headers)
        except ApiError as error:
            record.fields.update(code=error.code, error=error.message, errors=error.errors)
            if error.status in (401, 403):
                self._core.journal.note("invalid_request", status=error.status, path=path)
            response = _answer(error.body(), status=error.status, headers=headers)
        except Exception:
            # The client sees a 500 and tries again; the test must not take that for a fault.
            self._core.journal.violation("the loopback server failed", path=path)
            raise
        status = record.get("status", response.status)
        milliseconds = round((time.monotonic() - started) * 1000, 2)
        self._core.journal.complete(record, status=status, ms=milliseconds)
        return response

    def _find(self, method: str, path: str) -> tuple[Route, dict[str, str]] | None:
        for route, pattern in self._routes:
            match = pattern.fullmatch(path) if route.method == method else None
            if match:
                return route, match.groupdict()
        return None

    def _check_headers(self, route: Route, http: web.Request) -> None:
        if route.authorized and http.headers.get("Authorization") != f"Bot {self._core.token}":
            raise ApiError(Problem.UNAUTHORIZED)
        if not http.headers.get("User-Agent"):
            raise ApiError(Problem.NO_USER_AGENT)

    async def _meet_faults(
        self, route: Route, arguments: Mapping[str, str], http: web.Request, record: Record
    ) -> web.Response | None:
        """Whatever a planted fault answers; None if the request goes on."""
        for effect in self._core.faults.meet(route.method, record["path"]):
            record.fields["fault"] = type(effect).__name__
            match effect:
                case Status():
                    headers = {"Retry-After": "1"} if effect.status >= 500 else None
                    return _answer(effect.body(), status=effect.status, headers=headers)
                case GatewayPage():
                    page = "<html>bad gateway</html>"
                    return web.Response(status=effect.status, text=page, content_type="text/html")
                case Throttle():
                    return _too_many(
                        effect.retry_after, scope=effect.scope, everywhere=effect.everywhere
                    )
                case Delay():
                    await asyncio.sleep(effect.seconds)
                case Reset():
                    return _cut(http, record, CUT)
                case LostAnswer():
                    await route.handler(self._core, self._request(http, arguments))
                    return _cut(http, record, CUT_AFTER_WORK)
        return None

    def _throttle(
        self, route: Route, arguments: Mapping[str, str], path: str, headers: dict[str, str]
    ) -> web.Response | None:
        """A 429 if a limit is reached; fills in the headers of the answer otherwise."""
        journal, rate_limits = self._core.journal, self._core.rate_limits
        wait = rate_limits.take_global() if route.counted else None
        if wait is not None:
            journal.violation("global rate limit", path=path)
            return _too_many(wait, scope="global", everywhere=True)
        if route.bucket is None:
            return None
        ticket = rate_limits.take(route.bucket, _resource(arguments))
        headers.update(ticket.headers)
        if ticket.retry_after is None:
            return None
        journal.violation("rate limit", bucket=route.bucket, path=path, method=route.method)
        return _too_many(ticket.retry_after, scope="user", everywhere=False, headers=headers)

    async def _call(
        self,
        route: Route,
        arguments: Mapping[str, str],
        http: web.Request,
        headers: Mapping[str, str],
    ) -> web.Response:
        result = await route.handler(self._core, self._request(http, arguments))
        if result is None:
            return web.Response(status=204, headers={**COMMON_HEADERS, **headers})
        if isinstance(result, Answer):
            return _answer(result.body, status=result.status, headers=headers)
        return _answer(result, headers=headers)

    def _request(self, http: web.Request, arguments: Mapping[str, str]) -> Request:
        return Request(http, arguments, self._core.limits)


def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", pattern))


def _resource(arguments: Mapping[str, str]) -> str:
    """What a bucket is counted for: channel, guild, or webhook with its token."""
    for name in ("channel", "guild"):
        if name in arguments:
            return arguments[name]
    return arguments.get("webhook", "") + arguments.get("token", "")


def _answer(
    body: Any, *, status: int = 200, headers: Mapping[str, str] | None = None
) -> web.Response:
    # The content type stands alone: clients compare it with "application/json" as a whole.
    content_type = {"Content-Type": "application/json"}
    return web.Response(
        status=status,
        body=json.dumps(body).encode(),
        headers={**COMMON_HEADERS, **(headers or {}), **content_type},
    )


def _too_many(
    retry_after: float,
    *,
    scope: str,
    everywhere: bool,
    headers: Mapping[str, str] | None = None,
) -> web.Response:
    limit = {"Retry-After": str(int(retry_after) + 1), "X-RateLimit-Scope": scope}
    if everywhere:
        limit["X-RateLimit-Global"] = "true"
    body = {
        "message": "You are being rate limited.",
        "retry_after": round(retry_after, 3),
        "global": everywhere,
    }
    return _answer(body, status=429, headers={**(headers or {}), **limit})


def _cut(http: web.Request, record: Record, status: int) -> web.Response:
    record.fields["status"] = status
    if http.transport is not None:
        http.transport.abort()
    return web.Response(status=500)
