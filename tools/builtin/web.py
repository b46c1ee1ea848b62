"""web_search and web_fetch: what the web says.

Invariant: what comes back was written by strangers. It is bounded, shows no invisible character,
and says where it is from; what was not found is told in words.
"""

import re
from collections.abc import Sequence
from typing import Annotated
from urllib.parse import urljoin

from pydantic import Field

from net.fetch import FetchBlocked, Fetcher, FetchFailed
from prompt.values import Rate
from tools.paging import page_of, visible
from tools.registry import Tool, ToolContext, ToolFailure, ToolUnavailable, tool
from tools.search_providers import Hit, SearchProviders
from tools.services import Missing, Services
from tools.worker.process import Extracted, JobFailed, Worker

PAGE_CHARACTERS = 20_000
MOST_HITS = 8
_LONGEST_TITLE = 150
_LONGEST_SNIPPET = 300

_SEARCH_RATE = Rate(calls=15, seconds=60)
_FETCH_RATE = Rate(calls=20, seconds=60)


class BlockedUrl(ToolFailure):
    """An address that is not fetched from, whoever asks."""

    code = "blocked_url"


def web_tools(
    services: Services, providers: SearchProviders, fetcher: Fetcher, worker: Worker
) -> Sequence[Tool]:
    """web_search and web_fetch."""

    @tool(read_only=True, egress=True, foreign=True, rate=_SEARCH_RATE)
    async def web_search(
        context: ToolContext,
        *,
        query: Annotated[str, Field(min_length=1, max_length=300, description="words to look for")],
        count: Annotated[int, Field(ge=1, le=MOST_HITS, description="results")] = 5,
    ) -> str:
        """Search the web for current facts. Read a result with web_fetch."""
        service = await services.search(context.guild_id)
        if isinstance(service, Missing):
            raise ToolUnavailable(f"The web cannot be searched: {service.why}.")
        hits = await providers.search(service, query, most=count)
        if not hits:
            return "Nothing was found. Try fewer or other words."
        return "\n\n".join(_told(number, hit) for number, hit in enumerate(hits, start=1))

    @tool(read_only=True, egress=True, foreign=True, rate=_FETCH_RATE)
    async def web_fetch(
        context: ToolContext,
        *,
        url: Annotated[str, Field(min_length=1, max_length=2000, description="http or https")],
        start: Annotated[int, Field(ge=0, description="character to read on from")] = 0,
    ) -> str:
        """Read a web page or PDF as text."""
        try:
            page = await fetcher.page(
                url if re.match(r"[a-z][a-z0-9+.-]*:", url, re.IGNORECASE) else f"https://{url}"
            )
        except FetchBlocked as error:
            raise BlockedUrl(str(error)) from error
        except FetchFailed as error:
            raise ToolFailure(f"{error} Try another page.") from error
        try:
            found = await worker.extract(page.data, name="", content_type=page.content_type)
        except JobFailed as error:
            raise ToolFailure(f"The page cannot be read. {error}") from error
        return _page_told(found, page.url, start)

    return web_search, web_fetch


def _told(number: int, hit: Hit) -> str:
    title = visible(hit.title)[:_LONGEST_TITLE] or "(no title)"
    lines = [f"{number}. {title}", visible(hit.url), visible(hit.snippet)[:_LONGEST_SNIPPET]]
    return "\n".join(filter(None, lines))


def _page_told(found: Extracted, url: str, start: int) -> str:
    title = found.title[:_LONGEST_TITLE]
    head = "\n".join(filter(None, [title, visible(url)]))
    links = "" if start or not found.links else _links(found, url)
    room = PAGE_CHARACTERS - len(head) - len(links) - 2
    return f"{head}\n\n{page_of(found.text, start, room)}{links}"


def _links(found: Extracted, url: str) -> str:
    lines: list[str] = []
    for words, target in found.links:
        try:
            lines.append(f"- {visible(words)}: {visible(urljoin(url, target))}")
        except ValueError:
            continue  # what stands there is no address
    return "\n\nLinks:\n" + "\n".join(lines) if lines else ""
