import re
import time

from hypothesis import example, given, settings
from hypothesis import strategies as st

from cogs.splitting import LOOKAHEAD, MESSAGE_LIMIT, Piece, Splitter, split

LIMIT = 120

WORDS = st.sampled_from(
    [
        "word",
        "a longer sentence, with commas.",
        "Really?",
        "x" * 90,
        " ",
        "  ",
        "\n",
        "\n\n",
        "\n    indented",
        "\n```py\n",
        "\n```\n",
        "\n````md\n",
        "\n````\n",
        "```",
        "``",
        "`inline code`",
        "`" * 11,
        "[a masked link](https://example.org/path)",
        "https://example.org/" + "p" * 40,
        "<@123456789012345678>",
        "<a:wave:123456789012345678>",
        "**bold words here**",
        "||a secret||",
        "👩‍👩‍👧‍👦",
        "🇩🇪🇫🇷",
        "e\u0301",
        "\u0301",
        "👍🏽",
        "日本語のテキスト。",
        "- item",
        "\n- ",
        "\n  1. nested item",
        "\n## A heading\n",
        "\n> quoted words\n",
        "\n> ```py\n> quoted = 1\n",
        "\n> ```\n",
        "\n> ```py\n> quoted = 1\n```",
    ]
)
TEXTS = st.lists(WORDS, max_size=80).map("".join) | st.text(max_size=700)


def fences_open(content: str) -> bool:
    """Whether a renderer is inside a fence when `content` ends."""
    quoted, marker, position = False, "", 0
    while True:
        if marker:
            closer = re.compile(f"`{{{len(marker)},}}").search(content, position)
            left = re.compile(r"\n(?=[^>])").search(content, position - 1) if quoted else None
            ends = [found.end() for found in (closer, left) if found is not None]
            if not ends:
                return True
            marker, position = "", min(ends)
        else:
            pattern = re.compile(r"^(>[ \t])?[ \t]*(`{3,8})(?!`)(?:\w+[ \t]*\n)?", re.MULTILINE)
            opener = pattern.search(content, position)
            if opener is None:
                return False
            quoted, marker, position = bool(opener[1]), opener[2], opener.end()


def contents(pieces: list[Piece]) -> list[str]:
    return [piece.content for piece in pieces]


@given(TEXTS)
@example("\n> ```py\n> quoted = 1\n```")
@settings(max_examples=150, deadline=None)
def test_nothing_is_lost_and_every_piece_fits_and_is_balanced(text: str) -> None:
    pieces = Splitter(LIMIT).split(text)
    if text.strip():
        assert "".join(piece.source for piece in pieces) == text
    else:
        assert pieces == []
    position = 0
    for piece in pieces:
        position += len(piece.source)
        assert len(piece.content) <= LIMIT
        assert piece.content.strip()
        assert piece.body.strip() == piece.source.strip()
        quote_ends = re.search(r"\n\n|\n[^>]\Z", piece.source + text[position : position + 1])
        assert not fences_open(piece.content + ("\n." if quote_ends else ""))


@given(TEXTS, st.lists(st.integers(1, 60), min_size=1, max_size=40))
@settings(max_examples=150, deadline=None)
def test_growing_in_steps_ends_where_splitting_at_once_does(text: str, steps: list[int]) -> None:
    text *= 3
    grown, end = Splitter(LIMIT), 0
    frozen: list[str] = []
    for step in steps * 6:
        end += step
        # A reply under way shows no blank space at its end.
        pieces = contents(grown.split(text[:end].rstrip()))
        stable = [c for c, start in with_starts(text, end) if end - start >= LIMIT + LOOKAHEAD]
        assert pieces[: len(frozen)] == frozen
        frozen = pieces[: len(stable)]
    assert contents(grown.split(text)) == split(text, LIMIT)


def with_starts(text: str, end: int) -> list[tuple[str, int]]:
    starts: list[tuple[str, int]] = []
    start = 0
    for piece in Splitter(LIMIT).split(text[:end].rstrip()):
        starts.append((piece.content, start))
        start += len(piece.source)
    return starts


def test_text_within_the_limit_is_one_message() -> None:
    assert split("x" * MESSAGE_LIMIT) == ["x" * MESSAGE_LIMIT]
    assert split("  hello \n") == ["hello"]
    assert split(" \n\n ") == []


def test_code_points_count_not_utf16_units() -> None:
    assert split("🎲" * MESSAGE_LIMIT) == ["🎲" * MESSAGE_LIMIT]


