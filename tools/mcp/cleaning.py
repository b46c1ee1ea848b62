"""Makes words of a server harmless to show, to people and to models.

Invariant: nothing of the server's that cannot be seen comes out, and nothing that a chat template
would take for the end of a message or the beginning of another.
"""

import re
import unicodedata

from prompt.defused import defused

# Control, format, unassigned, private and surrogate characters, and separators of lines.
_UNSEEN = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})
_BLANK = re.compile("[\u034f\u115f\u1160\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")
_BREAKS = "\t\n\v\f\r\x85\u2028\u2029"


def clean(text: str, *, most: int) -> str:
    """`text` on one line in at most so many characters."""
    seen = "".join(
        (" " if character in _BREAKS else "")
        if unicodedata.category(character) in _UNSEEN
        else character
        for character in text[: 8 * most]
    )
    line = defused(" ".join(_BLANK.sub("", seen).split()))
    return line if len(line) <= most else f"{line[: most - 1]}…"


def is_clean(text: str) -> bool:
    """Whether `clean` would change no more than blanks."""
    kept = clean(text, most=2 * len(text) + 1)
    return kept.replace(" ", "") == text.replace(" ", "")
