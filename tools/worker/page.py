"""Reads a web page: what it is about, without menus and advertisements.

Invariant: where nothing looks like the page's own text, all of its text is given rather than none.
"""

import logging
from html.parser import HTMLParser

import trafilatura

from prompt.values import Json
from tools.worker.refusing import JobRefused

MOST_LINKS = 15
_LONGEST_URL = 300
_LONGEST_WORDS = 100
_LEAST_TEXT = 50
"""Characters under which what was found is hardly the page's own text."""

_HIDDEN = {"script", "style", "noscript", "template", "svg", "head"}
_ELSEWHERE = {"nav", "header", "footer", "aside"}
_INLINE = {"a", "abbr", "b", "code", "em", "i", "kbd", "mark", "q", "s", "small", "span", "strong"}
_NOT_FOLLOWED = ("#", "javascript:", "mailto:", "data:", "tel:")

logging.getLogger("trafilatura").setLevel(logging.CRITICAL)  # it quotes the pages that it reads


def read_page(text: str) -> dict[str, Json]:
    """Title, text and the first links. Raises JobRefused."""
    outline = _Outline()
    outline.feed(text)
    outline.close()
    found = trafilatura.bare_extraction(text, include_comments=False, include_links=False)
    body = "" if found is None or isinstance(found, dict) else found.text or ""
    if len(body) < _LEAST_TEXT:
        body = max(body, outline.text(), key=len)
    if not body:
        raise JobRefused("The page holds no text; it may need a browser to show any.")
    links = [(words, url) for url, words in outline.links.items() if words]
    return {"title": outline.title, "text": body, "links": links[:MOST_LINKS]}


class _Outline(HTMLParser):
    """Gathers the title, the links outside menus, and every visible word."""

    def __init__(self) -> None:
        super().__init__()
        self.links: dict[str, str] = {}
        self._title: list[str] = []
        self._text: list[str] = []
        self._inside: list[str] = []
        self._link = ""

    @property
    def title(self) -> str:
        return " ".join("".join(self._title).split())

    def text(self) -> str:
        lines = (" ".join(line.split()) for line in "".join(self._text).splitlines())
        return "\n".join(filter(None, lines))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _HIDDEN | _ELSEWHERE | {"title"}:
            self._inside.append(tag)
        if tag not in _INLINE:
            self._text.append("\n")
        if tag == "a":
            url = (dict(attrs).get("href") or "").strip()
            fit = 0 < len(url) <= _LONGEST_URL and not url.lower().startswith(_NOT_FOLLOWED)
            apart = not _ELSEWHERE.isdisjoint(self._inside)
            self._link = url if fit and not apart else ""
            if self._link and len(self.links) < 2 * MOST_LINKS:
                self.links.setdefault(self._link, "")

    def handle_endtag(self, tag: str) -> None:
        if tag in self._inside:
            while self._inside.pop() != tag:
                pass
        if tag not in _INLINE:
            self._text.append("\n")
        if tag == "a":
            self._link = ""

    def handle_data(self, data: str) -> None:
        if self._inside and self._inside[-1] == "title":
            # An icon that is drawn in place has a title of its own.
            if "svg" not in self._inside:
                self._title.append(data)
            return
        if not _HIDDEN.isdisjoint(self._inside):
            return
        self._text.append(data)
        if self._link in self.links:
            words = " ".join(f"{self.links[self._link]} {data}".split())
            self.links[self._link] = words[:_LONGEST_WORDS]
