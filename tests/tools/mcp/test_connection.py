"""One server that is kept connected, however it behaves."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from aiohttp import web

from data.mcp_servers import HttpServer
from tests.tools.mcp.unruly import Body, Unruly, reply, said, tool, unruly
from tools.mcp.connection import Connection, Limits
from tools.mcp.link import Opener
from tools.registry import ToolFailure, ToolUnavailable

QUICK = Limits(discovery=2.0, call=2.0, pause=300.0)


class Clockwork:
    """Pauses that end when the test says so."""

    def __init__(self) -> None:
        self.pauses: list[float] = []
        self._end = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self._end.clear()
        await self._end.wait()

    def tick(self) -> None:
        self._end.set()


@pytest.fixture
async def server() -> AsyncGenerator[Unruly]:
    async with unruly() as server:
        yield server


@asynccontextmanager
async def connected(
    server: Unruly,
    *,
    limits: Limits = QUICK,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    opener: Opener | None = None,
    token: str = "",
) -> AsyncGenerator[Connection]:
    """A connection that is settled."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    there = HttpServer(name="unruly", url=server.url, headers=headers, allow_private=True)
    opening = opener or Opener()
    made = Connection(
        "unruly", lambda changed: opening.open(there, changed), limits=limits, sleep=sleep
    )
    made.start()
    await made.settled()
    try:
        yield made
    finally:
        await made.stop()


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not condition():
            await asyncio.sleep(0.01)


def text_of(result: object) -> str:
    return str(getattr(result, "content", [])[0].text)


async def test_a_call_reaches_the_tool_of_that_name(server: Unruly):
    async with connected(server) as made:
        assert made.state == "connected"
        assert [tool.name for tool in made.tools] == ["echo"]
        assert text_of(await made.call("echo", {"n": 1})) == (
            '{"name": "echo", "arguments": {"n": 1}}'
        )
    assert server.sessions == set(), "a session is taken leave of"


async def test_calls_do_not_wait_for_each_other(server: Unruly):
    both = asyncio.Barrier(2)

    async def together(_: web.Request, body: Body) -> web.StreamResponse:
        await both.wait()
        return said(body, "met")

    server.misdeeds["tools/call"] = together
    async with connected(server) as made:
        answers = await asyncio.gather(made.call("echo", {}), made.call("echo", {}))
        assert [text_of(answer) for answer in answers] == ["met", "met"]


async def test_a_slow_call_is_given_up_and_the_server_told(server: Unruly):
    async def slow(_: web.Request, body: Body) -> web.StreamResponse:
        await asyncio.sleep(5)
        return said(body, "late")

    server.misdeeds["tools/call"] = slow
    async with connected(server, limits=replace(QUICK, call=0.2)) as made:
        with pytest.raises(ToolFailure, match=r"did not answer within 0\.2 seconds"):
            await made.call("echo", {})
        await until(lambda: len(server.cancelled) == 1)
        del server.misdeeds["tools/call"]
        await made.call("echo", {})


async def test_a_call_whose_turn_is_cancelled_is_taken_back(server: Unruly):
    begun = asyncio.Event()

    async def slow(_: web.Request, body: Body) -> web.StreamResponse:
        begun.set()
        await asyncio.sleep(5)
        return said(body, "late")

    server.misdeeds["tools/call"] = slow
    async with connected(server) as made:
        calling = asyncio.create_task(made.call("echo", {}))
        await begun.wait()
        calling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await calling
        await until(lambda: len(server.cancelled) == 1)
        assert made.state == "connected"


async def test_a_forgotten_session_is_begun_anew_and_the_call_made_again(server: Unruly):
    async with connected(server) as made:
        server.sessions.clear()
        assert "echo" in text_of(await made.call("echo", {}))
        assert server.heard.count("initialize") == 2


async def test_a_server_that_forgets_every_session_is_unavailable(server: Unruly):
    async def forget(request: web.Request, body: Body) -> web.StreamResponse:
        return web.Response(status=404)

    server.misdeeds["tools/call"] = forget
    async with connected(server, sleep=Clockwork().sleep) as made:
        with pytest.raises(ToolUnavailable):
            await made.call("echo", {})
        assert server.heard.count("tools/call") == 2


async def test_a_changed_list_is_read_again(server: Unruly):
    async with connected(server) as made:
        await until(lambda: server.listeners == 1)
        server.tools = [tool("echo"), tool("more")]
        await server.announce()
        await until(lambda: len(made.tools) == 2)
        assert server.heard.count("initialize") == 1


async def test_stopping_ends_it_whatever_is_under_way(server: Unruly):
    async def slow(_: web.Request, body: Body) -> web.StreamResponse:
        await asyncio.sleep(5)
        return said(body, "late")

    server.misdeeds["tools/call"] = slow
    async with connected(server) as made:
        await until(lambda: server.listeners == 1)
        calling = asyncio.create_task(made.call("echo", {}))
        await until(lambda: "tools/call" in server.heard)
        await server.announce()
        began = asyncio.get_running_loop().time()
        await made.stop()
        assert asyncio.get_running_loop().time() - began < 4
        with pytest.raises(ToolUnavailable):
            await calling
        assert made.state == "stopped"
        with pytest.raises(ToolUnavailable):
            await made.call("echo", {})
        assert server.heard.count("initialize") == 1


async def test_a_server_cannot_keep_the_bot_reading_lists(server: Unruly):
    async with connected(server) as made:
        await until(lambda: server.listeners == 1)
        for _ in range(20):
            await server.announce()
        await made.call("echo", {})
        assert server.heard.count("tools/list") <= 3


