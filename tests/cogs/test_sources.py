"""The line that names sources."""

import pytest

from cogs.sources import source_link, sources_in_words
from prompt.knowledge import Snippet


def snippet(name: str, url: str = "", number: int = 1) -> Snippet:
    return Snippet(document_id=number, document=name, url=url, text="")


def test_no_line_without_sources() -> None:
    assert sources_in_words([]) == []


def test_names_are_links_where_there_is_somewhere_to_go() -> None:
    jump = "https://discord.com/channels/1/2/3"
    line = sources_in_words([snippet("a.pdf"), snippet("Ada in #general", jump)])
    assert line == [f"Sources: a.pdf, [Ada in #general](<{jump}>)"]


def test_of_many_some_are_counted() -> None:
    (line,) = sources_in_words([snippet(f"{n}.txt") for n in range(8)])
    assert line == "Sources: 0.txt, 1.txt, 2.txt, 3.txt, 4.txt and 3 more"


@pytest.mark.parametrize(
    ("name", "url", "shown"),
    [
        ("a](<https://evil>)", "https://example.org/", "[a https://evil](<https://example.org/>)"),
        ("two\nlines", "", "two lines"),
        ("a*b_c", "", r"a\*b\_c"),
        ("x", "javascript:alert(1)", "x"),
        ("x", "https://example.org/>) evil", "x"),
        ("x", "https://example.org/" + "p" * 400, "x"),
        ("[]", "", "document"),
        ("n" * 90, "", "n" * 59 + "…"),
    ],
)
def test_names_cannot_break_out(name: str, url: str, shown: str) -> None:
    assert source_link(name, url) == shown
