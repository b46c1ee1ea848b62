"""Model servers are found by what they say, wherever they listen, and nothing else is."""

import asyncio
import socket
import time
from collections.abc import Callable
from contextlib import AsyncExitStack

import pytest

from cli.setup import discovery
from cli.setup.discovery import USUAL_PORTS, Address, Found, discover, usual_addresses
from cli.setup.recognise import Answer, Server, recognise
from tests.loopback import servers
from tests.loopback.servers import IMPOSTORS, Routes, standing

KINDS: dict[str, tuple[Callable[[], Routes], Server]] = {
    "ollama": (
        servers.ollama,
        Server(kind="Ollama", version="0.12.3", models=("qwen3:8b", "llama3.2:3b")),
    ),
    "ollama without a model": (servers.empty_ollama, Server(kind="Ollama", version="0.12.3")),
    "lm studio": (servers.lm_studio, Server(kind="LM Studio", models=("gemma-3-12b", "qwen3-4b"))),
    "llama.cpp": (
        servers.llama_cpp,
        Server(kind="llama.cpp", version="b6500-abcdef", models=("qwen3-8b-q4_k_m.gguf",)),
    ),
    "koboldcpp": (
        servers.koboldcpp,
        Server(kind="KoboldCpp", version="1.99", models=("koboldcpp/mistral-7b.Q4_K_M",)),
    ),
    "tabby": (servers.tabby, Server(kind="TabbyAPI", needs_key=True)),
    "open tabby": (
        lambda: servers.tabby(open_to_all=True),
        Server(kind="TabbyAPI", models=("Qwen3-14B-exl3",)),
    ),
    "vllm": (servers.vllm, Server(kind="vLLM", version="0.11.0", models=("Qwen/Qwen3-8B",))),
    "guarded vllm": (
        lambda: servers.vllm(guarded=True),
        Server(kind="vLLM", version="0.11.0", needs_key=True),
    ),
    "another, guarded": (
        servers.hosted,
        Server(kind="an OpenAI-compatible server", needs_key=True),
    ),
    "another": (
        lambda: servers.plain("m"),
        Server(kind="an OpenAI-compatible server", models=("m",)),
    ),
}


def at(port: int) -> Address:
    return Address(host="127.0.0.1", port=port)


async def test_every_kind_is_told_by_its_answers() -> None:
    async with AsyncExitStack() as stack:
        places = [await stack.enter_async_context(standing(make())) for make, _ in KINDS.values()]
        found = await discover([at(place.port) for place in places])
    assert found == [
        Found(base_url=place.base_url, server=server)
        for place, (_, server) in zip(places, KINDS.values(), strict=True)
    ]
    for place in places:
        assert {asked.method for asked in place.asked} == {"GET"}
        assert not any("Authorization" in asked.headers for asked in place.asked)


async def test_impostors_are_not_listed_and_cost_bounded_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(discovery, "_TOTAL_SECONDS", 1.0)
    async with AsyncExitStack() as stack:
        places = [await stack.enter_async_context(standing(r)) for r in IMPOSTORS.values()]
        genuine = await stack.enter_async_context(standing(servers.ollama()))
        begun = time.monotonic()
        found = await discover([at(place.port) for place in (*places, genuine)])
        assert time.monotonic() - begun < 5
        assert all(place.asked for place in places)
    assert [one.base_url for one in found] == [genuine.base_url]


async def test_a_redirect_is_not_followed() -> None:
    async with standing(servers.ollama()) as target:
        moved = servers.Reply(
            status=307, headers={"Location": f"http://127.0.0.1:{target.port}/v1/models"}
        )
        async with standing({servers.ANY: moved}) as place:
            assert await discover([at(place.port)]) == []
        assert target.asked == []


async def test_no_proxy_stands_between(monkeypatch: pytest.MonkeyPatch) -> None:
    async with standing({}) as proxy, standing(servers.vllm()) as place:
        for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        assert len(await discover([at(place.port)])) == 1
        assert proxy.asked == []


async def test_closed_ports_and_servers_without_http_are_nothing() -> None:
    async def shout(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 smtp ready\r\n")
        writer.close()

    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        closed = unused.getsockname()[1]
        server = await asyncio.start_server(shout, "127.0.0.1", 0)
        async with server:
            port = server.sockets[0].getsockname()[1]
            addresses = [at(closed), at(port), Address(host="no-such-host.invalid", port=1)]
            assert await discover(addresses) == []


def test_a_late_answer_leaves_what_came_before_it() -> None:
    """Judged by the paths that answered: here everything but the slow list of models."""
    answers = {
        "/api/version": Answer(status=200, body={"version": "0.12.3"}),
        "/api/tags": Answer(status=200, body={"models": []}),
    }
    assert recognise(answers) == Server(kind="Ollama", version="0.12.3")


def test_nothing_answered_is_no_server() -> None:
    assert recognise({}) is None


def test_the_usual_places(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery, "in_container", lambda: False)
    assert usual_addresses() == [at(port) for port in USUAL_PORTS]
    assert set(USUAL_PORTS) == {11434, 1234, 8080, 5001, 5000, 8000}
    monkeypatch.setattr(discovery, "in_container", lambda: True)
    hosts = {address.host for address in usual_addresses()}
    assert hosts == {"127.0.0.1", "host.docker.internal"}


@pytest.mark.parametrize(
    ("written", "host", "ports"),
    [
        ("box", "box", USUAL_PORTS),
        ("192.168.1.5:8081", "192.168.1.5", (8081,)),
        ("[fd00::1]:8081", "fd00::1", (8081,)),
        ("fd00::1", "fd00::1", USUAL_PORTS),
    ],
)
def test_further_hosts(
    monkeypatch: pytest.MonkeyPatch, written: str, host: str, ports: tuple[int, ...]
) -> None:
    monkeypatch.setattr(discovery, "in_container", lambda: False)
    further = usual_addresses([written])[len(USUAL_PORTS) :]
    assert further == [Address(host=host, port=port) for port in ports]
    if ":" in host:
        assert further[0].origin.startswith("http://[fd00::1]:")
