from hypothesis import given
from hypothesis import strategies as st

from prompt.tokens import estimate, within


@given(st.text(), st.text())
def test_more_text_never_costs_less(first: str, second: str) -> None:
    whole = estimate(first + second)
    assert whole >= max(estimate(first), estimate(second))
    assert whole <= estimate(first) + estimate(second)


@given(st.text())
def test_every_message_costs_something_and_always_the_same(text: str) -> None:
    assert estimate(text) >= 1
    assert estimate(text) == estimate(text)


def test_about_what_vocabularies_need() -> None:
    english = "The quick brown fox jumps over the lazy dog while the rain keeps falling. " * 20
    assert 300 <= estimate(english) <= 450  # common vocabularies need about 310
    assert estimate("東京都") == estimate("") + 3  # one a character, where they need one to two


@given(st.text(), st.integers(-5, 60))
def test_what_is_within_is_the_longest_beginning_that_fits(text: str, tokens: int) -> None:
    kept = within(text, tokens)
    assert text.startswith(kept)
    assert estimate(kept) <= tokens or kept == ""
    if kept != text:
        assert estimate(text[: len(kept) + 1]) > tokens
