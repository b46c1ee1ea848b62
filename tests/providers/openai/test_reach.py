import asyncio
from pathlib import Path

import httpx2
import pytest

from providers.base import Unavailable
from providers.openai.adapter import OpenAIProvider
from providers.openai.errors import SettingNames, Target, from_exception
from providers.openai.reach import in_container, when_refused, when_silent

SETTINGS = [
    (11434, "OLLAMA_HOST"),
    (1234, "Serve on Local Network"),
    (8080, "--host 0.0.0.0"),
    (5001, "KoboldCpp"),
    (5000, "TabbyAPI"),
    (8000, "vLLM"),
    (9999, "0.0.0.0 rather than 127.0.0.1"),
]


@pytest.mark.parametrize(("port", "setting"), SETTINGS)
def test_a_home_network_address_names_the_servers_own_setting(port: int, setting: str) -> None:
    url = f"http://192.168.1.20:{port}/v1"
    for remedy in (when_refused(url, contained=False), when_silent(url)):
        assert setting in remedy
        assert url in remedy
    assert f"firewall accept connections to port {port}" in when_silent(url)


NEAR = [
    "http://10.1.2.3:11434/v1",
    "http://100.100.1.1:11434/v1",
    "http://[fe80::1]:11434/v1",
    "http://[fd00::2]:11434/v1",
    "http://gaming-pc:11434/v1",
    "http://gaming-pc.local:11434/v1",
    "http://host.docker.internal:11434/v1",
]


@pytest.mark.parametrize("url", NEAR)
def test_what_belongs_to_a_home_network(url: str) -> None:
    assert "OLLAMA_HOST" in when_refused(url, contained=False)


FAR = ["https://api.example.com/v1", "http://9.9.9.9:11434/v1", "http://[2606:4700::1]:8080/v1"]


@pytest.mark.parametrize("url", FAR)
def test_other_peoples_servers_are_not_reconfigured(url: str) -> None:
    for remedy in (when_refused(url, contained=True), when_silent(url)):
        assert url in remedy
        assert "0.0.0.0" not in remedy


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]"])
def test_a_containers_localhost_names_the_way_out(host: str) -> None:
    url = f"http://{host}:11434/v1"
    remedy = when_refused(url, contained=True)
    assert "http://host.docker.internal:11434/v1" in remedy
    assert "OLLAMA_HOST" in remedy
    outside = when_refused(url, contained=False)
    assert "docker" not in outside
    assert "OLLAMA_HOST" not in outside


def test_a_container_shows_by_a_file_or_a_variable(tmp_path: Path) -> None:
    assert not in_container({}, root=tmp_path)
    assert not in_container({"container": ""}, root=tmp_path)
    assert in_container({"container": "docker"}, root=tmp_path)
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / ".containerenv").touch()
    assert in_container({}, root=tmp_path)


def test_docker_shows_by_its_file(tmp_path: Path) -> None:
    (tmp_path / ".dockerenv").touch()
    assert in_container({}, root=tmp_path)


async def unused_port() -> int:
    server = await asyncio.start_server(lambda _reader, _writer: None, "127.0.0.1", 0)
    port: int = server.sockets[0].getsockname()[1]
    server.close()
    await server.wait_closed()
    return port


async def refusal() -> Exception:
    """What the client raises where nothing listens."""
    port = await unused_port()
    async with httpx2.AsyncClient() as client:
        with pytest.raises(httpx2.ConnectError) as caught:
            await client.get(f"http://127.0.0.1:{port}/")
    return caught.value


async def test_a_real_refusal_gets_the_remedy_of_its_address() -> None:
    target = Target(endpoint="http://127.0.0.1:11434/v1", contained=True)
    error = from_exception(await refusal(), target)
    assert isinstance(error, Unavailable)
    assert "host.docker.internal:11434" in error.remedy
    near = from_exception(await refusal(), Target(endpoint="http://gaming-pc:1234/v1"))
    assert "Serve on Local Network" in near.remedy


async def test_a_remedy_names_the_setting_that_holds_the_address() -> None:
    names = SettingNames(url="the URL in /config setup")
    target = Target(endpoint="http://127.0.0.1:11434/v1", contained=True, names=names)
    remedy = from_exception(await refusal(), target).remedy
    assert "set the URL in /config setup to http://host.docker.internal:11434/v1" in remedy
    assert "VERBATIM_BASE_URL" not in remedy


async def test_the_provider_knows_where_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("container", "docker")
    port = await unused_port()
    provider = OpenAIProvider(base_url=f"http://127.0.0.1:{port}")
    try:
        with pytest.raises(Unavailable) as caught:
            await provider.list_models()
    finally:
        await provider.close()
    assert f"http://host.docker.internal:{port}/v1" in caught.value.remedy


def test_a_timeout_gets_the_remedy_of_its_address() -> None:
    error = from_exception(
        httpx2.ConnectTimeout("timed out"), Target(endpoint="http://192.168.1.20:8080/v1")
    )
    assert "firewall" in error.remedy
    assert "--host 0.0.0.0" in error.remedy
