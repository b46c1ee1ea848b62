"""Passes code on, in which nothing is a call.

Invariant: code ends where its closing backticks or its closing fence stand, inline code at the
latest with its line. Only what a template leaves behind the last words is taken out.
"""

import re

from providers.verbatim import tokens
from providers.verbatim.scanner import Scanner, Wait, Words
from providers.verbatim.writer import Writer

_INLINE_STOPS = re.compile(r"[\n`]")
_FENCE_STOPS = re.compile(r"[\n<]")
_RUNS = {"`": re.compile(r"`*"), "~": re.compile(r"~*")}
_STOPS = Words(tokens.STOPS)
_THINKING = Words(tokens.THINKING)
_ORPHANS = Words(tokens.ORPHANS)


def inline_code(scan: Scanner, out: Writer, run: int) -> Wait[None]:
    """Inline code that `run` backticks have opened."""
    while (yield from out.words_until(_INLINE_STOPS)) == "`":
        start = out.pos
        end = yield from scan.skip(start, _RUNS["`"])
        out.words(end)
        if end - start == run:
            return


def fenced_text(scan: Scanner, out: Writer, char: str, run: int) -> Wait[bool]:
    """A fence that `run` characters `char` have opened.

    True where a line in it ends thinking that no tag had opened: the fence was never closed.
    """
    shows_thinking = False
    while True:
        stop = yield from out.words_until(_FENCE_STOPS)
        if not stop:
            return False
        if stop == "<":
            yield from _token(scan, out)
            continue
        out.words(out.pos + 1)
        start = pos = out.pos
        while pos - start < 3 and (yield from scan.peek(pos)) == " ":
            pos += 1
        if (yield from scan.peek(pos)) == "<":
            opener, _ = yield from scan.word(pos, _THINKING)
            closer, _ = yield from scan.word(pos, _ORPHANS)
            shows_thinking = shows_thinking or opener is not None
            if closer and not shows_thinking:
                out.words(pos)
                return True
        end = yield from scan.skip(pos, _RUNS[char])
        if end - pos >= run:
            after = yield from scan.blanks(end)
            if (yield from scan.peek(after)) in ("", "\n", "<"):
                out.words(end)
                return False


def _token(scan: Scanner, out: Writer) -> Wait[None]:
    """A template token is part of the code, unless the response ends with it."""
    word, end = yield from scan.word(out.pos, _STOPS)
    if word:
        after = yield from scan.skip(end)
        if not (yield from scan.peek(after)):
            out.hide(end, "a token of the chat template")
            return
    out.words(out.pos + 1)
