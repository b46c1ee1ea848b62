"""Turns a document into text: plain text, web page, PDF or Word file.

Invariant: what a document says of its own size is checked before it is unpacked, and its text is
given whole or not at all.
"""

import re
import unicodedata
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
    ".doc": "It is an old Word file; save it as .docx.",
    ".xls": "It is a spreadsheet; save it as .csv.",
    ".xlsx": "It is a spreadsheet; save it as .csv.",
    ".odt": "It is an OpenDocument file; save it as .docx or PDF.",
    ".pptx": "It is a presentation; save it as PDF.",
    ".zip": "It is an archive; send the file inside.",
}
_UNREADABLE = "It holds no text that I can read. I read text, PDF, Word and HTML files."
_MEDIA = ("audio/", "video/", "image/", "font/", "model/")
_SUFFIXES = """
.3gp .7z .aac .aiff .apk .avi .avif .bin .bmp .bz2 .class .db .dll .dmg .exe .flac .flv .gif .gz
.heic .ico .iso .jar .jpeg .jpg .m4a .m4v .mid .mkv .mov .mp3 .mp4 .mpeg .mpg .o .ogg .opus .otf
.png .psd .pyc .rar .so .sqlite .tar .tif .tiff .ttf .wasm .wav .webm .webp .wma .wmv .woff
.woff2 .xz .zst
"""
_MEDIA_SUFFIXES = frozenset(_SUFFIXES.split())
"""What holds no text: taken only where it proves to be UTF-8, as names and types may be wrong."""
_MOST_NOISE = 0.02
"""Share of characters that stand in no text, from which on it is none."""
_SOME_NOISE = 4
"""As many do no harm in the shortest text."""
_NOISE = frozenset({"Cc", "Cn", "Cs"})
"""Kinds of characters: control characters, and what no character is. Those for private use are not
among them: fonts with icons use them."""
_TYPED = frozenset("\t\n\r\f\v\b\x1b\x85\ufeff")
"""Control characters that stand in texts, those of terminals among them."""
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
        raise JobRefused(_OTHERS[suffix])
    elif (kind.startswith(_MEDIA) or suffix in _MEDIA_SUFFIXES) and not _is_utf8(data):
        raise JobRefused(_UNREADABLE)
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
            return _meant(text)
    if b"\0" in data[:_SAMPLE]:
        raise JobRefused(_UNREADABLE)
    likely = from_bytes(data[:_SAMPLE]).best()
    try:
        text = data.decode(likely.encoding if likely else "cp1252", errors="replace")
    except LookupError:
        text = data.decode("cp1252", errors="replace")
    return _meant(text)


def _meant(text: str) -> str:
    """The text. Raises JobRefused where that was never one: any bytes can be read as characters."""
    sample = text[:_SAMPLE]
    noise = sum(
        character not in _TYPED
        and (character == "\ufffd" or unicodedata.category(character) in _NOISE)
        for character in sample
    )
    if noise > max(_SOME_NOISE, _MOST_NOISE * len(sample)):
        raise JobRefused(_UNREADABLE)
    return text


def _is_utf8(data: bytes) -> bool:
    try:
        return "\0" not in data.decode("utf-8")
    except UnicodeError:
        return False


def _declared(parameters: str) -> str:
    found = re.search(r"charset\s*=\s*\"?([\w.:-]{1,40})", parameters)
    return found[1] if found else ""


def _meta_charset(data: bytes) -> str:
    found = _META_CHARSET.search(data[:4096])
    return found[1].decode("ascii") if found else ""