def test_a_fence_is_closed_and_reopened_with_its_language_within_the_limit() -> None:
    code = "".join(f"line_{number} = {number}\n" for number in range(400))
    first, *rest = split(f"Here:\n```python\n{code}```\nDone.")
    assert first.startswith("Here:\n```python\nline_0 = 0\n")
    for content in (first, *rest[:-1]):
        assert MESSAGE_LIMIT - 30 < len(content) <= MESSAGE_LIMIT
        assert content.endswith("\n```")
    assert all(content.startswith("```python\nline_") for content in rest)
    assert rest[-1].endswith("\n```\nDone.")


def test_the_closing_marker_of_a_full_block_stays_with_it() -> None:
    code = "x" * (MESSAGE_LIMIT - len("```\n") - len("\n```"))
    assert split(f"```\n{code}\n```\n\nAfter.") == [f"```\n{code}\n```", "After."]


def test_a_block_moves_to_the_next_message_rather_than_open_at_the_end() -> None:
    prose = "word " * 390
    first, second = split(f"{prose}\n```js\nlet a = 1;\n{'b' * 100}\n```")
    assert first == prose.strip()
    assert second.startswith("```js\nlet a = 1;\n")


def test_borders_are_preferred_in_order() -> None:
    filler = "y" * 1200
    tail = "z" * 800
    assert split(f"{filler}\n\nnext.\nline. Sentence {tail}")[0] == filler
    assert split(f"{filler}\nline. Sentence {tail}")[0] == filler
    assert split(f"{filler}. Sentence {tail}{tail}")[0] == f"{filler}."
    assert split(f"{filler} word {tail}")[0] == f"{filler} word"
    assert split("日本語。" * 600)[0].endswith("。")


def test_links_mentions_and_clusters_stay_whole() -> None:
    for atom in (
        "[the label of a link](https://example.org/a)",
        "https://example.org/some/long/path?with=a&query=1",
        "<@123456789012345678>",
        "<:dice:123456789012345678>",
        "`code with spaces`",
        "||the culprit is the butler||",
    ):
        for offset in range(1, len(atom)):
            text = "w " * ((MESSAGE_LIMIT - offset) // 2) + atom + " end " * 200
            assert any(atom in content for content in split(text)), (atom, offset)
    family, flag = "👩‍👩‍👧‍👦", "🇩🇪"
    for cluster in (family, flag, "e\u0301", "👍🏽"):
        for offset in range(len(cluster)):
            pieces = split("x" * (MESSAGE_LIMIT - offset) + cluster * 3 + "x" * 900)
            assert sum(content.count(cluster) for content in pieces) == 3


def test_text_that_is_taken_back_thaws_what_was_frozen() -> None:
    splitter = Splitter()
    words = "thinking aloud " * 400
    assert len(splitter.split(words)) > 2
    assert contents(splitter.split("The answer.")) == ["The answer."]


def test_a_large_text_costs_no_more_than_its_length() -> None:
    splitter, line = Splitter(), "[`(" * 300 + "\n"
    text = ""
    started = time.process_time()
    for _ in range(300):
        text += line
        splitter.split(text)
    assert "".join(piece.source for piece in splitter.split(text)) == text
    assert time.process_time() - started < 3


def test_a_fence_in_a_quote_is_closed_and_reopened_in_the_quote() -> None:
    code = "".join(f"> line_{number} = {number}\n" for number in range(300))
    first, *rest = split(f"Someone said:\n> ```py\n{code}> ```\nSo it goes.")
    assert first.endswith("\n> ```")
    assert all(content.startswith("> ```py\n> line_") for content in rest)
    assert rest[-1].endswith("\n> ```\nSo it goes.")
    long_line = "> ```\n> " + "x " * 1500
    assert split(long_line)[1].startswith("> ```\n> ")


def test_a_heading_goes_along_with_its_section() -> None:
    filler = "y" * 1900
    assert split(f"{filler}\n\n## Next\n\n{'z' * 500}")[0] == filler
    assert split(f"{filler}\n# Next\n{'word ' * 100}")[0] == filler


def test_a_marker_stays_with_its_item() -> None:
    for marker in ("- ", "* ", "12. ", "  - ", "> ", "-# "):
        for length in range(1980, 2001):
            text = "y" * (length - len(marker)) + f"\n{marker}" + "z" * 400
            first, second = split(text)
            assert (first, second) == ("y" * len(first), f"{marker}{'z' * 400}".strip())
