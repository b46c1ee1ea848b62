"""Asks search providers: a SearXNG server, Brave's API, or the engines that ddgs knows.

Invariant: an answer is foreign, so only strings of expected places are taken from it; a failure
says whose it is and what mends it, and repeats neither key nor query.
"""

import asyncio
import html
import json
import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args
from urllib.parse import urlencode

from net.fetch import Answer, Fetcher, FetchFailed
from prompt.values import Json
from tools.registry import ToolUnavailable
from tools.services import Service

SearchProvider: TypeAlias = Literal["searxng", "brave", "ddgs"]

PROVIDERS: tuple[SearchProvider, ...] = get_args(SearchProvider)

BRAVE_URL = "https://api.search.brave.com/res/v1/web/search"

SECONDS = 12.0
_LARGEST = 2 * 1024 * 1024
_TAG = re.compile(r"<[^>]{0,200}>")

for _quoting in ("ddgs", "primp"):  # below this level they log what is searched for
    logging.getLogger(_quoting).setLevel(logging.ERROR)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A page that was found, with what the provider shows of it."""

    title: str
    url: str
    snippet: str


class SearchProviders:
    """Asks whichever provider a guild has. `brave_url` is where Brave's API answers."""

    def __init__(self, fetcher: Fetcher, *, brave_url: str = BRAVE_URL) -> None:
        self._fetcher = fetcher
        self._brave_url = brave_url

    async def search(self, service: Service, query: str, *, most: int) -> Sequence[Hit]:
        """The first `most` pages that are found. Raises ToolUnavailable."""
        if service.provider == "searxng":
            found = await self._searxng(service, query)
        elif service.provider == "brave":
            found = await self._brave(service, query, most)
        else:
            found = await _ddgs(query, most)
        return [hit for hit in found if hit.url.startswith(("http://", "https://"))][:most]

    async def _searxng(self, service: Service, query: str) -> Sequence[Hit]:
        asked = urlencode({"q": query, "format": "json", "safesearch": "1"})
        headers = {"Accept": "application/json"}
        if service.key:
            headers["Authorization"] = f"Bearer {service.key}"
        url = f"{service.url.removesuffix('/search')}/search?{asked}"
        answer = await self._ask(url, headers, allow_private=service.allow_private)
        if answer.status == 403:
            raise ToolUnavailable(
                "The SearXNG server refuses JSON. Its admin must add json to search.formats in "
                "its settings.yml and let the bot's address pass its limiter."
            )
        found = _body(answer, "The SearXNG server").get("results")
        return [_hit(entry, "content") for entry in _objects(found)]

    async def _brave(self, service: Service, query: str, most: int) -> Sequence[Hit]:
        asked = urlencode({"q": query, "count": most, "safesearch": "moderate"})
        headers = {"Accept": "application/json", "X-Subscription-Token": service.key or ""}
        url = f"{self._brave_url}?{asked}"
        answer = await self._ask(url, headers, allow_private=service.allow_private)
        if answer.status in {401, 403, 422}:
            raise ToolUnavailable(
                "Brave does not take the key. A server admin can enter another with /config search."
            )
        found = _body(answer, "Brave").get("web")
        results = found.get("results") if isinstance(found, Mapping) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        return [_hit(entry, "description") for entry in _objects(results)]

    async def _ask(self, url: str, headers: Mapping[str, str], *, allow_private: bool) -> Answer:
        try:
            return await self._fetcher.ask(
                "GET",
                url,
                headers=headers,
                allow_private=allow_private,
                most=_LARGEST,
                seconds=SECONDS,
            )
        except FetchFailed as error:
            raise ToolUnavailable(f"The search provider does not answer: {error}") from error


async def _ddgs(query: str, most: int) -> Sequence[Hit]:
    """Through a library with connections of its own. It asks the engines that it has built in, at
    their fixed addresses, so there is no address that a guild could choose and none to vet."""
    # Imported late: it brings a browser's network stack along.
    from ddgs.ddgs import DDGS
    from ddgs.exceptions import DDGSException

    def search() -> Sequence[Mapping[str, Json]]:
        return DDGS(timeout=int(SECONDS) - 2).text(query, max_results=most, safesearch="moderate")

    try:
        async with asyncio.timeout(SECONDS):
            found = await asyncio.to_thread(search)
    except TimeoutError as error:
        raise ToolUnavailable(
            "The search engines took too long to answer. Try again later."
        ) from error
    except DDGSException as error:
        if "no results" in str(error).lower():
            return []
        raise ToolUnavailable(
            "The search engines do not answer the bot at the moment. Try again later; a server "
            "admin can choose another provider with /config search."
        ) from error
    return [
        Hit(
            title=_plain(one.get("title")),
            url=_plain(one.get("href")),
            snippet=_plain(one.get("body")),
        )
        for one in found
    ]


def _body(answer: Answer, who: str) -> Mapping[str, Json]:
    if answer.status == 429:
        raise ToolUnavailable(f"{who} takes no more requests for now. Try again later.")
    if answer.status != 200:
        raise ToolUnavailable(f"{who} answered with status {answer.status}. Try again later.")
    try:
        body = json.loads(answer.data)
    except (ValueError, RecursionError) as error:
        raise ToolUnavailable(
            f"{who} answered with something else than JSON; its URL may be wrong."
        ) from error
    return body if isinstance(body, dict) else {}  # pyright: ignore[reportUnknownVariableType]


def _objects(found: Json) -> Sequence[Mapping[str, Json]]:
    if not isinstance(found, list):
        return []
    return [entry for entry in found if isinstance(entry, dict)]  # pyright: ignore[reportUnknownVariableType]


def _hit(entry: Mapping[str, Json], snippet: str, url: str = "url") -> Hit:
    return Hit(
        title=_plain(entry.get("title")),
        url=_plain(entry.get(url)),
        snippet=_plain(entry.get(snippet)),
    )


def _plain(value: Json) -> str:
    """The words of a string with mark-up, on one line."""
    text = _TAG.sub("", value[:10_000]) if isinstance(value, str) else ""
    return " ".join(html.unescape(text).split())
