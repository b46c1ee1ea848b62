"""Discord's Markdown as HTML, as far as the bot and its tests write it.

Invariant: pure, and whatever the words are, none of them comes out as markup of the page: all text
is escaped before anything else is made of it.
"""

import html
import re
from collections.abc import Callable, Iterator

_FENCE = re.compile(r"```(?:([\w+-]+)\n)?\n?(.*?)\n?```", re.DOTALL)
_CODE = re.compile(r"``(.+?)``|`([^`\n]+)`")
_INLINE: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\*\*(.+?)\*\*"), "strong"),
    (re.compile(r"__(.+?)__"), "u"),
    (re.compile(r"~~(.+?)~~"), "s"),
    (re.compile(r"\*(\S(?:.*?\S)?)\*"), "em"),
    (re.compile(r"(?<!\w)_(\S(?:.*?\S)?)_(?!\w)"), "em"),
)
_LINK = re.compile(r"\[([^\]\n]+)\]\((https?://[^\s)]+)\)|(https?://[^\s<]*[^\s<.,;:!?)])")
_LINE = re.compile(r"(#{1,3} |-# |> |\d+\. |[-*] )(.*)")
_KEPT = "\ue000{}\ue001"
_KEPT_AT = re.compile("\ue000(\\d+)\ue001")

Named = Callable[[str], str]


def as_html(text: str, named: Named = lambda escaped: escaped) -> str:
    """A message's text. `named` makes of escaped text what mentions look like."""
    parts: list[str] = []
    end = 0
    for fence in _FENCE.finditer(text):
        parts += _lines(text[end : fence.start()].strip("\n"), named)
        parts.append(f"<pre><code>{html.escape(fence[2])}</code></pre>")
        end = fence.end()
    parts += _lines(text[end:].strip("\n"), named)
    return "".join(parts)


def _lines(text: str, named: Named) -> Iterator[str]:
    """Paragraphs, headings, lists and quotes, line by line as Discord has them."""
    if not text:
        return
    open_list = ""
    for line in text.split("\n"):
        found = _LINE.fullmatch(line)
        mark, words = (found[1], found[2]) if found else ("", line)
        wanted = "ul" if mark in {"- ", "* "} else "ol" if mark[:1].isdigit() else ""
        if open_list and open_list != wanted:
            yield f"</{open_list}>"
        if wanted and open_list != wanted:
            yield f"<{wanted}>"
        open_list = wanted
        inside = inline(words, named)
        if wanted:
            yield f"<li>{inside}</li>"
        elif mark.startswith("#"):
            level = len(mark) - 1
            yield f"<h{level}>{inside}</h{level}>"
        elif mark == "-# ":
            yield f"<small>{inside}</small>"
        elif mark == "> ":
            yield f"<blockquote>{inside}</blockquote>"
        else:
            yield f"<p>{inside or '<br>'}</p>"
    if open_list:
        yield f"</{open_list}>"


def inline(text: str, named: Named = lambda escaped: escaped) -> str:
    """What stands within a line. Code is kept out of the way until the rest is done."""
    kept: list[str] = []

    def keep(found: re.Match[str]) -> str:
        kept.append(f"<code>{found[1] or found[2]}</code>")
        return _KEPT.format(len(kept) - 1)

    def link(found: re.Match[str]) -> str:
        kept.append(f"<a>{found[1] or found[3]}</a>")
        return _KEPT.format(len(kept) - 1)

    escaped = html.escape(text.replace("\ue000", "").replace("\ue001", ""), quote=False)
    escaped = _CODE.sub(keep, escaped)
    escaped = _LINK.sub(link, escaped)
    for pattern, tag in _INLINE:
        escaped = pattern.sub(rf"<{tag}>\1</{tag}>", escaped)
    return _KEPT_AT.sub(lambda found: kept[int(found[1])], named(escaped))
