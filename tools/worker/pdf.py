"""Reads the text of a PDF.

Invariant: pages are counted before any is read, and reading ends as soon as there is too much.
"""

import io
import logging

from pypdf import PdfReader, apply_configuration
from pypdf.errors import LimitReachedError, PyPdfError

from prompt.values import Json
from tools.worker.documents import LONGEST_TEXT
from tools.worker.refusing import JobRefused

MOST_PAGES = 2000
MOST_UNPACKED = 16 * 1024 * 1024
"""Bytes of one stream: what draws a page, or a font. Pictures are not unpacked."""

_PROTECTED = "The PDF is protected by a password. Send one that is not."

logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it writes of each oddity of a file


def read_pdf(data: bytes) -> dict[str, Json]:
    """Title, text as a whole and by page, and number of pages. Raises JobRefused."""
    with apply_configuration(
        zlib_maximum_output_length=MOST_UNPACKED,
        lzw_maximum_output_length=MOST_UNPACKED,
        run_length_maximum_output_length=MOST_UNPACKED,
        array_based_stream_maximum_output_length=MOST_UNPACKED,
        jbig2dec_binary=None,  # another program, which these limits do not hold for
    ):
        return _read(data)


def _read(data: bytes) -> dict[str, Json]:
    try:
        reader = PdfReader(io.BytesIO(data), strict=False)
        # Many are encrypted with an empty password, only to forbid changes.
        if reader.is_encrypted and not reader.decrypt(""):
            raise JobRefused(_PROTECTED)
        if (count := len(reader.pages)) > MOST_PAGES:
            raise JobRefused(f"The PDF has {count:,} pages; at most {MOST_PAGES:,} are read.")
        texts: list[str] = []
        length = 0
        for page in reader.pages:
            texts.append(page.extract_text().strip())
            length += len(texts[-1])
            if length > LONGEST_TEXT:
                raise JobRefused(f"It holds more than {LONGEST_TEXT:,} characters of text.")
        title = str((reader.metadata and reader.metadata.title) or "")
    except LimitReachedError as error:
        raise JobRefused("The PDF unpacks to more than is allowed. Send a simpler one.") from error
    except PyPdfError as error:
        raise JobRefused("The PDF is damaged, or is none. Save it anew and send that.") from error
    text = "\n\n".join(filter(None, texts))
    if not text:
        raise JobRefused("The PDF holds no text; its pages are probably scanned pictures.")
    return {"title": title, "text": text, "pages": count, "page_texts": texts}
