import re

from hypothesis import given
from hypothesis import strategies as st

from providers.verbatim import call_id, call_key, canonical_arguments


@given(seed=st.text(), ordinal=st.integers(0, 10**6))
def test_ids_are_nine_letters_and_digits(seed: str, ordinal: int) -> None:
    assert re.fullmatch(r"[A-Za-z0-9]{9}", call_id(seed, ordinal))


def test_ids_are_deterministic_and_differ() -> None:
    ids = {call_id(seed, ordinal) for seed in ("", "a", "b") for ordinal in range(1_000)}
    assert len(ids) == 3_000
    assert call_id("turn", 1) == call_id("turn", 1)
    # Seed and ordinal do not run into each other.
    assert call_id("turn1", 1) != call_id("turn", 11)


def test_order_of_keys_and_spelling_of_numbers_do_not_matter() -> None:
    assert call_key("a", {"x": 1, "y": [2.0, {"b": 1, "a": "é"}]}) == call_key(
        "a", {"y": [2, {"a": "é", "b": 1.0}], "x": 1}
    )


def test_values_that_differ_differ() -> None:
    spellings = [1, "1", True, None, 1.5, [1], {"a": 1}]
    assert len({canonical_arguments(value) for value in spellings}) == len(spellings)
