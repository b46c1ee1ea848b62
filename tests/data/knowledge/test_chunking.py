"""How long chunks are, what they share, and what counts as a token."""

import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.knowledge.chunking import FLOOR, OVERLAP, SIZE, chunks, clean, spans


def test_c09_a_thousand_tokens_are_three_spans():
    assert spans(1000) == [(0, 400), (350, 750), (700, 1000)]
    _, found = chunks(" ".join(f"w{number}" for number in range(1000)))
    assert [(chunk.start, chunk.end) for chunk in found] == [(0, 400), (350, 750), (700, 1000)]
    assert found[1].text.split() == [f"w{number}" for number in range(350, 750)]


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        (0, []),
        (1, [(0, 1)]),
        (400, [(0, 400)]),
        (401, [(0, 400), (350, 401)]),
        (750, [(0, 400), (350, 750)]),
    ],
)
def test_a_rest_without_a_token_of_its_own_belongs_to_the_chunk_before(
    count: int, expected: list[tuple[int, int]]
):
    assert spans(count) == expected


@given(st.integers(min_value=1, max_value=20_000))
def test_spans_cover_everything_and_overlap_by_as_much_as_is_said(count: int):
    found = spans(count)
    assert (found[0][0], found[-1][1]) == (0, count)
    for before, after in pairwise(found):
        assert before[1] - before[0] == SIZE
        assert before[1] - after[0] == OVERLAP
        assert after[1] - before[1] >= FLOOR


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        (" \n\t ", 0),
        ("two words", 2),
        ("don't", 3),
        ("foo_bar(1, 2)", 6),
        ("----------------", 1),
        ("x" * 49, 3),
        ("東京タワー", 5),
        ("สวัสดี", 6),
        ("한국어 문서", 2),
        ("ein Café", 2),
        ("😀😀", 1),
    ],
)
def test_what_a_token_is(text: str, tokens: int):
    _, found = chunks(text)
    assert (found[-1].end if found else 0) == tokens


@given(st.text(max_size=400), st.integers(min_value=1, max_value=12))
def test_chunks_are_pieces_of_the_clean_text(text: str, times: int):
    whole, found = chunks(text * times)
    assert unicodedata.is_normalized("NFC", whole)
    for ordinal, chunk in enumerate(found):
        assert chunk.ordinal == ordinal
        assert whole[chunk.at :].startswith(chunk.text)
        assert chunk.text.strip() == chunk.text != ""
    covered = max((chunk.at + len(chunk.text) for chunk in found), default=0)
    assert whole[covered:].strip() == ""
    assert (whole, found) == chunks(text * times)


@given(st.text())
def test_cleaning_twice_changes_nothing(text: str):
    assert clean(clean(text)) == clean(text)


def test_cleaning_keeps_words_and_indentation_and_drops_padding():
    assert clean("a\x00b\r\n\r\n\r\n\r\n    c" + " " * 80 + "d  \ne\u0301 \ud800") == (
        "ab\n\n    c d\n\u00e9 ?"
    )


def test_a_chunk_knows_the_page_that_it_begins_on():
    page = " ".join(["word"] * 340)
    text, found = chunks([page, "", page, page])
    assert [chunk.page for chunk in found] == [1, 3, 4]
    assert text[found[1].at :].startswith("word")
    assert [chunk.page for chunk in chunks(page)[1]] == [None]
