"""Fetching pages over real sockets, with what is connected to on record."""

import asyncio
import gzip
import zlib
from collections.abc import Sequence

import pytest
from aiohttp import web

from net import fetch
from net.fetch import FetchBlocked, Fetcher, FetchFailed
from tests.net.test_transport import Names, serving

PUBLIC = "93.184.216.34"


@pytest.fixture
def connected(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses that sockets connect to. PUBLIC is led to this machine, as a network would
    lead it to a server."""
    found: list[str] = []
    loops = asyncio.selector_events.BaseSelectorEventLoop  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]
    connect = loops.sock_connect  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]

    async def record(loop: object, sock: object, address: tuple[str, int]) -> None:
        found.append(address[0])
        led = ("127.0.0.1", address[1]) if address[0] == PUBLIC else address
        await connect(loop, sock, led)

    monkeypatch.setattr(loops, "sock_connect", record)  # pyright: ignore[reportUnknownArgumentType]
    return found


async def hello(request: web.Request) -> web.Response:
    return web.Response(text="<p>Hello</p>", content_type="text/html")


def loopback() -> Fetcher:
    return Fetcher(allow_private=True)


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "http://169.254.169.254/",
        "http://[::ffff:127.0.0.1]:{port}/",
        "http://100.64.0.1/",
        "http://[2002:7f00:1::]:{port}/",
        "http://[64:ff9b::7f00:1]:{port}/",
        "http://127.0.0.1:{port}/",
        "http://localhost:{port}/",
        "http://2130706433:{port}/",
        "http://user:pass@93.184.216.34:{port}/",
        "gopher://93.184.216.34/",
    ],
)
async def test_c10_an_address_that_is_not_public_is_never_connected_to(
    url: str, connected: list[str]
) -> None:
    async with serving(hello) as port:
        with pytest.raises(FetchBlocked, match=r"fetched\.$"):
            await Fetcher().page(url.format(port=port))
    assert connected == []


@pytest.mark.parametrize("addresses", [[PUBLIC, "10.0.0.5"], ["10.0.0.5", PUBLIC]])
async def test_c10_one_private_address_of_a_name_is_enough(
    addresses: Sequence[str], connected: list[str]
) -> None:
    async with serving(hello) as port:
        with pytest.raises(FetchBlocked, match=r"mixed\.example leads to a private network"):
            await Fetcher(resolve=Names(addresses)).page(f"http://mixed.example:{port}/")
    assert connected == []


async def test_c10_a_public_page_that_redirects_inside_is_not_followed(
    connected: list[str],
) -> None:
    asked: list[str] = []

    async def redirect(request: web.Request) -> web.Response:
        asked.append(request.host)
        raise web.HTTPFound(f"http://127.0.0.1:{request.url.port}/secret")

    async def resolve(host: str, port: int) -> Sequence[str]:
        return [PUBLIC] if host == "public.example" else [host]

    async with serving(redirect) as port:
        with pytest.raises(FetchBlocked, match=r"^127\.0\.0\.1 leads to the machine"):
            await Fetcher(resolve=resolve).page(f"http://public.example:{port}/")
    assert connected == [PUBLIC]
    assert asked == [f"public.example:{port}"]


async def test_c10_a_name_that_turns_private_between_check_and_connection_is_refused(
    connected: list[str],
) -> None:
    names = Names([PUBLIC], ["127.0.0.1"])
    async with serving(hello) as port:
        with pytest.raises(FetchBlocked, match=r"rebound\.example leads to the machine"):
            await Fetcher(resolve=names).page(f"http://rebound.example:{port}/")
    assert len(names.asked) == 2
    assert connected == []


async def test_a_public_page_is_fetched_from_the_vetted_address(connected: list[str]) -> None:
    async with serving(hello) as port:
        url = f"http://public.example:{port}/"
        page = await Fetcher(resolve=Names([PUBLIC])).page(url)
    assert (page.url, page.data) == (url, b"<p>Hello</p>")
    assert page.content_type == "text/html; charset=utf-8"
    assert connected == [PUBLIC]


@pytest.mark.parametrize(("hops", "arrives"), [(3, True), (4, False)])
async def test_three_redirects_are_followed_and_no_cookie_kept(hops: int, arrives: bool) -> None:
    seen: list[web.Request] = []

    async def onward(request: web.Request) -> web.Response:
        seen.append(request)
        at = int(request.path.strip("/") or 0)
        if at == hops:
            return web.Response(text="there")
        return web.Response(
            status=302, headers={"Location": f"/{at + 1}", "Set-Cookie": "who=you; Path=/"}
        )

    async with serving(onward) as port:
        if arrives:
            page = await loopback().page(f"http://127.0.0.1:{port}/")
            assert page.url == f"http://127.0.0.1:{port}/3"
        else:
            with pytest.raises(FetchFailed, match="redirects more than 3 times"):
                await loopback().page(f"http://127.0.0.1:{port}/")
    assert len(seen) == 4
    assert not any("Cookie" in request.headers for request in seen)
    assert not any("Authorization" in request.headers for request in seen)


@pytest.mark.parametrize(
    ("content_type", "fine"),
    [
        ("text/plain", True),
        ("application/json", True),
        ("application/vnd.api+json", True),
        ("application/pdf", True),
        ("image/png", False),
        ("application/octet-stream", False),
        ("video/mp4", False),
    ],
)
async def test_only_text_and_pdf_are_fetched(content_type: str, fine: bool) -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(body=b"x", headers={"Content-Type": content_type})

    async with serving(answer) as port:
        url = f"http://127.0.0.1:{port}/"
        if fine:
            assert (await loopback().page(url)).content_type == content_type
        else:
            with pytest.raises(FetchFailed, match=f"That is {content_type}, not a page"):
                await loopback().page(url)


@pytest.mark.parametrize("encoding", ["identity", "gzip", "deflate"])
@pytest.mark.parametrize("size", [1000, 1001, 5_000_000])
async def test_bytes_are_counted_as_they_unpack(
    encoding: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetch, "LARGEST_PAGE", 1000)
    whole = b"a" * size
    pack = {"gzip": gzip.compress, "deflate": zlib.compress}.get(encoding, bytes)
    packed = pack(whole)

    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(
            headers={"Content-Type": "text/plain", "Content-Encoding": encoding}
        )
        await response.prepare(request)
        try:
            for at in range(0, len(packed), 65536):
                await response.write(packed[at : at + 65536])
        except ConnectionError:
            pass  # the reader has had enough
        return response

    async with serving(answer) as port:
        url = f"http://127.0.0.1:{port}/"
        if size == 1000:
            assert (await loopback().page(url)).data == b"a" * 1000
        else:
            with pytest.raises(FetchFailed, match="larger than"):
                await loopback().page(url)


async def test_other_compression_and_damage_are_told() -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(
            body=b"junk",
            headers={"Content-Encoding": request.query["as"], "Content-Type": "text/plain"},
        )

    async with serving(answer) as port:
        with pytest.raises(FetchFailed, match="do not read"):
            await loopback().page(f"http://127.0.0.1:{port}/?as=br")
        with pytest.raises(FetchFailed, match="damaged"):
            await loopback().page(f"http://127.0.0.1:{port}/?as=gzip")


async def test_a_page_that_is_slow_is_given_up_as_a_whole() -> None:
    async def drip(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/plain"})
        await response.prepare(request)
        try:
            while True:
                await response.write(b".")
                await asyncio.sleep(0.02)
        except ConnectionError:
            return response

    async with serving(drip) as port:
        with pytest.raises(FetchFailed, match="took longer than"):
            await loopback().page(f"http://127.0.0.1:{port}/", seconds=0.2)


async def test_failures_of_the_server_are_told_in_words() -> None:
    async def missing(request: web.Request) -> web.Response:
        raise web.HTTPNotFound

    async with serving(missing) as port:
        with pytest.raises(FetchFailed, match="answered 404 Not Found"):
            await loopback().page(f"http://127.0.0.1:{port}/")
    with pytest.raises(FetchFailed, match=r"127\.0\.0\.1 cannot be reached"):
        await loopback().page(f"http://127.0.0.1:{port}/")


async def test_no_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    async with serving(hello) as port:
        assert (await loopback().page(f"http://127.0.0.1:{port}/")).data == b"<p>Hello</p>"
