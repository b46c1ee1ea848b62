"""Makes Markdown tables, which Discord does not draw, readable.

Invariant: a table becomes a code block with columns aligned by what is drawn, or, where that would
be too wide, a list of its rows. Its layout is settled by its first lines, so what grows behind them
changes nothing that was shown; the lines that may still change are shorter than the LOOKAHEAD of
cogs.splitting. Text outside tables, and all in code fences, stays as it is.
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
_MAYBE = re.compile(r"^[ \t|:-]*-[ \t|:-]*$", re.MULTILINE)
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
            out += _drawn([_cells(line) for line in lines[number:end] if line], lines[number + 1])
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
    header, delimiters = lines[start], lines[start + 1]
    if len(header) > _LONGEST_HEADER or len(delimiters) > _LONGEST_DELIMITERS:
        return start
    if "|" not in header or not _DELIMITERS.match(delimiters):
        return start
    if len(_cells(header)) != len(_cells(delimiters)):
        return start
    end = start + 2
    while end < len(lines) and "|" in lines[end] and end not in fenced:
        end += 1
    return end


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
    if sum(widths) + 3 * (len(widths) - 1) > WIDEST:
        return _listed(header, body)
    right = [cell.endswith(":") and not cell.startswith(":") for cell in _cells(delimiters)]
    return _aligned(plain, widths, right)


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
