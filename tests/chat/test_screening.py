"""Listed words are shown nowhere, however they are written and however the text comes in."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.screening import MASK, MOST_WORDS, Screen, checked_words
from chat.written_words import LONGEST_WORD

SCREEN = Screen(("kraken", "deep sea", "Straße", "c++", "鮫"))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("The kraken wakes.", f"The {MASK} wakes."),
        ("KRAKEN", MASK),
        ("ｋｒａｋｅｎ", MASK),
        ("k\u0336r\u0336a\u0336ken!", f"{MASK}!"),
        ("kra\u200bken", MASK),
        ("**kraken** _kraken_ `kraken`", f"**{MASK}** _{MASK}_ `{MASK}`"),
        ("kr**ak**en", MASK),
        ("kra||ken||", f"{MASK}||"),
        ("|a|kraken|", f"|a|{MASK}|"),
        ("deep\n  sea", MASK),
        ("in der STRASSE", f"in der {MASK}"),
        ("C++ and C", f"{MASK} and C"),
        ("大きな鮫です", f"大きな{MASK}です"),
        ("krakens, a krak, deepsea", "krakens, a krak, deepsea"),
        ("https://x.example/kraken", f"https://x.example/{MASK}"),
    ],
)
def test_a_listed_word_is_masked(text: str, shown: str) -> None:
    assert SCREEN.shown(text, final=True) == shown


def test_a_word_with_another_accent_is_another_word() -> None:
    screen = Screen(("schon",))
    assert screen.shown("schon schön scho\u0308n", final=True) == f"{MASK} schön scho\u0308n"


def test_what_may_become_a_listed_word_is_held_back() -> None:
    assert SCREEN.shown("The kra", final=False) == "The "
    assert SCREEN.shown("The kraken", final=False) == "The "
    assert SCREEN.shown("The krakens", final=False) == "The krakens"
    assert SCREEN.shown("The deep ", final=False) == "The "
    assert SCREEN.shown("The deep end", final=False) == "The deep end"
    assert SCREEN.shown("The kra|", final=False) == "The "
    assert SCREEN.shown("The kra|x", final=False) == "The kra|x"
    assert SCREEN.shown("The kra", final=True) == "The kra"


def test_nothing_is_laid_bare_by_holding_back_what_made_it_another_word() -> None:
    screen = Screen(words=("kraken",))
    text = "the kraken_**kind"
    shown = [screen.shown(text[:end], final=False) for end in range(len(text) + 1)]
    assert {each for each in shown if "kraken" in each} == {
        "the kraken_**ki",
        "the kraken_**kin",
        text,
    }


def test_an_answer_can_end_before_a_listed_word() -> None:
    screen = Screen(("kraken",), ends=True)
    assert screen.shown("Beware. The kraken wakes.", final=True) == "Beware. The"
    assert screen.is_met("The kraken", grows=True) is False
    assert screen.is_met("The kraken ", grows=True) is False
    assert screen.is_met("The kraken w", grows=True)
    assert screen.is_met("The kraken")


WORDS = st.lists(
    st.sampled_from(
        [
            "kra",
            "ken",
            "kraken",
            " ",
            "deep",
            "sea",
            "\n",
            "s",
            "**",
            "_",
            "|",
            "\u200b",
            "鮫",
            ".",
            "x",
        ]
    ),
    max_size=40,
)


@given(WORDS, st.booleans())
@settings(max_examples=300, deadline=None)
def test_no_way_in_shows_a_listed_word_or_takes_back_what_was_shown(
    pieces: list[str], ends: bool
) -> None:
    screen, text, before = Screen(SCREEN.words, ends), "", ""
    for piece in pieces:
        for letter in piece:
            text += letter
            shown = screen.shown(text, final=False)
            assert not screen.found(shown)
            assert shown.startswith(before.rstrip())
            before = shown
    final = screen.shown(text, final=True)
    assert not screen.found(final)
    assert final.startswith(before.rstrip())


def test_a_word_is_judged_whole_however_long_the_text_before_it() -> None:
    screen = Screen(("kraken", "red kraken", "x" * LONGEST_WORD), ends=True)
    harmless = "All of the krakens and seakrakens. " * 40
    for size in (1, 3, 7):
        for text in (
            harmless,
            f"{harmless}The red krake of ",
            harmless + "x" * LONGEST_WORD + " a",
        ):
            seen, met = 0, False
            for end in range(size, len(text) + size, size):
                met = met or screen.is_met(text[:end], grows=True, since=seen)
                seen = min(end, len(text))
            assert met == text.endswith("x a")
    assert screen.is_met(f"{harmless}red *kraken* a", grows=True, since=len(harmless) + 11)


def test_what_is_listed_is_checked() -> None:
    assert checked_words("a,  b  c\nd, a") == ("a", "b c", "d")
    for wrong in ("!!", "x" * (LONGEST_WORD + 1), ",".join(map(str, range(MOST_WORDS + 1)))):
        with pytest.raises(ValueError, match=r"At most|each word"):
            checked_words(wrong)


def test_a_long_text_takes_no_long_time() -> None:
    screen = Screen(tuple(f"word{number}" for number in range(MOST_WORDS)))
    text = "word1234 and others " * 1000
    assert screen.shown(text, final=False).startswith("word1234 and")
