"""Reads calls written as elements: a function tag, parameter tags, values between them.

Invariant: a closing tag ends a value only where a new parameter, the function's end or the
wrapper's end follows, so that markup inside a value stays part of it.
"""

import html
import re
from dataclasses import dataclass

from prompt.values import Json, ToolSpec
from providers.verbatim.arguments import parameter_names, read_json
from providers.verbatim.candidate import Candidate
from providers.verbatim.scanner import Wait, Words
from providers.verbatim.sites import Ending

_ATTRIBUTE = re.compile(r"([\w:-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))")
_TAG_END = re.compile(r"[><]")
_TAG_LIMIT = 512
_TAG = re.compile(r"<")
_ANY = re.compile(r"[<\]]")
_ENTITY = re.compile(r"&(?:lt|gt|amp|quot|apos|#\d{1,7}|#x[0-9a-fA-F]{1,6});")
_SURPLUS = re.compile(r"[\s}\]]*")
_CDATA = "<![CDATA["
_CDATA_END = Words(("]]>",))


@dataclass(frozen=True, slots=True, kw_only=True)
class Elements:
    """The tags of one family.

    `parameter` are openers without their attributes, `parameter_end` and `function_end` closers,
    `wrapper_end` what closes the wrapper around. `decode`: entities stand for characters.
    `trim` stands before each tag and means nothing. `common`: other texts hold such tags too.
    """

    parameter: tuple[str, ...]
    parameter_end: tuple[str, ...]
    function_end: tuple[str, ...]
    wrapper_end: tuple[str, ...]
    following: tuple[str, ...] = ()
    decode: bool = False
    trim: str = ""
    common: bool = False


class ElementReader:
    """Reads the inside of one function element."""

    def __init__(self, elements: Elements) -> None:
        self._elements = elements
        self._function_end = Words(elements.function_end)
        self._structure = Words(
            (
                *elements.parameter,
                *elements.function_end,
                *elements.wrapper_end,
                *elements.following,
            )
        )
        self._value_stops = Words(
            (
                *elements.parameter,
                *elements.parameter_end,
                *elements.function_end,
                *elements.wrapper_end,
                *elements.following,
            )
        )
        self._noise = Words((elements.trim,)) if elements.trim else Words(())

    def _opening(
        self, c: Candidate, marker: str, pos: int
    ) -> Wait[tuple[str, bool | None, int] | None]:
        """The parameter whose tag's attributes begin at `pos`: its name, whether it says that it
        is a string, and where its value begins. None where the tag does not close."""
        end = yield from tag_close(c, pos)
        if end < 0:
            return None
        found = attributes(marker[-1] + c.scan.slice(pos, end))
        is_string = {"true": True, "false": False}.get(found.get("string", ""))
        return found.get("name", ""), is_string, end + 1

    def read(self, c: Candidate, name: str, start: int, pos: int) -> Wait[int | None]:
        """Read parameters from `pos` on; the element `name` began at `start`."""
        spec = c.names.resolve(name)
        values: dict[str, Json] = {}
        ending: Ending = "forgiven"
        size = 0
        while True:
            inside = yield from self._space(c, pos)
            if (yield from c.scan.peek(inside)) == "{" and not values:
                return (yield from self._json_body(c, name, start, inside))
            marker, end = yield from c.scan.word(inside, self._structure)
            if not values and self._only_mentioned(c, marker, inside):
                return None
            if spec:
                c.started(spec, start)
            if marker in self._elements.function_end:
                pos, ending = end, "closed"
                break
            if marker not in self._elements.parameter:
                ending = "closed" if marker else ending
                break
            opening = yield from self._opening(c, marker, end)
            if opening is None:
                cut = _cut_in_tag(c, end)
                ending = "cut" if cut else "closed"
                pos = c.scan.end if cut else inside
                break
            key, as_string, begin = opening
            value, pos, ending = yield from self._value(c, spec, key, values, begin)
            size += len(value)
            values[key] = _json_value(value) if as_string is False else value
            if ending in ("cut", "open"):
                break
        self._propose(c, name, start, pos, values=values, ending=ending, size=size)
        return pos

    def _only_mentioned(self, c: Candidate, marker: str | None, inside: int) -> bool:
        """Whether a function's tag without parameters is just named: words follow, or it could
        be a tag of another kind that stands in a sentence or is not closed."""
        if marker is None:
            return inside < c.scan.end or self._elements.common
        closes = marker not in self._elements.parameter
        return self._elements.common and closes and not c.setting.line_start

    def _propose(
        self,
        c: Candidate,
        name: str,
        start: int,
        end: int,
        *,
        values: dict[str, Json],
        ending: Ending,
        size: int,
    ) -> None:
        c.propose(name, None if size > c.limit else values, start, end, ending=ending, size=size)

    def _space(self, c: Candidate, pos: int) -> Wait[int]:
        while True:
            pos = yield from c.scan.skip(pos)
            marker, end = yield from c.scan.word(pos, self._noise)
            if marker is None:
                return pos
            pos = end

    def _json_body(self, c: Candidate, name: str, start: int, pos: int) -> Wait[int]:
        frame = yield from c.scan.value(pos, self._structure)
        size = frame.end - pos
        text = None if size > c.limit else c.scan.slice(pos, frame.end)
        ending: Ending = "forgiven"
        if not frame.closed and not frame.stop:
            ending = "cut" if frame.open_string else "open"
        after = yield from c.scan.skip(frame.end, _SURPLUS)
        marker, end = yield from c.scan.word(after, self._function_end)
        stop = end if marker else frame.end
        c.propose(name, text, start, stop, ending="closed" if marker else ending, size=size)
        return stop

    def _value(
        self, c: Candidate, spec: ToolSpec | None, key: str, known: dict[str, Json], start: int
    ) -> Wait[tuple[str, int, Ending]]:
        """The value from `start` on, where it ends with its closing tag, and how."""
        blank = yield from c.scan.skip(start)
        if (yield from c.scan.peek(blank)) == "<":
            cdata = yield from self._cdata(c, blank)
            if cdata:
                return cdata
        unclosed: int | None = None
        pos = start
        while True:
            marker, where, end = yield from c.scan.until(pos, _TAG, self._value_stops)
            if marker is None:
                if unclosed is None:
                    text = c.scan.slice(start, where)
                    return self._text(text).strip(), where, "open"
                break
            pos = end
            if marker in self._elements.parameter_end:
                if (yield from self._closes(c, end)):
                    text = self._text(c.scan.slice(start, where))
                    return _less_one_newline(text), end, "forgiven"
                continue
            if marker in self._elements.parameter:
                opening = yield from self._opening(c, marker, end)
                if opening is None or spec is None or opening[0] in (key, *known):
                    continue
                if opening[0] not in parameter_names(spec):
                    continue
            unclosed = where if unclosed is None else unclosed
            if marker in self._elements.parameter or marker in self._elements.following:
                break
        return self._text(c.scan.slice(start, unclosed)).strip(), unclosed, "forgiven"

    def _closes(self, c: Candidate, pos: int) -> Wait[bool]:
        after = yield from self._space(c, pos)
        if not (yield from c.scan.peek(after)):
            return True
        marker, _ = yield from c.scan.word(after, self._structure)
        return marker is not None

    def _cdata(self, c: Candidate, pos: int) -> Wait[tuple[str, int, Ending] | None]:
        for offset, char in enumerate(_CDATA):
            if (yield from c.scan.peek(pos + offset)) != char:
                return None
        begin = pos + len(_CDATA)
        marker, where, end = yield from c.scan.until(begin, _ANY, _CDATA_END)
        text = c.scan.slice(begin, where)
        if marker is None:
            return text, where, "cut"
        after = yield from c.scan.skip(end)
        closer, closed = yield from c.scan.word(after, self._value_stops)
        return text, closed if closer in self._elements.parameter_end else end, "forgiven"

    def _text(self, text: str) -> str:
        if self._elements.trim:
            text = text.removesuffix(self._elements.trim)
        return _ENTITY.sub(_character, text) if self._elements.decode else text


