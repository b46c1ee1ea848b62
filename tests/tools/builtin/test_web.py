"""web_search and web_fetch against servers on this machine."""

import json
import logging

import pytest
from aiohttp import web

from net.fetch import Fetcher
from tests.tools.conftest import Contexts
from tests.tools.serving import Chosen, Page, Site, site
from tests.tools.test_dispatch import Bench, call
from tools.builtin.web import PAGE_CHARACTERS, web_tools
from tools.exposure import Gates
from tools.registry import Tool, ToolFailure, ToolUnavailable
from tools.search_providers import SearchProviders
from tools.services import Missing, Service
from tools.surface import build_surface
from tools.toolset import offering
from tools.worker.process import Worker

LONG = " ".join(f"word{n}" for n in range(6000))
ARTICLE = f"""<html><head><title>Tides at the mill</title></head>
<body><nav><a href="/">Home</a></nav>
<article><p>{"The tide turns twice a day at the old mill. " * 10}</p>
<p><a href="more?x=1">More tides</a></p></article></body></html>"""
PAGES = {
    "/article": web.Response(text=ARTICLE, content_type="text/html"),
    "/long": web.Response(text=LONG, content_type="text/plain"),
    "/hidden": web.Response(
        text="Be\u200b calm.\U000e0041\u202e Eat\u00ad well.\x07", content_type="text/plain"
    ),
    "/bare": web.Response(text="<html><script>x</script></html>", content_type="text/html"),
    "/image": web.Response(body=b"x", content_type="image/png"),
    "/moved": web.Response(status=302, headers={"Location": "/article"}),
}


def tools_of(
    worker: Worker, services: Chosen | None = None, here: Site | None = None
) -> tuple[Tool, Tool]:
    fetcher = Fetcher(allow_private=here is not None)
    search, fetch = web_tools(services or Chosen(), SearchProviders(fetcher), fetcher, worker)
    return search, fetch


@pytest.mark.parametrize(
    "url",
    ["file:///etc/passwd", "http://169.254.169.254/", "http://[::ffff:127.0.0.1]/", "localhost"],
)
async def test_c10_an_address_that_is_not_public_is_a_blocked_url(
    url: str, context: Contexts, worker: Worker
) -> None:
    _, fetch = tools_of(worker)
    surface = build_surface(offering([fetch]), gates=Gates(web=True))
    outcome, text = await Bench(context(), fetch).run(call("web_fetch", url=url), surface=surface)
    told = json.loads(text)
    assert (outcome, told["error"], told["tool"]) == ("failed", "blocked_url", "web_fetch")
    assert "Only public http and https addresses are fetched" in told["message"]


async def test_a_page_is_told_with_its_title_its_address_and_its_links(
    context: Contexts, worker: Worker
) -> None:
    async with site(PAGES) as here:
        _, fetch = tools_of(worker, here=here)
        told = (await fetch.run(context(), {"url": f"{here.url}/moved"})).text
    head, _, rest = told.partition("\n\n")
    assert head == f"Tides at the mill\n{here.url}/article"
    assert rest.startswith("The tide turns twice a day")
    assert told.endswith(f"Links:\n- More tides: {here.url}/more?x=1")


async def test_a_long_page_is_read_on_where_it_ended(context: Contexts, worker: Worker) -> None:
    async with site(PAGES) as here:
        _, fetch = tools_of(worker, here=here)
        start, words = 0, list[str]()
        for _ in range(4):
            told = (await fetch.run(context(), {"url": f"{here.url}/long", "start": start})).text
            assert len(told) <= PAGE_CHARACTERS
            text, _, hint = told.partition("\n\n")[2].partition("\n[characters ")
            words += text.split()
            if not hint:
                break
            start = int(hint.partition("start=")[2].split()[0])
        assert " ".join(words) == LONG
        beyond = await fetch.run(context(), {"url": f"{here.url}/long", "start": 10**6})
    assert "there is nothing from 1,000,000 on" in beyond.text


async def test_invisible_characters_are_taken_out(context: Contexts, worker: Worker) -> None:
    async with site(PAGES) as here:
        _, fetch = tools_of(worker, here=here)
        told = await fetch.run(context(), {"url": f"{here.url}/hidden"})
    assert told.text.endswith("Be calm. Eat well.")


@pytest.mark.parametrize(
    ("path", "words"),
    [("/nowhere", "404 Not Found"), ("/image", "image/png"), ("/bare", "may need a browser")],
)
async def test_what_cannot_be_read_is_told(
    path: str, words: str, context: Contexts, worker: Worker
) -> None:
    async with site(PAGES) as here:
        _, fetch = tools_of(worker, here=here)
        with pytest.raises(ToolFailure, match=words):
            await fetch.run(context(), {"url": here.url + path})


SEARXNG = {
    "results": [
        {
            "title": "Tide <b>tables</b>",
            "url": "https://tides.example/a",
            "content": "High &amp; low",
        },
        {"title": "Run", "url": "javascript:alert(1)", "content": "x"},
        {"title": None, "url": "https://tides.example/b"},
        "junk",
    ]
}
BRAVE = {
    "web": {"results": [{"title": "Eels", "url": "https://eels.example", "description": "Long"}]}
}


