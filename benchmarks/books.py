"""Makes PDFs of nothing but text, as plain as a PDF can be.

Invariant: what is given page by page can be read from the file page by page, in whole lines.
Letters are those of ASCII.
"""

import textwrap
import zlib
from collections.abc import Sequence

_COLUMNS = 90
_SIZE = 9
"""Points of a letter; a page has room for some 60 lines."""
_LEADING = 12
_LEFT, _TOP = 50, 790


def pdf(pages: Sequence[str]) -> bytes:
    """A PDF with these pages, their drawing compressed as is usual."""
    first = 4
    numbers = range(first, first + 2 * len(pages), 2)
    kids = " ".join(f"{number} 0 R" for number in numbers)
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Count {len(pages)} /Kids [{kids}] >>".encode("ascii"),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for number, text in zip(numbers, pages, strict=True):
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {number + 1} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>".encode("ascii")
        )
        drawn = zlib.compress(_drawing(text))
        head = f"<< /Length {len(drawn)} /Filter /FlateDecode >>\nstream\n".encode("ascii")
        objects.append(head + drawn + b"\nendstream")
    return _file(objects)


def _drawing(text: str) -> bytes:
    lines = textwrap.wrap(text, _COLUMNS)
    shown = "\n".join(f"({_escaped(line)}) Tj T*" for line in lines)
    return f"BT /F1 {_SIZE} Tf {_LEADING} TL {_LEFT} {_TOP} Td\n{shown}\nET".encode("ascii")


def _escaped(line: str) -> str:
    return line.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")


def _file(objects: Sequence[bytes]) -> bytes:
    """The objects one after another, and the table of where each begins."""
    made = bytearray(b"%PDF-1.4\n")
    places: list[int] = []
    for number, content in enumerate(objects, start=1):
        places.append(len(made))
        made += f"{number} 0 obj\n".encode("ascii") + content + b"\nendobj\n"
    table = len(made)
    made += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode("ascii")
    made += b"".join(f"{place:010d} 00000 n \n".encode("ascii") for place in places)
    made += (
        f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n"
    ).encode("ascii")
    return bytes(made)
