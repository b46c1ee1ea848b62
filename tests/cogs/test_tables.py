"""Tables of an answer as Discord shows them."""

import itertools
import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cogs.splitting import LOOKAHEAD, MESSAGE_LIMIT, Splitter, split
from cogs.tables import WIDEST, readable, width

LIMIT = 120

CELLS = st.sampled_from(
    ["[x](y)", "x" * 60, "a", "", "**bold**", "日本語", "x" * 30, "`code`", "1,234", "two words"]
)
ROWS = st.lists(CELLS, min_size=1, max_size=4).map(lambda cells: f"| {' | '.join(cells)} |\n")


def markdown(header: str, rows: list[str]) -> str:
    return f"\n{header}| --- | ---: |\n{''.join(rows)}"


TABLES = st.builds(
    markdown,
    st.sampled_from(["| name | amount |\n", f"| {'long ' * 12} | amount |\n"]),
    st.lists(ROWS, max_size=9),
).flatmap(lambda table: st.sampled_from([table, re.sub(r"(?m)^(?=\|)", "> ", table)]))
TEXTS = st.lists(
    st.one_of(
        TABLES,
        st.sampled_from(["words. ", "\n", "\n\n", "\n```py\nx = 1 | 2\n```\n", "a | b\n", "--- "]),
    ),
    max_size=12,
).map("".join)


def test_columns_are_aligned_by_what_is_drawn() -> None:
    table = "| Fruit | Price |\n|:--|--:|\n| りんご | 12 |\n| **Kiwi** | 1,234 |"
    assert readable(f"Here:\n{table}\nDone.").splitlines() == [
        "Here:",
        "```",
        "Fruit  | Price",
        "-------+------",
        "りんご |    12",
        "Kiwi   | 1,234",
        "```",
        "Done.",
    ]


def test_a_wide_table_becomes_a_list_of_its_rows() -> None:
    table = f"| Name | About |\n|---|---|\n| **A** | {'words ' * 12}|\n| B |"
    assert readable(table).splitlines() == [
        "- Name: **A**",
        f"  About: {('words ' * 12).strip()}",
        "- Name: B",
        "  About:",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "a | b",
        "a | b\n---",
        "| a | b |\n|---|",
        "```\n| a | b |\n|---|---|\n| 1 | 2 |\n```",
        "no table - at all\n---\nwords",
        "> | a | b |\n|---|---|",
        f"| {'a' * 400} | b |\n|---|---|",
    ],
)
def test_what_is_no_table_stays(text: str) -> None:
    assert readable(text) == text


def test_a_later_row_that_is_too_wide_is_listed_between_two_blocks() -> None:
    few = [f"| {number} | x |" for number in range(5)]
    wide = f"| {'long ' * 12}| **y** |"
    drawn = readable("\n".join(["| a | b |", "|---|---|", *few, wide, "| 6 | z |"])).splitlines()
    assert drawn[-7:] == [
        f"- a: {('long ' * 12).strip()}",
        "  b: **y**",
        "```",
        "a | b",
        "--+--",
        "6 | z",
        "```",
    ]
    assert max(map(len, drawn[:8])) <= WIDEST


def test_links_stay_links() -> None:
    table = "| a | b |\n|---|---|\n| [x](https://e.example) | **y** |"
    assert readable(table) == "- a: [x](https://e.example)\n  b: **y**"
    late = "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 5 + "| 6 | https://e.example |"
    assert readable(late).splitlines()[-2:] == ["- a: 6", "  b: https://e.example"]


def test_a_table_in_a_quote_is_drawn_there() -> None:
    assert readable("> So:\n> | a | b |\n> |---|---|\n> | 1 | 2 |\nDone.").splitlines() == [
        "> So:",
        "> ```",
        "> a | b",
        "> --+--",
        "> 1 | 2",
        "> ```",
        "Done.",
    ]


@pytest.mark.parametrize("quote", ["", "> "])
def test_each_message_of_a_table_has_its_header(quote: str) -> None:
    rows = [f"{quote}| row {number} | {number * 7} |" for number in range(400)]
    table = "\n".join([f"{quote}| Name | Number |", f"{quote}|---|--:|", *rows])
    pieces = split(readable(table))
    assert len(pieces) > 2
    head = [f"{quote}```", f"{quote}Name  | Number", f"{quote}------+-------"]
    for piece in pieces:
        assert piece.splitlines()[:3] == head
        assert len(piece.splitlines()) > 4
        assert len(piece) <= MESSAGE_LIMIT
    assert sum(piece.count("row ") for piece in pieces) == 400


def test_bars_that_are_escaped_stand_in_their_cell() -> None:
    drawn = readable("| a | b |\n|---|---|\n| x \\| y | `z` |")
    assert drawn.splitlines()[3] == "x | y | z"


def test_a_table_without_outer_bars_counts() -> None:
    assert readable("a | b\n--- | ---\n1 | 2").splitlines()[1:4] == ["a | b", "--+--", "1 | 2"]


def test_width_counts_columns() -> None:
    assert [width(text) for text in ("abc", "日本", "e\u0301", "🎲", "👩\u200d👩")] == [
        3,
        4,
        1,
        2,
        4,
    ]


@given(TEXTS, st.lists(st.integers(1, 60), min_size=1, max_size=40))
@settings(max_examples=40, deadline=None)
def test_growing_in_steps_ends_where_splitting_at_once_does(text: str, steps: list[int]) -> None:
    text *= 2
    grown, end = Splitter(LIMIT), 0
    stable: list[str] = []
    for step in steps * 6:
        end += step
        shown = readable(text[:end].rstrip())
        pieces = [piece.content for piece in grown.split(shown)]
        assert pieces[: len(stable)] == stable
        left = len(shown)
        stable = []
        for piece in grown.split(shown):
            if left < LIMIT + LOOKAHEAD:
                break
            stable.append(piece.content)
            left -= len(piece.source)
    whole = readable(text.rstrip())
    at_once = [piece.content for piece in Splitter(LIMIT).split(whole)]
    assert [piece.content for piece in grown.split(whole)] == at_once
    assert all(len(content) <= LIMIT for content in at_once)


def test_a_table_that_grows_keeps_what_it_has_shown() -> None:
    rows = [f"| row {number} | {number * 7} |" for number in range(40)]
    shown = [
        readable("\n".join(["| Name | Number |", "|---|--:|", *rows[: count + 5]]))
        for count in range(35)
    ]
    for earlier, later in itertools.pairwise(shown):
        assert later.startswith(earlier.removesuffix("\n```"))


def test_many_bars_cost_little() -> None:
    text = ("| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 200 + "\n") * 10
    started = time.process_time()
    for _ in range(10):
        readable(text)
    assert time.process_time() - started < 2
