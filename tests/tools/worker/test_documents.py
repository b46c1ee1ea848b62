"""Documents as people send them, and as they are made to do harm."""

import io
import random
import zipfile
import zlib

import pytest
from docx import Document
from pypdf import PdfReader, PdfWriter

from tools.worker import pdf, word
from tools.worker.documents import decoded, extracted
from tools.worker.refusing import JobRefused

ARTICLE = "Owls are birds of the night. They hunt mice in the fields around the mill. " * 5

PAGE = f"""<!DOCTYPE html><html><head><title>About
 owls</title><style>p {{ color: red }}</style></head><body>
<nav><a href="/home">Home</a><a href="/shop">Shop</a></nav>
<article><h1>Owls</h1><p>{ARTICLE}</p><p>See <a href="/mice">all of the <b>mice</b></a>,
<a href="#top">top</a> and <a href="javascript:x()">run</a>.</p></article>
<script>alert("no")</script><footer><a href="/imprint">Imprint</a></footer></body></html>"""


def pdf_of(*pages: str, password: str = "") -> bytes:
    """A PDF with one line of text a page, written out by hand."""
    kids = " ".join(f"{3 + 2 * n} 0 R" for n in range(len(pages)))
    font = 3 + 2 * len(pages)
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
    ]
    for n, text in enumerate(pages):
        stream = zlib.compress(f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET".encode())
        objects += [
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {4 + 2 * n} 0 R "
            f"/Resources << /Font << /F1 {font} 0 R >> >> >>".encode(),
            f"<< /Length {len(stream)} /Filter /FlateDecode >> stream\n".encode()
            + stream
            + b"\nendstream",
        ]
    objects.append(b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
    written, offsets = b"%PDF-1.4\n", list[int]()
    for number, body in enumerate(objects, start=1):
        offsets.append(len(written))
        written += f"{number} 0 obj\n".encode() + body + b"\nendobj\n"
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    size = len(objects) + 1
    written += f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer << /Size {size} ".encode()
    written += f"/Root 1 0 R >>\nstartxref\n{written.rindex(b'xref')}\n%%EOF".encode()
    if not password:
        return written
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(written)))
    writer.encrypt(user_password=password, owner_password="other")
    locked = io.BytesIO()
    writer.write(locked)
    return locked.getvalue()


def docx_of(text: str) -> bytes:
    document = Document()
    document.core_properties.title = "Minutes"
    document.add_heading("Harbour board")
    document.add_paragraph(text)
    table = document.add_table(rows=2, cols=2)
    for row, cells in zip(table.rows, (("Berth", "Fee"), ("North", "12")), strict=True):
        for cell, words in zip(row.cells, cells, strict=True):
            cell.text = words
    written = io.BytesIO()
    document.save(written)
    return written.getvalue()


def docx_holding(body: str) -> bytes:
    """A Word file whose main part is this."""
    space = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    written = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(docx_of("x"))) as whole,
        zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as made,
    ):
        for part in whole.infolist():
            data = whole.read(part)
            if part.filename == "word/document.xml":
                data = body.replace("<w:document>", f'<w:document xmlns:w="{space}">').encode()
            made.writestr(part.filename, data)
    return written.getvalue()


def archive(name: str, size: int) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as opened:
        opened.writestr(name, b"0" * size)
    return written.getvalue()


NOISE = b"ID3\x03" + bytes(range(1, 256)) * 50
"""As a piece of music may be, without a NUL in it."""


@pytest.mark.parametrize(
    ("name", "content_type", "data"),
    [
        ("m.mp3", "audio/mpeg", NOISE),
        ("m.mp3", "", NOISE),
        ("m", "audio/mpeg", NOISE),
        ("m.dat", "application/octet-stream", NOISE),
        ("m.txt", "text/plain", NOISE),
        ("m.txt", "text/plain; charset=latin-1", NOISE),
        ("m.txt", "text/plain", bytes(range(1, 32)) * 20),
        ("m.mp3", "audio/mpeg", bytes(range(160, 256)) * 50),
        ("p.png", "image/png", b"\x89PNG\r\n\x1a\n" + bytes(range(32, 256)) * 9),
        ("m.bin", "", random.Random(1).randbytes(9000).replace(b"\0", b"")),
    ],
)
def test_what_is_no_text_is_not_read_as_one(name: str, content_type: str, data: bytes) -> None:
    with pytest.raises(JobRefused, match="no text that I can read"):
        extracted(data, name=name, content_type=content_type)


@pytest.mark.parametrize(
    ("name", "content_type", "data", "text"),
    [
        ("a.ts", "video/mp2t", b"export const x = 1;", "export const x = 1;"),
        ("a.svg", "image/svg+xml", b"<svg><text>Hi</text></svg>", "<svg><text>Hi</text></svg>"),
        ("log.txt", "text/plain", b"\x1b[32mok\x1b[0m\x0cnext page", "[32mok"),
        ("a.txt", "text/plain", "Grüße aus dem Süden".encode("latin-1"), "Grüße aus dem Süden"),
        ("a.txt", "application/octet-stream", "日本語のテキスト".encode(), "日本語のテキスト"),
    ],
)
def test_a_text_is_read_whatever_it_is_called(
    name: str, content_type: str, data: bytes, text: str
) -> None:
    assert text in extracted(data, name=name, content_type=content_type)["text"]


@pytest.mark.parametrize(
    ("data", "declared", "expected"),
    [
        ("Grüße".encode(), "", "Grüße"),
        ("Grüße".encode("latin-1"), "iso-8859-1", "Grüße"),
        ("Grüße".encode("utf-16"), "", "Grüße"),
        (b"\xef\xbb\xbfplain", "", "plain"),
        ("Grüße".encode(), "no-such-charset", "Grüße"),
        ("Привет, как дела? Сегодня хорошая погода.".encode("cp1251"), "", None),
        (b"", "", ""),
    ],
)
def test_characters_are_read_as_they_were_meant(
    data: bytes, declared: str, expected: str | None
) -> None:
    assert decoded(data, declared) == (expected or (data.decode("cp1251") if data else ""))


