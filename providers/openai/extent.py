"""Tells where a JSON object or array ends while it arrives in pieces.

Invariant: any split gives the same answer; each character is looked at once. Brackets are
counted, not matched: whether the text is valid JSON is decided by a parser, afterwards.
"""

import re

_OUTSIDE = re.compile(r'["{}\[\]]')
_IN_STRING = re.compile(r'["\\]')


class JsonExtent:
    """Follows one value from its opening bracket to the bracket that closes it."""

    __slots__ = ("_depth", "_escaped", "_in_string", "complete")

    def __init__(self) -> None:
        self._depth = 0
        self._in_string = False
        self._escaped = False
        self.complete = False

    def feed(self, text: str) -> bool:
        """Take the next piece; True once the value has been closed, in this piece or before."""
        position = 0
        if self._escaped and text:
            self._escaped = False
            position = 1
        while not self.complete:
            found = (_IN_STRING if self._in_string else _OUTSIDE).search(text, position)
            if found is None:
                break
            position = found.end()
            match found[0]:
                case '"':
                    self._in_string = not self._in_string
                case "\\":
                    self._escaped = position == len(text)
                    position += 1
                case "{" | "[":
                    self._depth += 1
                case _:
                    self._depth -= 1
                    self.complete = self._depth <= 0
        return self.complete
