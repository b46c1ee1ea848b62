"""Gives long text to the model piece by piece, and without characters that nobody sees.

Invariant: pieces that are asked for one after another are the whole text, once.
"""

import re
import unicodedata

_SHOWN_CONTROLS = frozenset("\n\t")
_BLANK = re.compile("[\u034f\u115f\u1160\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")
_MANY_LINES = re.compile(r"\n{3,}")
_ROOM_FOR_HINT = 120


def visible(text: str) -> str:
    """`text` without characters that are not seen, in which orders to a model can be hidden."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").replace("\u2028", "\n")
    # Control, format, unassigned, private and surrogate characters are categories C. Of a long text
    # there are few different ones, so each is judged once.
    unseen = {
        ord(character): None
        for character in set(lines) - _SHOWN_CONTROLS
        if unicodedata.category(character)[0] == "C"
    }
    return _MANY_LINES.sub("\n\n", _BLANK.sub("", lines.translate(unseen))).strip("\n").rstrip()


def page_of(text: str, start: int, most: int) -> str:
    """The piece that begins at `start`, in at most so many characters, and how to get the next."""
    if start >= len(text):
        return f"(the text has {len(text):,} characters, so there is nothing from {start:,} on)"
    if len(text) - start <= most:
        return text[start:]
    end = start + most - _ROOM_FOR_HINT
    # Cut between words where there are some.
    gap = max(text.rfind("\n", start, end), text.rfind(" ", start, end))
    end = gap + 1 if gap > start + most // 2 else end
    where = f"[characters {start:,} to {end:,} of {len(text):,}; start={end} reads on]"
    return f"{text[start:end]}\n{where}"
