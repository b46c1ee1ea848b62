"""Turns a document into text: plain text, web page, PDF or Word file.

Invariant: what a document says of its own size is checked before it is unpacked, and its text is
given whole or not at all.
"""

import re
from pathlib import PurePosixPath

from charset_normalizer import from_bytes

from prompt.values import Json, JsonObject
from tools.paging import visible
from tools.worker.refusing import JobRefused

LONGEST_TEXT = 2_000_000
"""Characters."""

_SAMPLE = 256 * 1024
"""Bytes that a character set is guessed from."""

_HTML = {"text/html", "application/xhtml+xml"}
_PDF = {"application/pdf", "application/x-pdf"}
_DOCX = {"application/vnd.openxmlformats-officedocument.wordprocessingml.document"}

_OTHERS = {
    ".doc": "an old Word file; save it as .docx",
    ".xls": "a spreadsheet; save it as .csv",
    ".xlsx": "a spreadsheet; save it as .csv",
    ".odt": "an OpenDocument file; save it as .docx or PDF",
    ".pptx": "a presentation; save it as PDF",
    ".zip": "an archive; send the file inside",
}
_META_CHARSET = re.compile(
    rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE
)
_BYTE_ORDER_MARKS = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)


def extracted(data: bytes, *, name: str, content_type: str) -> JsonObject:
    """`title`, `text`, and `pages`, `page_texts` and `links` where there are such; no invisible
    character is in title and text. Raises JobRefused."""
    kind, _, parameters = content_type.lower().partition(";")
    kind, suffix = kind.strip(), PurePosixPath(name.lower()).suffix
    found: dict[str, Json]
    if kind in _PDF or data.startswith(b"%PDF-") or suffix == ".pdf":
        from tools.worker.pdf import read_pdf

        found = read_pdf(data)
    elif kind in _DOCX or suffix == ".docx":
        from tools.worker.word import read_docx

        found = read_docx(data)
    elif kind in _HTML or suffix in {".html", ".htm", ".xhtml"}:
        from tools.worker.page import read_page

        found = read_page(decoded(data, _declared(parameters) or _meta_charset(data)))
    elif suffix in _OTHERS:
        raise JobRefused(f"It is {_OTHERS[suffix]}.")
    else:
        found = {"title": "", "text": decoded(data, _declared(parameters))}
    if len(found["text"]) > LONGEST_TEXT:
        raise JobRefused(f"It holds more than {LONGEST_TEXT:,} characters of text.")
    if "page_texts" in found:
        found["page_texts"] = [visible(text) for text in found["page_texts"]]
    return {**found, "title": visible(found["title"]), "text": visible(found["text"])}


def decoded(data: bytes, declared: str = "") -> str:
    """The characters that bytes stand for: as a mark or `declared` says, as UTF-8, else as is most
    likely. Raises JobRefused where they are no text."""
    marked = next((name for mark, name in _BYTE_ORDER_MARKS if data.startswith(mark)), "")
    for charset in filter(None, (marked, declared, "utf-8")):
        try:
            text = data.decode(charset)
        except (UnicodeError, LookupError):
            continue
        if "\0" not in text:
            return text
    if b"\0" in data[:_SAMPLE]:
        raise JobRefused("It holds no text that I can read. I read text, PDF, Word and HTML files.")
    likely = from_bytes(data[:_SAMPLE]).best()
    try:
        return data.decode(likely.encoding if likely else "cp1252", errors="replace")
    except LookupError:
        return data.decode("cp1252", errors="replace")


def _declared(parameters: str) -> str:
    found = re.search(r"charset\s*=\s*\"?([\w.:-]{1,40})", parameters)
    return found[1] if found else ""


def _meta_charset(data: bytes) -> str:
    found = _META_CHARSET.search(data[:4096])
    return found[1].decode("ascii") if found else ""
