"""Connections that a server closes without a word."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from providers.base import Unavailable
from providers.openai.adapter import OpenAIProvider

_MODELS = b'{"object":"list","data":[{"id":"m","object":"model"}]}'


class Closing:
    """A server that answers so many requests a connection and closes it at the next one."""

    def __init__(self, answers: int) -> None:
        self._answers = answers
        self.connections = 0
        self.requests = 0
        self.served: list[asyncio.Task[None] | None] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.served.append(asyncio.current_task())
        for number in range(self._answers + 1):
            try:
                await reader.readuntil(b"\r\n\r\n")
            except asyncio.IncompleteReadError:
                break
            self.requests += 1
            if number < self._answers:
                head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(_MODELS)}\r\n"
                writer.write(f"{head}Content-Type: application/json\r\n\r\n".encode() + _MODELS)
                await writer.drain()
        writer.close()
        await writer.wait_closed()


@asynccontextmanager
async def closing(answers: int) -> AsyncGenerator[tuple[Closing, OpenAIProvider]]:
    behaviour = Closing(answers)
    server = await asyncio.start_server(behaviour.serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    provider = OpenAIProvider(base_url=f"http://127.0.0.1:{port}/v1", model="m")
    try:
        yield behaviour, provider
    finally:
        await provider.close()
        server.close()
        await asyncio.gather(*filter(None, behaviour.served))


async def test_a_kept_connection_that_is_closed_costs_nothing() -> None:
    async with closing(answers=1) as (server, provider):
        for _ in range(3):
            assert await provider.list_models() == ["m"]
        assert (server.connections, server.requests) == (3, 5)


async def test_a_new_connection_that_is_closed_is_a_failure() -> None:
    async with closing(answers=0) as (server, provider):
        with pytest.raises(Unavailable):
            await provider.list_models()
        assert (server.connections, server.requests) == (1, 1)
