"""Tells a marker that means something from one that is named in a sentence.

Invariant: decided by the two characters before the marker and its place in the line alone, so
that no text has to be held back for it.
"""

_QUOTES = frozenset("\"'“‘«(")
_SENTENCE_ENDS = frozenset(".!?:\n")


def quoted(before: str) -> bool:
    """Whether `before` ends with an opening quotation mark or bracket."""
    return before[-1:] in _QUOTES


def stands_apart(before: str, opens_line: bool) -> bool:
    """Whether a thinking tag behind `before` opens a block."""
    if before[-1:] == " ":
        return opens_line or before[0] in _SENTENCE_ENDS
    return not before[-1:].isalpha()


def begins_turn(before: str, opens_line: bool) -> bool:
    """Whether a turn can begin behind `before`."""
    ends = before[-1:] in _SENTENCE_ENDS or before[-1:] in (">", "]", "`", ")")
    return ends or opens_line or before in (". ", "! ", "? ")


def named_in_sentence(before: str) -> bool:
    """Whether a closing tag behind `before` may only be spoken of."""
    return quoted(before) or (before[-1:] == " " and before[0] not in _SENTENCE_ENDS)
