"""Makes Markdown tables, which Discord does not draw, readable.

Invariant: a table becomes a code block with columns aligned by what is drawn, or, where that would
be too wide or hide links, a list of its rows. Its layout is settled by its first lines, so what
grows behind them changes nothing that was shown; a later row that does not fit is listed between
two blocks. The lines that may still change are shorter than the LOOKAHEAD of cogs.splitting. Text
outside tables, and all in code fences, stays as it is.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from cogs.splitting import fences_in

WIDEST = 56
"""Columns of a code block that a narrow window shows without breaking its lines."""

_SETTLING = 4
"""Rows below the header that decide about the layout."""

_LONGEST_HEADER = 300
_LONGEST_DELIMITERS = 150

_DELIMITERS = re.compile(r"^[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_MAYBE = re.compile(r"^(?:>[ \t]?)?[ \t|:-]*-[ \t|:-]*$", re.MULTILINE)
_QUOTE = re.compile(r">[ \t]?")
_LINK = re.compile(r"\]\(|https?://")
"""What a code block would not let anybody follow."""
_BAR = re.compile(r"(?<!\\)\|")
_MARKS = re.compile(r"\*\*|__|`+")


def readable(text: str) -> str:
    """`text` with its tables made readable."""
    if "|" not in text or not _MAYBE.search(text):
        return text
    lines = text.split("\n")
    fenced = _fenced_lines(text)
    out: list[str] = []
    number = 0
    while number < len(lines):
        end = _table_end(lines, number, fenced)
        if end == number:
            out.append(lines[number])
            number += 1
        else:
            quote = _quote_of(lines[number])
            rows = [_cells(line.removeprefix(quote)) for line in lines[number:end] if line]
            drawn = _drawn(rows, lines[number + 1].removeprefix(quote))
            out += [f"{'> ' if quote else ''}{line}" for line in drawn]
            number = end
    return "\n".join(out)


def _fenced_lines(text: str) -> set[int]:
    """Numbers of the lines that a code fence covers, in whole or in part."""
    covered: set[int] = set()
    for begin, end in fences_in(text):
        first = text.count("\n", 0, begin)
        covered.update(range(first, first + text.count("\n", begin, end) + 1))
    return covered


def _table_end(lines: Sequence[str], start: int, fenced: set[int]) -> int:
    """The number of the line after the table that starts at `start`; `start` where none does."""
    if start + 1 >= len(lines) or {start, start + 1} & fenced:
        return start
    quote = _quote_of(lines[start])
    if _quote_of(lines[start + 1]) != quote:
        return start
    header, delimiters = (line.removeprefix(quote) for line in lines[start : start + 2])
    if len(header) > _LONGEST_HEADER or len(delimiters) > _LONGEST_DELIMITERS:
        return start
    if "|" not in header or not _DELIMITERS.match(delimiters):
        return start
    if len(_cells(header)) != len(_cells(delimiters)):
        return start
    end = start + 2
    while (
        end < len(lines)
        and "|" in lines[end]
        and end not in fenced
        and _quote_of(lines[end]) == quote
    ):
        end += 1
    return end


def _quote_of(line: str) -> str:
    """What marks a line as part of a quote; empty where it is none."""
    found = _QUOTE.match(line)
    return found[0] if found else ""


def _cells(line: str) -> list[str]:
    inner = line.strip().removeprefix("|")
    if inner.endswith("|") and not inner.endswith("\\|"):
        inner = inner[:-1]
    return [cell.strip().replace("\\|", "|") for cell in _BAR.split(inner)]


def _drawn(rows: Sequence[Sequence[str]], delimiters: str) -> Iterator[str]:
    """The lines of a table, whose second row are the delimiters."""
    header, body = rows[0], rows[2:]
    plain = [[_MARKS.sub("", cell) for cell in row] for row in (header, *body)]
    settling = plain[: _SETTLING + 1]
    widths = [max(map(width, column)) for column in zip_longest(*settling, fillvalue="")]
    widths = widths[: len(header)]
    linked = any(_LINK.search(cell) for row in rows[: _SETTLING + 2] for cell in row)
    if linked or _columns(widths) > WIDEST:
        yield from _listed(header, body)
        return
    right = [cell.endswith(":") and not cell.startswith(":") for cell in _cells(delimiters)]
    fitting: list[Sequence[str]] = []
    for row, drawn in zip(body, plain[1:], strict=True):
        if _fits(row, drawn, widths):
            fitting.append(drawn)
            continue
        if fitting:
            yield from _aligned([plain[0], *fitting], widths, right)
            fitting = []
        yield from _listed(header, [row])
    if fitting or not body:
        yield from _aligned([plain[0], *fitting], widths, right)


def _columns(widths: Sequence[int]) -> int:
    """Columns of a line of cells, bars included."""
    return sum(widths) + 3 * (len(widths) - 1)


def _fits(row: Sequence[str], drawn: Sequence[str], widths: Sequence[int]) -> bool:
    """Whether a row can stand in the block."""
    cells = zip_longest(drawn[: len(widths)], widths, fillvalue="")
    sizes = [max(width(str(cell)), int(size or 0)) for cell, size in cells]
    return _columns(sizes) <= WIDEST and not any(_LINK.search(cell) for cell in row)


def _aligned(
    rows: Sequence[Sequence[str]], widths: Sequence[int], right: Sequence[bool]
) -> Iterator[str]:
    yield "```"
    for number, row in enumerate(rows):
        cells = zip_longest(row[: len(widths)], widths, right, fillvalue="")
        padded = [_padded(str(cell), int(size or 0), bool(end)) for cell, size, end in cells]
        yield " | ".join(padded).rstrip()
        if number == 0:
            yield "-+-".join("-" * size for size in widths)
    yield "```"


def _padded(cell: str, size: int, right: bool) -> str:
    blank = " " * (size - width(cell))
    return f"{blank}{cell}" if right else f"{cell}{blank}"


def _listed(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    if not rows:
        yield f"- {' | '.join(header)}"
    for row in rows:
        mark = "- "
        for title, cell in zip_longest(header, row[: len(header)], fillvalue=""):
            yield f"{mark}{title}: {cell}".rstrip()
            mark = "  "


def width(text: str) -> int:
    """Columns that `text` takes in a fixed-width font: two for a wide character, none for marks
    that join the one before."""
    return sum(_width(character) for character in text)


def _width(character: str) -> int:
    if unicodedata.category(character) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