def _character(entity: re.Match[str]) -> str:
    return html.unescape(entity.group())


def tag_close(c: Candidate, pos: int) -> Wait[int]:
    """Where the `>` of the tag stands whose attributes begin at `pos`; -1 where there is none."""
    start = pos
    while True:
        found = _TAG_END.search(c.scan.text, pos - c.scan.base)
        if found:
            where = found.start() + c.scan.base
            return where if found.group() == ">" and where - start <= _TAG_LIMIT else -1
        pos = c.scan.end
        if c.scan.ended or pos - start > _TAG_LIMIT:
            return -1
        yield


def _cut_in_tag(c: Candidate, pos: int) -> bool:
    """Whether the response ended inside the tag whose attributes begin at `pos`."""
    text = c.scan.slice(pos, c.scan.end)
    return c.scan.ended and len(text) <= _TAG_LIMIT and not _TAG_END.search(text)


def attributes(text: str) -> dict[str, str]:
    """The attributes of a tag; `=value` right after the tag's name counts as its name."""
    text = text.strip().removesuffix("/")
    if text.startswith("="):
        return {"name": text[1:].strip().strip("\"'")}
    return {
        match.group(1): match.group(2) or match.group(3) or match.group(4) or ""
        for match in _ATTRIBUTE.finditer(text)
    }


def _json_value(text: str) -> Json:
    try:
        return read_json(text)
    except ValueError:
        return text


def _less_one_newline(text: str) -> str:
    text = text.removeprefix("\r\n") if text.startswith("\r\n") else text.removeprefix("\n")
    return text.removesuffix("\r\n") if text.endswith("\r\n") else text.removesuffix("\n")
