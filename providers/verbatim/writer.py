"""Passes text on to the ledger piece by piece, front to back.

Invariant: `pos` is where the unwritten text begins. Findings that are calls only if nothing but
calls follows wait in `pending`; the text they stand for stays in the scanner until they are
settled or released.
"""

import re
from collections.abc import Sequence

from providers.verbatim.ledger import Ledger
from providers.verbatim.scanner import Scanner, Wait, Words
from providers.verbatim.sites import Blank, Hidden, Malformed, Piece, Site


class Writer:
    """The sink of one stream of text. `field`: a reasoning field, whose text has no spans."""

    def __init__(self, scan: Scanner, ledger: Ledger, *, field: bool) -> None:
        self.pos = 0
        self.thinking = field
        self.thinking_ends = Words(())
        self.final = False
        """Whether the text belongs to a channel in which JSON is just an answer."""
        self.idle: re.Pattern[str] | None = None
        """While set, text without a match for it is just more of the same."""
        self._scan = scan
        self._ledger = ledger
        self._field = field
        self._pending: list[Piece] = []
        self._last = "\n"
        self._last_but_one = ""

    @property
    def waiting(self) -> bool:
        """Whether findings wait for what follows."""
        return bool(self._pending)

    @property
    def tail(self) -> str:
        """The last two characters before `pos`."""
        return (self._last_but_one + self._last)[-2:]

    def think(self, ends: Words | None) -> None:
        """What follows is thinking up to one of `ends`, or the answer if there are none."""
        if self.thinking and ends is None:
            self._ledger.keep_shown()
        self.thinking = ends is not None or self._field
        self.thinking_ends = ends or Words(())

    def skim(self, text: str) -> None:
        """Leave behind a piece that somebody else has dealt with."""
        self.pos += len(text)
        self._scan.leave(self.pos)
        self._last_but_one, self._last = self._last, text

    def words(self, end: int) -> None:
        """What stands up to `end` is words, or thinking."""
        if end <= self.pos:
            return
        text = self._scan.slice(self.pos, end)
        if self._pending:
            if text.isspace():
                self._pending.append(Blank(span=(self.pos, end)))
                self._advance(end, text)
                return
            self.release()
        self._say(text, self.pos)
        self._advance(end, text)

    def words_until(self, stop: re.Pattern[str]) -> Wait[str]:
        """Pass words on up to a character that may mean something; empty at the end."""
        scan = self._scan
        while True:
            found = stop.search(scan.text, self.pos - scan.base)
            if found:
                self.words(found.start() + scan.base)
                return found.group()
            self.words(scan.end)
            if scan.ended:
                return ""
            self.idle = None if self._pending else stop
            yield
            self.idle = None

    def hide(self, end: int, why: str) -> None:
        """What stands up to `end` reaches nobody."""
        piece = Hidden(span=(self.pos, end), why=why)
        if self._pending:
            self._wait(piece)
        else:
            self._commit(piece)

    def await_rest(self, pieces: Sequence[Piece]) -> None:
        """These are calls if nothing but calls follows."""
        for piece in pieces:
            self._wait(piece)

    def accept(self, pieces: Sequence[Piece]) -> None:
        """These are calls, and so is what waited for a call to follow."""
        self.settle()
        for piece in pieces:
            self._commit(piece)

    def settle(self) -> None:
        """Nothing but calls followed: what waited for that is calls."""
        pending, self._pending = self._pending, []
        for piece in pending:
            self._commit(piece)
        self._scan.floor = self.pos

    def release(self) -> None:
        """Words followed: what waited is words too."""
        pending, self._pending = self._pending, []
        for piece in pending:
            if isinstance(piece, Hidden):
                self._commit(piece)
            else:
                if isinstance(piece, Site):
                    self._ledger.because(f"{piece.form}, a call only at the end: words follow it")
                self._say(self._scan.slice(*piece.span), piece.span[0])
        self._scan.floor = self.pos

    # What a reader of marked calls sees of it: see sites.Sink.

    def started(self, name: str) -> None:
        """A call of an offered tool has begun, beyond doubt."""
        if not self.thinking:
            self.settle()
            self._ledger.started(name)

    def piece(self, piece: Piece) -> None:
        """A finding beyond doubt."""
        if isinstance(piece, Hidden) and self._pending:
            self._wait(piece)
        else:
            self.accept((piece,))

    def channel(self, ends: Sequence[str], *, final: bool) -> None:
        """A channel begins: thinking up to one of `ends`, or the answer if there are none."""
        self.think(Words(ends) if ends else None)
        self.final = final

    def _wait(self, piece: Piece) -> None:
        self._pending.append(piece)
        self._advance(piece.span[1], self._scan.slice(piece.span[1] - 2, piece.span[1]))

    def _commit(self, piece: Piece) -> None:
        start, end = piece.span
        raw = self._scan.slice(start, end)
        match piece:
            case Site() if self.thinking:
                self._ledger.thought(piece, raw, None if self._field else piece.span)
            case Site():
                self._ledger.call(piece, raw)
            case Malformed() if not self.thinking:
                self._ledger.malformed(piece, raw)
            case Hidden():
                if not self._field:
                    self._ledger.drop(piece.span, piece.why)
            case _:
                self._say(raw, start)
        self._advance(max(self.pos, end), raw)

    def _say(self, text: str, start: int) -> None:
        if not self.thinking:
            self._ledger.text(text, start)
        else:
            self._ledger.reasoning(text, None if self._field else (start, start + len(text)))

    def _advance(self, end: int, text: str) -> None:
        self._last_but_one, self._last = self._last, text
        self.pos = end
        if not self._pending:
            self._scan.floor = end