async def huge(request: web.Request, body: Body) -> web.StreamResponse:
    stream = web.StreamResponse(headers={"Content-Type": "application/json"})
    await stream.prepare(request)
    try:
        for _ in range(64):
            await stream.write(b" " * 65_536)
    except ConnectionError:
        pass
    return stream


async def test_a_huge_answer_is_cut_off_and_costs_the_connection_alone(server: Unruly):
    server.misdeeds["tools/call"] = huge
    async with connected(server, opener=Opener(largest=1_000_000)) as made:
        with pytest.raises(ToolUnavailable, match="broke off"):
            await made.call("echo", {})
        del server.misdeeds["tools/call"]
        await made.call("echo", {})


async def test_an_answer_that_is_no_json_is_a_failure(server: Unruly):
    async def page(_: web.Request, body: Body) -> web.StreamResponse:
        return web.Response(text="{oops", content_type="application/json")

    async def html(_: web.Request, body: Body) -> web.StreamResponse:
        return web.Response(text="<html>", content_type="text/html")

    async with connected(server) as made:
        for misdeed in (page, html):
            server.misdeeds["tools/call"] = misdeed
            with pytest.raises(ToolFailure):
                await made.call("echo", {})
        del server.misdeeds["tools/call"]
        await made.call("echo", {})
        assert server.heard.count("initialize") == 1


async def test_a_result_that_breaks_the_protocol_is_a_failure(server: Unruly):
    async def odd(_: web.Request, body: Body) -> web.StreamResponse:
        return reply(body, {"content": 5})

    server.misdeeds["tools/call"] = odd
    async with connected(server) as made:
        with pytest.raises(ToolFailure, match="does not follow the protocol"):
            await made.call("echo", {})


async def test_an_output_schema_is_not_run_on_the_answer(server: Unruly):
    evil = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}}
    server.tools = [tool("echo", outputSchema=evil)]

    async def structured(_: web.Request, body: Body) -> web.StreamResponse:
        return reply(body, {"content": [], "structuredContent": {"a": "a" * 40 + "!"}})

    server.misdeeds["tools/call"] = structured
    async with connected(server) as made:
        result = await made.call("echo", {})
        assert result.structured_content == {"a": "a" * 40 + "!"}


async def test_a_server_that_is_away_keeps_its_tools_and_is_tried_less_and_less(server: Unruly):
    clockwork = Clockwork()
    refuses = web.Response

    async def away(_: web.Request, body: Body) -> web.StreamResponse:
        return refuses(status=503)

    async with connected(server, sleep=clockwork.sleep) as made:
        server.misdeeds.update(dict.fromkeys(("initialize", "server/discover"), away))
        server.sessions.clear()
        with pytest.raises(ToolUnavailable, match="HTTP status 503"):
            await made.call("echo", {})
        assert [tool.name for tool in made.tools] == ["echo"]
        for tries in (1, 2, 3):
            await until(lambda tries=tries: len(clockwork.pauses) == tries)
            clockwork.tick()
        await until(lambda: len(clockwork.pauses) == 4)
        first, second, third, fourth = clockwork.pauses
        assert first < second < third < fourth <= QUICK.pause
        server.misdeeds.clear()
        made.retry()
        assert "echo" in text_of(await made.call("echo", {}))


async def test_who_was_never_there_says_why(server: Unruly):
    server.token = "right"
    async with connected(server, token="wrong", sleep=Clockwork().sleep) as made:
        assert made.state == "waiting"
        assert made.error == "It refuses the token (401). Enter the right one."
        assert "wrong" not in made.error
        with pytest.raises(ToolUnavailable, match="refuses the token"):
            await made.call("echo", {})


async def test_a_server_that_hangs_is_given_up(server: Unruly):
    async def hangs(_: web.Request, body: Body) -> web.StreamResponse:
        await asyncio.sleep(5)
        return web.Response(status=500)

    server.misdeeds["tools/list"] = hangs
    limits = replace(QUICK, discovery=0.3)
    async with connected(server, limits=limits, sleep=Clockwork().sleep) as made:
        await until(lambda: made.state == "waiting")
        assert made.error == "It did not answer in time."
        assert made.tools == ()


async def test_a_server_that_does_not_know_the_newest_protocol_may_say_nothing(server: Unruly):
    async def nothing(_: web.Request, body: Body) -> web.StreamResponse:
        await asyncio.sleep(5)
        return web.Response(status=500)

    server.misdeeds["server/discover"] = nothing
    clockwork = Clockwork()
    limits = replace(QUICK, discovery=0.5)
    async with connected(server, limits=limits, sleep=clockwork.sleep) as made:
        await until(lambda: made.state == "waiting")
        clockwork.tick()
        await until(lambda: made.state == "connected")
        assert server.heard.count("server/discover") == 1
        await made.call("echo", {})


async def test_pages_without_end_end(server: Unruly):
    pages = 0

    async def another(_: web.Request, body: Body) -> web.StreamResponse:
        nonlocal pages
        pages += 1
        result: Body = {"tools": [tool(f"t{pages}")], "nextCursor": str(pages)}
        return reply(body, result)

    server.misdeeds["tools/list"] = another
    async with connected(server) as made:
        assert made.state == "connected"
        assert len(made.tools) == pages == 20


async def test_a_redirect_elsewhere_is_not_followed(server: Unruly):
    async with unruly() as other:

        async def elsewhere(_: web.Request, body: Body) -> web.StreamResponse:
            return web.Response(status=307, headers={"Location": other.url})

        server.misdeeds.update(dict.fromkeys(("initialize", "server/discover"), elsewhere))
        async with connected(server, token="secret", sleep=Clockwork().sleep) as made:
            assert made.state == "waiting"
        assert other.heard == []