async def test_searxng_is_asked_for_json_and_told_compactly(
    context: Contexts, worker: Worker
) -> None:
    async with site({"/sub/search": (200, SEARXNG)}) as here:
        service = Service(provider="searxng", url=f"{here.url}/sub", allow_private=True)
        search, _ = tools_of(worker, Chosen(searching=service))
        told = (await search.run(context(), {"query": "tides & eels"})).text
    assert told == (
        "1. Tide tables\nhttps://tides.example/a\nHigh & low\n\n2. (no title)\nhttps://tides.example/b"
    )
    (asked,) = here.asked
    assert asked.query["q"] == "tides & eels"
    assert asked.query["format"] == "json"
    assert "Authorization" not in asked.headers


async def test_a_guilds_searxng_cannot_be_in_the_operators_network(
    context: Contexts, worker: Worker
) -> None:
    async with site({"/search": (200, SEARXNG)}) as here:
        service = Service(provider="searxng", url=here.url)
        search, _ = tools_of(worker, Chosen(searching=service))
        with pytest.raises(ToolUnavailable, match="leads to the machine that the bot runs on"):
            await search.run(context(), {"query": "x"})
    assert here.asked == []


REFUSALS: list[tuple[Page, str]] = [
    ((403, {}), "add json to search.formats"),
    ((429, {}), "no more requests for now"),
    ((500, {}), "status 500"),
    (web.Response(text="<html>"), "something else than JSON"),
]


@pytest.mark.parametrize(("answer", "words"), REFUSALS)
async def test_a_provider_that_fails_is_told_with_what_mends_it(
    answer: Page, words: str, context: Contexts, worker: Worker
) -> None:
    async with site({"/search": answer}) as here:
        service = Service(provider="searxng", url=here.url, allow_private=True)
        search, _ = tools_of(worker, Chosen(searching=service))
        with pytest.raises(ToolUnavailable, match=words):
            await search.run(context(), {"query": "x"})


async def test_brave_gets_its_key_in_its_header(context: Contexts) -> None:
    async with site({"/brave": (200, BRAVE)}) as here:
        providers = SearchProviders(Fetcher(), brave_url=f"{here.url}/brave")
        service = Service(provider="brave", key="brave-key-1", allow_private=True)
        assert "brave-key-1" not in repr(service)
        (hit,) = await providers.search(service, "eels", most=5)
    assert (hit.title, hit.url, hit.snippet) == ("Eels", "https://eels.example", "Long")
    assert here.asked[0].headers["X-Subscription-Token"] == "brave-key-1"
    assert "brave-key-1" not in str(here.asked[0].url)


async def test_a_key_that_brave_does_not_take_is_told_without_it() -> None:
    async with site({"/brave": (401, {})}) as here:
        providers = SearchProviders(Fetcher(), brave_url=f"{here.url}/brave")
        with pytest.raises(ToolUnavailable, match="/config search") as refused:
            await providers.search(
                Service(provider="brave", key="brave-key-1", allow_private=True), "x", most=5
            )
    assert "brave-key-1" not in str(refused.value)


async def test_a_search_that_finds_nothing_says_so(context: Contexts, worker: Worker) -> None:
    async with site({"/search": (200, {"results": []})}) as here:
        service = Service(provider="searxng", url=here.url, allow_private=True)
        search, _ = tools_of(worker, Chosen(searching=service))
        assert "Nothing was found" in (await search.run(context(), {"query": "x"})).text


async def test_without_a_provider_the_reason_is_told(context: Contexts, worker: Worker) -> None:
    search, _ = tools_of(worker, Chosen(searching=Missing(why="none is set; /config search")))
    with pytest.raises(ToolUnavailable, match="none is set; /config search"):
        await search.run(context(), {"query": "x"})


async def test_ddgs_is_asked_and_the_query_stays_out_of_the_log(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Through the library itself, with one engine that is led to this machine."""
    from ddgs.engines import ENGINES

    caplog.set_level(logging.DEBUG)
    page = (
        '<html><body><div class="result__body"><h2>Herons</h2>'
        '<a href="https://herons.example/">They stand still.</a></div></body></html>'
    )
    async with site({"/html/": web.Response(text=page, content_type="text/html")}) as here:
        engine = ENGINES["text"]["duckduckgo"]
        monkeypatch.setattr(engine, "search_url", f"{here.url}/html/")
        monkeypatch.setattr(engine, "search_method", "GET")  # as others have it, in the address
        monkeypatch.setitem(ENGINES, "text", {"duckduckgo": engine})
        hits = await SearchProviders(Fetcher()).search(Service(provider="ddgs"), "herons", most=3)
    assert "herons" not in caplog.text
    assert [(hit.title, hit.url) for hit in hits] == [("Herons", "https://herons.example/")]
    assert "They stand still." in hits[0].snippet


async def test_ddgs_that_fails_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    from ddgs.engines import ENGINES

    engine = ENGINES["text"]["duckduckgo"]
    monkeypatch.setattr(engine, "search_url", "http://127.0.0.1:1/")
    monkeypatch.setitem(ENGINES, "text", {"duckduckgo": engine})
    with pytest.raises(ToolUnavailable, match="/config search"):
        await SearchProviders(Fetcher()).search(Service(provider="ddgs"), "herons", most=3)