@pytest.mark.parametrize("name", ["notes.md", "table.csv", "code.py", "data.json", "README"])
def test_text_of_every_kind_is_given_as_it_is(name: str) -> None:
    found = extracted(b"\n  a,b\n\t1,2\n", name=name, content_type="")
    assert found == {"title": "", "text": "  a,b\n\t1,2"}


def test_no_invisible_character_comes_out() -> None:
    found = extracted("Be\u200b calm.\U000e0041\u202e".encode(), name="a.txt", content_type="")
    assert found["text"] == "Be calm."


def test_a_page_is_read_without_its_menus() -> None:
    found = extracted(PAGE.encode(), name="", content_type="text/html; charset=utf-8")
    assert found["title"] == "About owls"
    assert ARTICLE.strip() in found["text"]
    assert "Shop" not in found["text"]
    assert "alert" not in found["text"]
    assert found["links"] == [("all of the mice", "/mice")]


def test_a_page_without_an_article_gives_all_of_its_words() -> None:
    page = "<title>Door</title><style>x</style><div>Open <b>now</b></div><div>Ring</div>"
    found = extracted(page.encode(), name="x.html", content_type="")
    assert (found["title"], found["text"]) == ("Door", "Open now\nRing")


def test_a_pages_own_character_set_is_heeded() -> None:
    page = '<meta charset="windows-1251"><p>Привет</p>'.encode("cp1251")
    assert extracted(page, name="", content_type="text/html")["text"] == "Привет"


def test_an_empty_page_says_so() -> None:
    with pytest.raises(JobRefused, match="may need a browser"):
        extracted(b"<html><script>x()</script></html>", name="", content_type="text/html")


def test_a_pdf_is_read_page_by_page() -> None:
    found = extracted(pdf_of("First page", "Second page"), name="a.bin", content_type="")
    assert found["text"] == "First page\n\nSecond page"
    assert found["pages"] == 2


def test_a_pdf_with_a_password_says_so_and_one_without_any_opens() -> None:
    with pytest.raises(JobRefused, match="protected by a password"):
        extracted(pdf_of("Secret", password="pass"), name="a.pdf", content_type="")


@pytest.mark.parametrize("data", [b"%PDF-1.4 junk", b"", b"%PDF-1.7\n1 0 obj\n<<>>\nendobj"])
def test_a_damaged_pdf_says_so(data: bytes) -> None:
    with pytest.raises(JobRefused, match=r"damaged|no text"):
        extracted(data, name="a.pdf", content_type="")


def test_pages_and_text_of_a_pdf_have_their_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf, "MOST_PAGES", 2)
    with pytest.raises(JobRefused, match="has 3 pages; at most 2"):
        pdf.read_pdf(pdf_of("a", "b", "c"))
    monkeypatch.setattr(pdf, "LONGEST_TEXT", 5)
    with pytest.raises(JobRefused, match="more than 5 characters"):
        pdf.read_pdf(pdf_of("abc", "def"))


def test_a_pdf_that_unpacks_to_too_much_is_refused() -> None:
    blown = zlib.compress(b" " * (pdf.MOST_UNPACKED + 1))
    whole = pdf_of("x")
    head, _, rest = whole.partition(b"stream\n")
    _, _, tail = rest.partition(b"\nendstream")
    head = head[: head.rindex(b"/Length")] + b"/Length %d /Filter /FlateDecode >> " % len(blown)
    with pytest.raises(JobRefused, match="unpacks to more"):
        pdf.read_pdf(head + b"stream\n" + blown + b"\nendstream" + tail)


def test_a_word_file_is_read_with_its_tables() -> None:
    found = extracted(docx_of("The crane is out."), name="minutes.docx", content_type="")
    assert found["title"] == "Minutes"
    assert found["text"] == "Harbour board\nThe crane is out.\nBerth | Fee\nNorth | 12"


@pytest.mark.parametrize("data", [b"PK\x03\x04 junk", b"", archive("word/document.xml", 10)])
def test_what_is_no_word_file_says_so(data: bytes) -> None:
    with pytest.raises(JobRefused, match="no Word file"):
        extracted(data, name="a.docx", content_type="")


def test_entities_that_multiply_are_refused() -> None:
    names = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10))
    body = (
        f'<!DOCTYPE d [<!ENTITY a0 "ha">{names}]><w:document><w:body><w:p><w:r><w:t>&a9;</w:t>'
        "</w:r></w:p></w:body></w:document>"
    )
    with pytest.raises(JobRefused, match="no Word file"):
        extracted(docx_holding(body), name="a.docx", content_type="")


def test_an_archive_that_unpacks_to_too_much_is_refused_unopened(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(word, "MOST_UNPACKED", 1024 * 1024)
    with pytest.raises(JobRefused, match="unpacks to more than 1 MB"):
        extracted(archive("word/document.xml", 1024 * 1024 + 1), name="a.docx", content_type="")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("old.doc", "old Word file; save it as .docx"),
        ("sums.xlsx", "spreadsheet; save it as .csv"),
        ("all.zip", "archive; send the file inside"),
        ("song.mp3", "holds no text that I can read"),
    ],
)
def test_other_files_are_refused_with_what_would_do(name: str, words: str) -> None:
    with pytest.raises(JobRefused, match=words):
        extracted(b"\x00\x01" * 100, name=name, content_type="application/octet-stream")
