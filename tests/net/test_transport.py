"""The pinned transport over real sockets."""

import gzip
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeAlias

import httpx2
import pytest
from aiohttp import web
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from net.guard import AddressRefused
from net.transport import PinnedTransport
from providers.base import Refused
from providers.openai.adapter import OpenAIProvider

Handler: TypeAlias = Callable[[web.Request], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def serving(handler: Handler, context: ssl.SSLContext | None = None) -> AsyncGenerator[int]:
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handler)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
    try:
        yield int(runner.addresses[0][1])
    finally:
        await runner.cleanup()


class Names:
    """A name server that a test controls: each look-up takes the next answer, the last stays."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self._answers = list(answers)
        self.asked: list[tuple[str, int]] = []

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append((host, port))
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]


async def test_it_connects_to_the_vetted_address_under_the_urls_name() -> None:
    seen: list[web.Request] = []

    async def answer(request: web.Request) -> web.Response:
        seen.append(request)
        return web.Response(text=await request.text())

    names = Names(["127.0.0.1"])
    async with (
        serving(answer) as port,
        httpx2.AsyncClient(transport=PinnedTransport(allow_private=True, resolve=names)) as client,
    ):
        url = f"http://llm.example:{port}/v1/x?y=1"
        response = await client.post(url, content=b"words")
    assert response.text == "words"
    assert str(response.request.url) == url
    assert seen[0].headers["Host"] == f"llm.example:{port}"
    assert seen[0].path_qs == "/v1/x?y=1"
    assert seen[0].headers["Accept-Encoding"] == "identity"
    assert names.asked == [("llm.example", port)]


@pytest.mark.parametrize("addresses", [["127.0.0.1"], ["8.8.8.8", "127.0.0.1"]])
async def test_a_name_that_turns_private_after_the_check_is_not_followed(
    addresses: Sequence[str],
) -> None:
    reached: list[web.Request] = []

    async def answer(request: web.Request) -> web.Response:
        reached.append(request)
        return web.Response(text="inside")

    async with serving(answer) as port:
        transport = PinnedTransport(allow_private=False, resolve=Names(addresses))
        async with httpx2.AsyncClient(transport=transport) as client:
            with pytest.raises(httpx2.ConnectError) as caught:
                await client.get(f"http://rebound.example:{port}/")
    assert isinstance(caught.value.__cause__, AddressRefused)
    assert reached == []


async def test_the_next_address_is_tried_where_nothing_listens() -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(text="second")

    names = Names(["127.0.0.2", "127.0.0.1"])
    async with (
        serving(answer) as port,
        httpx2.AsyncClient(transport=PinnedTransport(allow_private=True, resolve=names)) as client,
    ):
        assert (await client.get(f"http://two.example:{port}/")).text == "second"


async def test_a_redirect_is_an_answer_and_leads_nowhere() -> None:
    async def answer(request: web.Request) -> web.Response:
        raise web.HTTPFound("http://127.0.0.1:1/secret")

    async with serving(answer) as port:
        provider = OpenAIProvider(
            base_url=f"http://127.0.0.1:{port}/v1",
            model="m",
            transport=PinnedTransport(allow_private=True),
        )
        with pytest.raises(Refused, match="redirects to"):
            await provider.list_models()
        await provider.close()


async def test_a_refusal_reaches_the_admin_with_its_reason() -> None:
    provider = OpenAIProvider(
        base_url="http://127.0.0.1:1/v1", model="m", transport=PinnedTransport(allow_private=False)
    )
    with pytest.raises(Refused) as caught:
        await provider.list_models()
    await provider.close()
    assert caught.value.member == "The model server's address may not be used."
    assert "Only the bot's operator may set" in caught.value.remedy


async def test_an_answer_without_end_is_broken_off() -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        for _ in range(100):
            await response.write(b"x" * 1000)
        return response

    transport = PinnedTransport(allow_private=True, largest=5000)
    async with serving(answer) as port, httpx2.AsyncClient(transport=transport) as client:
        with pytest.raises(httpx2.ReadError, match="too long"):
            await client.get(f"http://127.0.0.1:{port}/")


async def test_a_compressed_answer_is_not_unpacked() -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(
            body=gzip.compress(b"0" * 100_000), headers={"Content-Encoding": "gzip"}
        )

    transport = PinnedTransport(allow_private=True)
    async with serving(answer) as port, httpx2.AsyncClient(transport=transport) as client:
        with pytest.raises(httpx2.ReadError, match="compressed"):
            await client.get(f"http://127.0.0.1:{port}/")


async def test_no_proxy_of_the_environment_stands_between(monkeypatch: pytest.MonkeyPatch) -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.json_response({"data": [{"id": "direct"}]})

    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    async with serving(answer) as port:
        provider = OpenAIProvider(
            base_url=f"http://llm.example:{port}/v1",
            transport=PinnedTransport(allow_private=True, resolve=Names(["127.0.0.1"])),
        )
        assert await provider.list_models() == ["direct"]
        await provider.close()


def certificate(folder: Path, name: str) -> Path:
    """A self-signed certificate for a host name, with its key behind it."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = folder / f"{name}.pem"
    path.write_bytes(
        made.public_bytes(serialization.Encoding.PEM)
        + key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return path


async def test_the_certificate_is_for_the_urls_name_and_not_for_the_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(text="secured")

    asked_for: list[str | None] = []

    def note(sock: object, name: str | None, context: ssl.SSLContext) -> None:
        asked_for.append(name)

    pem = certificate(tmp_path, "llm.example")
    server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    server.load_cert_chain(pem)
    server.sni_callback = note
    monkeypatch.setenv("SSL_CERT_FILE", str(pem))
    transport = PinnedTransport(allow_private=True, resolve=Names(["127.0.0.1"]))
    async with serving(answer, server) as port, httpx2.AsyncClient(transport=transport) as client:
        assert (await client.get(f"https://llm.example:{port}/")).text == "secured"
        with pytest.raises(httpx2.ConnectError, match=r"other\.example"):
            await client.get(f"https://other.example:{port}/")
    assert asked_for[0] == "llm.example"
