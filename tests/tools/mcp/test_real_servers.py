"""Servers that others wrote, over both transports.

mcp-server-time comes with the development dependencies. The servers of the reference collection on
npm are used where VERBATIM_NPM_MCP names a directory that they are installed in:
`npm install @modelcontextprotocol/server-everything @modelcontextprotocol/server-memory`.
"""

import asyncio
import importlib.util
import os
import socket
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from data.mcp_servers import HttpServer, StdioServer
from tools.mcp.connection import Connection
from tools.mcp.link import Opener, Server
from tools.mcp.results import output_of
from tools.registry import ToolFailure, ToolOutput

NPM = os.environ.get("VERBATIM_NPM_MCP", "")
needs_time = pytest.mark.skipif(
    importlib.util.find_spec("mcp_server_time") is None, reason="mcp-server-time is not installed"
)
needs_npm = pytest.mark.skipif(
    not NPM, reason="VERBATIM_NPM_MCP names no directory with the servers from npm"
)


def installed(name: str) -> str:
    return str(Path(NPM) / "node_modules" / ".bin" / name)


@asynccontextmanager
async def connected(server: Server) -> AsyncGenerator[Connection]:
    made = Connection(server.name, lambda changed: Opener().open(server, changed))
    made.start()
    await made.settled()
    assert made.state == "connected", made.error
    try:
        yield made
    finally:
        await made.stop()


async def called(made: Connection, tool: str, **arguments: object) -> ToolOutput:
    return output_of(await made.call(tool, arguments), tool=tool)


@asynccontextmanager
async def everything_over_http() -> AsyncGenerator[HttpServer]:
    """The reference server, on a free port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = await asyncio.create_subprocess_exec(
        installed("mcp-server-everything"),
        "streamableHttp",
        env={**os.environ, "PORT": str(port)},
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        async with asyncio.timeout(20):
            while not await is_open(port):
                await asyncio.sleep(0.05)
        yield HttpServer(name="everything", url=f"http://127.0.0.1:{port}/mcp", allow_private=True)
    finally:
        process.kill()
        await process.wait()


async def is_open(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    await writer.wait_closed()
    return True


@needs_time
async def test_mcp_server_time():
    server = StdioServer(name="time", command=sys.executable, args=("-m", "mcp_server_time"))
    async with connected(server) as made:
        assert [tool.name for tool in made.tools] == ["get_current_time", "convert_time"]
        assert not any(tool.refused for tool in made.tools)
        output = await called(
            made,
            "convert_time",
            source_timezone="Asia/Tokyo",
            time="12:00",
            target_timezone="Asia/Kathmandu",
        )
        assert "T08:45:00+05:45" in output.text
        with pytest.raises(ToolFailure, match="Invalid timezone"):
            await called(made, "get_current_time", timezone="Nowhere/At_all")


@needs_npm
async def test_server_everything_over_pipes():
    server = StdioServer(name="e", command=installed("mcp-server-everything"), args=("stdio",))
    async with connected(server) as made:
        assert "7" in (await called(made, "get-sum", a=3, b=4)).text


@needs_npm
async def test_server_everything_over_http():
    async with everything_over_http() as server, connected(server) as made:
        assert not any(tool.refused for tool in made.tools)
        assert "7" in (await called(made, "get-sum", a=3, b=4)).text
        assert (
            '"temperature"'
            in (await called(made, "get-structured-content", location="Chicago")).text
        )
        picture = await called(made, "get-tiny-image")
        assert [file.data[:4] for file in picture.files] == [b"\x89PNG"]
        links = await called(made, "get-resource-links", count=2)
        assert links.text.count("[resource ") == 2
        with pytest.raises(ToolFailure):
            await called(made, "get-sum", a="three")


@needs_npm
async def test_server_memory_over_pipes(tmp_path: Path):
    server = StdioServer(
        name="memory",
        command=installed("mcp-server-memory"),
        env={"MEMORY_FILE_PATH": str(tmp_path / "memory.jsonl")},
    )
    async with connected(server) as made:
        entity = {"name": "Ada", "entityType": "person", "observations": ["likes tea"]}
        await called(made, "create_entities", entities=[entity])
        assert "likes tea" in (await called(made, "search_nodes", query="tea")).text
