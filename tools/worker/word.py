"""Reads the text of a Word file, tables row by row.

Invariant: what the archive unpacks to is added up before anything is unpacked. The numbers are
the archive's own, and zipfile unpacks no more than they say.
"""

import io
import zipfile
from collections.abc import Iterator

from docx import Document
from docx.document import Document as Opened
from docx.opc.exceptions import OpcError
from docx.table import Table, _Cell  # pyright: ignore[reportPrivateUsage] - the class has no other name

from prompt.values import Json
from tools.worker.refusing import JobRefused

MOST_UNPACKED = 64 * 1024 * 1024
MOST_PARTS = 2000

_NONE = "It is no Word file, or is damaged. Save it anew as .docx and send that."


def read_docx(data: bytes) -> dict[str, Json]:
    """Title and text. Raises JobRefused."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            parts = archive.infolist()
    except (zipfile.BadZipFile, ValueError) as error:
        raise JobRefused(_NONE) from error
    if len(parts) > MOST_PARTS or sum(part.file_size for part in parts) > MOST_UNPACKED:
        raise JobRefused(
            f"The Word file unpacks to more than {MOST_UNPACKED // (1024 * 1024)} MB. Take out "
            "what is not text, such as pictures, and send that."
        )
    try:
        document = Document(io.BytesIO(data))
        title = document.core_properties.title
        text = "\n".join(_lines(document))
    except (OpcError, KeyError, ValueError, SyntaxError, zipfile.BadZipFile) as error:
        raise JobRefused(_NONE) from error
    if not text.strip():
        raise JobRefused("The Word file holds no text.")
    return {"title": title, "text": text}


def _lines(inside: Opened | _Cell) -> Iterator[str]:
    for block in inside.iter_inner_content():
        if isinstance(block, Table):
            for row in block.rows:
                yield " | ".join(" ".join(" ".join(_lines(cell)).split()) for cell in row.cells)
        else:
            yield block.text
