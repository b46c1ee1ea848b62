"""Text on its way to a terminal, and lines on their way from one."""

import os

from hypothesis import given
from hypothesis import strategies as st

from cli.terminal import InputLines, one_line, printable


def test_escape_sequences_become_text() -> None:
    assert printable("\x1b]0;title\x07 a\x9b31mb\r\n\tc\u202ed") == "]0;title a31mb\n\tcd"


@given(st.text())
def test_words_stay_and_controls_go(text: str) -> None:
    shown = printable(text)
    assert all(char in "\n\t" or char.isprintable() or ord(char) >= 0xA0 for char in shown)
    assert printable(shown) == shown
    assert [char for char in text if char.isprintable()] == [
        char for char in shown if char.isprintable()
    ]


def test_a_line_is_flat_and_short() -> None:
    assert one_line(' {"a":\n\t1}\x1b ', 20) == '{"a": 1}'
    assert one_line("x" * 30, 10) == "xxxxxxx..."


async def test_lines_come_whole_however_they_arrive() -> None:
    source, sink = os.pipe()
    with os.fdopen(source, "r", encoding="utf-8") as stream:
        lines = InputLines(stream)
        text = "héllo\r\n\nlast, without an end".encode()
        for index in range(len(text)):
            os.write(sink, text[index : index + 1])
        os.close(sink)
        got = [await lines.next() for _ in range(4)]
    assert got == ["héllo", "", "last, without an end", None]


async def test_bytes_that_are_no_text_are_replaced() -> None:
    source, sink = os.pipe()
    with os.fdopen(source, "r", encoding="utf-8") as stream:
        lines = InputLines(stream)
        os.write(sink, b"a\xffb\n")
        os.close(sink)
        assert await lines.next() == "a\ufffdb"
        assert await lines.next() is None


async def test_nothing_is_read_from_a_file_that_took_the_number_of_a_closed_stream() -> None:
    source, sink = os.pipe()
    with os.fdopen(source, "r", encoding="utf-8") as stream:
        lines = InputLines(stream)
    other, other_sink = os.pipe()
    os.dup2(other, source)
    os.write(other_sink, b"not for the console\n")
    os.write(sink, b"typed\n")
    os.close(sink)
    assert [await lines.next(), await lines.next()] == ["typed", None]
    assert os.read(source, 4096) == b"not for the console\n"
    for descriptor in {source, other, other_sink}:
        os.close(descriptor)
