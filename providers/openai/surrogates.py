"""Joins the two halves of a character that a server cut apart.

Invariant: what comes out is Unicode. A half whose other half never comes becomes U+FFFD.
"""

import re

_HALF = re.compile("[\ud800-\udfff]")


class Halves:
    """Takes text piece after piece. JSON escapes let one half of a pair end a piece."""

    __slots__ = ("_held",)

    def __init__(self) -> None:
        self._held = ""

    def feed(self, text: str) -> str:
        """The text so far that is whole."""
        if not self._held and (text.isascii() or not _HALF.search(text)):
            return text
        text = self._held + text
        self._held = text[-1] if "\ud800" <= text[-1:] <= "\udbff" else ""
        return _unicode(text[:-1] if self._held else text)

    def close(self) -> str:
        """What stands for a half that is still waiting."""
        held, self._held = self._held, ""
        return _unicode(held)


def _unicode(text: str) -> str:
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
