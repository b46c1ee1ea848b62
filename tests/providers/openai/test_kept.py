"""Connections that a server closes without a word."""

import asyncio
import socket
import struct
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

import pytest

from providers.base import EndpointError, Unavailable
from providers.openai.adapter import OpenAIProvider

_MODELS = b'{"object":"list","data":[{"id":"m","object":"model"}]}'
_HEAD = f"HTTP/1.1 200 OK\r\nContent-Length: {len(_MODELS)}\r\nContent-Type: application/json\r\n"

ANSWER = f"{_HEAD}\r\n".encode() + _MODELS
CUT_OFF = ANSWER[:-10]
NO_HTTP = b"I am no web server.\r\n\r\n"
SILENCE = b""
RESET = b"reset"


class Closing:
    """A server with a script: what it answers on a connection, request after request. It closes
    the connection with the last answer; each connection begins the script anew."""

    def __init__(self, script: Sequence[bytes]) -> None:
        self.script = script
        self.connections = 0
        self.requests = 0
        self.served: list[asyncio.Task[None] | None] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.served.append(asyncio.current_task())
        for answer in self.script:
            try:
                await reader.readuntil(b"\r\n\r\n")
            except asyncio.IncompleteReadError:
                break
            self.requests += 1
            if answer == RESET:
                at_once = struct.pack("ii", 1, 0)
                raw: socket.socket = writer.get_extra_info("socket")
                raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, at_once)
                writer.transport.abort()
                return
            writer.write(answer)
            await writer.drain()
        writer.close()
        await writer.wait_closed()


@asynccontextmanager
async def closing(*script: bytes) -> AsyncGenerator[tuple[Closing, OpenAIProvider]]:
    behaviour = Closing(script)
    server = await asyncio.start_server(behaviour.serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    provider = OpenAIProvider(base_url=f"http://127.0.0.1:{port}/v1", model="m")
    try:
        yield behaviour, provider
    finally:
        await provider.close()
        server.close()
        await asyncio.gather(*filter(None, behaviour.served))


@pytest.mark.parametrize("ending", [SILENCE, RESET], ids=["closed", "reset"])
async def test_a_kept_connection_that_is_closed_costs_nothing(ending: bytes) -> None:
    async with closing(ANSWER, ending) as (server, provider):
        for _ in range(3):
            assert await provider.list_models() == ["m"]
        assert (server.connections, server.requests) == (3, 5)


async def test_a_connection_that_is_closed_while_it_is_idle_costs_nothing() -> None:
    async with closing(ANSWER) as (server, provider):
        for _ in range(3):
            assert await provider.list_models() == ["m"]
            await asyncio.sleep(0.02)
        assert (server.connections, server.requests) == (3, 3)


@pytest.mark.parametrize("ending", [SILENCE, RESET], ids=["closed", "reset"])
async def test_a_new_connection_that_is_closed_is_a_failure(ending: bytes) -> None:
    async with closing(ending) as (server, provider):
        with pytest.raises(Unavailable):
            await provider.list_models()
        assert (server.connections, server.requests) == (1, 1)


async def test_a_request_goes_out_twice_at_most() -> None:
    async with closing(ANSWER, SILENCE) as (server, provider):
        await provider.list_models()
        server.script = (SILENCE,)
        with pytest.raises(Unavailable):
            await provider.list_models()
        assert (server.connections, server.requests) == (2, 3)


@pytest.mark.parametrize("answer", [CUT_OFF, NO_HTTP], ids=["cut off", "no HTTP"])
async def test_what_was_answered_is_not_asked_again(answer: bytes) -> None:
    async with closing(ANSWER, answer) as (server, provider):
        await provider.list_models()
        with pytest.raises(EndpointError):
            await provider.list_models()
        assert (server.connections, server.requests) == (1, 2)
