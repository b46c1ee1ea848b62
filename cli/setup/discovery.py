"""Looks for model servers where they usually listen.

Invariant: it asks with GET only, without a key, follows no redirect, uses no proxy, reads a bounded
amount, and takes a bounded time whatever listens there.
"""

import asyncio
import json
import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

from cli.setup.recognise import MODELS, PATHS, Answer, Server, recognise

LOOPBACK = "127.0.0.1"
CONTAINER_HOST = "host.docker.internal"
"""How a container reaches the machine that it runs on."""

USUAL_PORTS = (
    11434,  # Ollama
    1234,  # LM Studio
    8080,  # llama.cpp
    5001,  # KoboldCpp
    5000,  # TabbyAPI
    8000,  # vLLM
)

_CONNECT_SECONDS = 1.0
_TOTAL_SECONDS = 3.0
"""For all questions to one port: a busy server answers late, but it answers."""

_MOST_BYTES = 1 << 20

_CONTAINER_MARKS = (Path("/.dockerenv"), Path("/run/.containerenv"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where to look."""

    host: str
    port: int

    @property
    def origin(self) -> str:
        """The start of a URL."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A server and its base URL."""

    base_url: str
    server: Server


def usual_addresses(hosts: Sequence[str] = ()) -> list[Address]:
    """The usual ports of this machine, of a container's host, and of further `hosts`.

    One of those may name its port, as `host:port`; then only that is asked.
    """
    here = [LOOPBACK, *([CONTAINER_HOST] if in_container() else [])]
    return [address for host in (*here, *hosts) for address in _addresses(host)]


def in_container() -> bool:
    """Whether this process runs in a container, where loopback is not the machine's."""
    return any(mark.exists() for mark in _CONTAINER_MARKS)


async def discover(addresses: Sequence[Address]) -> list[Found]:
    """The model servers at `addresses`, in their order."""
    async with httpx2.AsyncClient(
        trust_env=False,
        follow_redirects=False,
        timeout=httpx2.Timeout(_TOTAL_SECONDS, connect=_CONNECT_SECONDS),
        headers={"Accept": "application/json"},
    ) as client:
        found = await asyncio.gather(*(_look(client, address) for address in addresses))
    return [one for one in found if one is not None]


def _addresses(host: str) -> list[Address]:
    name, colon, port = host.rpartition(":")
    if colon and port.isdigit() and (":" not in name or name.endswith("]")):
        return [Address(host=name.strip("[]"), port=int(port))]
    return [Address(host=host.strip("[]"), port=port) for port in USUAL_PORTS]


async def _look(client: httpx2.AsyncClient, address: Address) -> Found | None:
    answers: dict[str, Answer] = {}

    async def ask(path: str) -> bool:
        answer = await _ask(client, address.origin + path)
        if answer is not None:
            answers[path] = answer
        return answer is not None

    try:
        async with asyncio.timeout(_TOTAL_SECONDS):
            if await ask(MODELS):  # something listens there, and speaks HTTP
                await asyncio.gather(*(ask(path) for path in PATHS if path != MODELS))
    except TimeoutError:
        pass  # judged by what has answered
    server = recognise(answers)
    return Found(base_url=f"{address.origin}/v1", server=server) if server else None


async def _ask(client: httpx2.AsyncClient, url: str) -> Answer | None:
    """The answer to a GET; None if there is none that HTTP knows."""
    try:
        async with client.stream("GET", url) as response:
            body = b""
            async for block in response.aiter_bytes():
                body += block
                if len(body) > _MOST_BYTES:
                    return Answer(status=response.status_code)
    except (httpx2.HTTPError, httpx2.InvalidURL, ssl.SSLError, OSError):
        return None
    return Answer(status=response.status_code, body=_decoded(body))


def _decoded(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None
