"""Reads a list of words as an admin writes it, for whatever setting holds one.

Invariant: pure; each word once, in the order written, its spaces single.
"""

import re

LONGEST_WORD = 50
"""Characters of a word or phrase."""


def written_words(written: str) -> tuple[str, ...]:
    """Words and phrases, commas or lines between."""
    words = [" ".join(part.split()) for part in re.split(r"[,\n]", written)]
    return tuple(dict.fromkeys(word for word in words if word))


def check_word(word: str) -> None:
    """ValueError says why `word` cannot be in a list."""
    if len(word) > LONGEST_WORD or not any(character.isalnum() for character in word):
        raise ValueError(
            f"“{word[:LONGEST_WORD]}”: each word needs a letter or digit, and has at most "
            f"{LONGEST_WORD} characters."
        )
