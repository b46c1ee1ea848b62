"""Walks through a response and tells words, thinking, markers and calls apart.

Invariant: one coroutine reads the text from front to back. What may be a call is tried by a
reader; if the reader gives it back, its first characters are words and the rest is read anew.
"""

import re
from collections.abc import Callable
from functools import cache, partial
from typing import TypeAlias

from providers.verbatim import tokens
from providers.verbatim.bare import may_be_call, read_objects
from providers.verbatim.candidate import Candidate, Setting
from providers.verbatim.dialects.tool_tags import ToolTags
from providers.verbatim.fenced import read_fence
from providers.verbatim.grammar import Grammar
from providers.verbatim.ledger import Ledger
from providers.verbatim.names import NameIndex
from providers.verbatim.payloads import read_marked_name, read_name, read_wrapper
from providers.verbatim.scanner import Scanner, Wait, Words
from providers.verbatim.settings import ParserSettings
from providers.verbatim.sites import Blank, Hidden, Malformed, Piece, Site
from providers.verbatim.taught import read_line, read_list

Reader: TypeAlias = Callable[[Candidate], Wait[int | None]]

_NEWLINE = re.compile(r"\n")
_NEWLINES = re.compile(r"\n*")
_NEVER = re.compile(r"(?!)")
_CODE_STOPS = re.compile(r"[\n`]")
_TICKS = re.compile(r"`*")
_TILDES = re.compile(r"~*")
_WORD = re.compile(r"[\w+.#-]*")
_ROLE = re.compile(r"[A-Za-z]*")
_BARS = ("|", "｜")
_TOKEN_CHARS = frozenset("_▁ .:/-")
_BEFORE_CALL = re.compile(r"[\s\[]*")
_AFTER_CALL = re.compile(r"[\s\]]*")
_TOKEN_LIMIT = 48
_QUOTES = frozenset("\"'“‘«(")
_BEFORE_MENTION = frozenset((" ", *_QUOTES))
_AFTER_MENTION = frozenset((" ", ",", ".", *_QUOTES, "”", "’"))


class Markers:
    """Every marker that means something in running text, and what."""

    def __init__(self, grammar: Grammar) -> None:
        self.hidden = frozenset((*tokens.STOPS, *tokens.OWN_TURN, *grammar.noise))
        self.foreign = frozenset(tokens.FOREIGN_TURN)
        closers = [closer for closers in tokens.THINKING.values() for closer in closers]
        self.words = Words(
            (
                *tokens.THINKING,
                *closers,
                *tokens.ORPHANS,
                *self.hidden,
                *self.foreign,
                *tokens.NAMED_TURN,
                *grammar.wrappers,
                *grammar.calls,
                *grammar.closers,
            )
        )
        begins = "".join(re.escape(char) for char in sorted(self.words.first))
        self.trigger = re.compile(rf"[\n`{begins}]")


class Engine:
    """Reads one stream of text: a response's content, or its separate reasoning field."""

    def __init__(
        self,
        grammar: Grammar,
        markers: Markers,
        names: NameIndex,
        ledger: Ledger,
        settings: ParserSettings,
        *,
        field: bool = False,
    ) -> None:
        self.scan = Scanner()
        self.idle: re.Pattern[str] | None = None
        """While set, text without a match for it is just more of the same."""
        self.thinking = False
        self.pos = 0
        self._grammar = grammar
        self._names = names
        self._ledger = ledger
        self._settings = settings
        self._field = field
        self._pending: list[Piece] = []
        self._line_start = True
        self._content = 0
        self._before = "\n"
        self._final = False
        self._thinking_ends = Words(())
        if field or settings.reasoning_open:
            self._think(tokens.ORPHANS)
        self._markers = markers
        self._trigger = markers.trigger
        self._tool_tags = ToolTags(names.specs)
        self._thought: int | None = None
        self._flow = self._run()
        next(self._flow)

    def feed(self, text: str) -> None:
        """Take in the next piece and settle what it decides."""
        self.scan.append(text)
        next(self._flow)

    def end(self) -> None:
        """The text is over: settle everything."""
        self.scan.ended = True
        for _ in self._flow:
            # Every scan that wakes after the end decides, so this loop is short.
            pass

    def skim(self, text: str) -> None:
        """Take in a piece that has been dealt with, being just more of the same."""
        self.pos += len(text)
        self.scan.base = self.scan.floor = self.pos
        self.scan.text = ""
        self._before = text[-1]

    def _think(self, ends: tuple[str, ...]) -> None:
        """What follows is thinking up to one of `ends`, or the answer if there are none."""
        self.thinking = bool(ends)
        self._thinking_ends = _ends(ends)

    def _run(self) -> Wait[None]:
        while (yield from self.scan.peek(self.pos)):
            if self._line_start:
                self._line_start = False
                yield from self._open_line()
            else:
                yield from self._rest_of_line(calls=True)
        self._settle_pending()

    # Emission

    def _emit(self, end: int) -> None:
        """What stands up to `end` is words, or thinking."""
        if end <= self.pos:
            return
        text = self.scan.slice(self.pos, end)
        if self._pending:
            if text.isspace():
                self._pending.append(Blank(span=(self.pos, end)))
                self._before = text[-1]
                self.pos = end
                return
            self._release_pending()
        self._before = text[-1]
        self._words(text, self.pos)
        self._advance(end)

    def _words(self, text: str, start: int) -> None:
        if not self.thinking:
            self._ledger.text(text, start)
        else:
            self._ledger.reasoning(text, None if self._field else (start, start + len(text)))

    def _advance(self, end: int) -> None:
        self.pos = end
        if not self._pending:
            self.scan.floor = end

    def _hide(self, end: int, why: str) -> None:
        """What stands up to `end` reaches nobody."""
        piece = Hidden(span=(self.pos, end), why=why)
        if self._pending:
            self._pending.append(piece)
            self.pos = end
        else:
            self.commit(piece)

    def commit(self, piece: Piece) -> None:
        """Write down a piece whose fate is settled."""
        start, end = piece.span
        match piece:
            case Site():
                self._call(piece)
            case Malformed():
                raw = self.scan.slice(start, end)
                if not self.thinking:
                    self._ledger.malformed(piece, raw)
                else:
                    self._words(raw, start)
            case Hidden():
                if not self._field:
                    self._ledger.drop(piece.span, piece.why)
            case Blank():
                self._words(self.scan.slice(start, end), start)
        self._before = self.scan.at(end - 1) or self._before
        self._advance(max(self.pos, end))

    def begin(self, name: str) -> None:
        """A call of an offered tool has begun, beyond doubt."""
        if not self.thinking:
            self._settle_pending()
            self._ledger.started(name)

    def settle(self, piece: Piece) -> None:
        """Write down a piece beyond doubt; calls that waited for a call to follow are calls."""
        if isinstance(piece, Hidden) and self._pending:
            self._pending.append(piece)
            self.pos = piece.span[1]
            return
        self._settle_pending()
        self.commit(piece)

    def _call(self, site: Site) -> None:
        raw = self.scan.slice(*site.span)
        if not self.thinking:
            self._ledger.call(site, raw)
        else:
            self._ledger.thought(site, raw, None if self._field else site.span)

    def _settle_pending(self) -> None:
        """Nothing but calls followed: what waited for that is calls."""
        pending, self._pending = self._pending, []
        for piece in pending:
            self.commit(piece)
        self.scan.floor = self.pos

    def _release_pending(self) -> None:
        """Words followed: what waited is words too."""
        pending, self._pending = self._pending, []
        for piece in pending:
            if isinstance(piece, Hidden):
                self.commit(piece)
            else:
                self._words(self.scan.slice(*piece.span), piece.span[0])
        self.scan.floor = self.pos

    # Candidates

    def _try(self, read: Reader, *, marked: bool) -> Wait[bool]:
        """Let a reader have the text from here on. `marked`: what it finds leaves at once."""
        sink = _Direct(self) if marked else _Collector()
        start = self.pos
        c = Candidate(
            self.scan,
            self._names,
            sink,
            start=self.pos,
            setting=Setting(
                line_start=self.pos == self._content,
                whole=not self._ledger.spoke,
                thought=self._thought is not None,
            ),
            limit=self._settings.max_argument_chars,
        )
        end = yield from read(c)
        self.scan.room = None
        if c.thought and self._thought is None:
            self._thought = self.pos
        if end is None and c.start == start:
            return False
        end = c.start if end is None else end
        if c.after_thought and self._thought is not None:
            self._ledger.reclassify(self._thought)
            self._thought = None
        c.settle(end)
        if isinstance(sink, _Collector):
            if c.last and not self.thinking:
                self._pending.extend(sink.pieces)
                self.pos = end
            else:
                self._settle_pending()
                for piece in sink.pieces:
                    self.commit(piece)
        if self.pos < end:
            self._hide(end, "part of a call")
        if c.mode is not None:
            self._think(c.mode)
            self._final = c.final
        self._line_start = True
        return True

    @property
    def _unmarked_calls(self) -> bool:
        return self._settings.text_calls == "on" and not self._final

    # Lines

    def _open_line(self) -> Wait[None]:
        """The start of a line, where forms without a marker may begin."""
        pos = self.pos
        while pos - self.pos < 4 and (yield from self.scan.peek(pos)) == " ":
            pos += 1
        char = yield from self.scan.peek(pos)
        indented = pos - self.pos >= 4 or char == "\t"
        if self.thinking:
            indented = False
        line, line_end = None, pos
        if self._unmarked_calls and not indented:
            line, line_end = yield from self.scan.word(pos, self._grammar.line_words)
        if indented or (char in ("|", ">") and line is None):
            self._emit(pos)
            yield from self._rest_of_line(calls=False)
            return
        if not char or char == "\n":
            self._emit(pos)
            yield from self._rest_of_line(calls=True)
            return
        self._emit(pos)
        self._content = pos
        if line and (
            yield from self._try(
                lambda c: self._grammar.lines[line](c, self._grammar, c.start, line_end),
                marked=False,
            )
        ):
            return
        if char in "`~":
            yield from self._ticks(at_start=True)
        elif self._unmarked_calls and char in "{[":
            if (yield from self._try(self._read_objects, marked=False)):
                return
            if (yield from self._try(self._read_list, marked=False)):
                return
        elif self._unmarked_calls and (char.isalpha() or char == "_"):
            for read in (self._read_taught, self._read_marked_name):
                if (yield from self._try(read, marked=False)):
                    return
        if not self._line_start:
            yield from self._rest_of_line(calls=True)

    def _read_objects(self, c: Candidate) -> Wait[int | None]:
        return (yield from read_objects(c, c.start, self._grammar.closing))

    def _read_list(self, c: Candidate) -> Wait[int | None]:
        return (yield from read_list(c, c.start))

    def _read_marked_name(self, c: Candidate) -> Wait[int | None]:
        return (yield from read_marked_name(c, self._grammar, c.start))

    def _read_taught(self, c: Candidate) -> Wait[int | None]:
        return (yield from read_line(c, c.start, ticks=0))

    def _rest_of_line(self, *, calls: bool) -> Wait[None]:
        """Words up to the end of the line, with markers among them."""
        while not self._line_start:
            char = yield from self._words_until(self._trigger)
            if not char:
                return
            if char == "\n":
                self._emit(self.pos + 1)
                self._line_start = True
            elif char == "`":
                yield from self._ticks(at_start=False)
            else:
                yield from self._marker(calls=calls)

    def _words_until(self, stop: re.Pattern[str]) -> Wait[str]:
        """Pass words on up to a character that may mean something; empty at the end."""
        while True:
            found = stop.search(self.scan.text, self.pos - self.scan.base)
            if found:
                self._emit(found.start() + self.scan.base)
                return found.group()
            self._emit(self.scan.end)
            if self.scan.ended:
                return ""
            self.idle = None if self._pending else stop
            yield
            self.idle = None

    # Code

    def _ticks(self, *, at_start: bool) -> Wait[None]:
        """A run of backticks or tildes: a fence, inline code, or a call in either."""
        char = self.scan.at(self.pos)
        end = yield from self.scan.skip(self.pos, _TICKS if char == "`" else _TILDES)
        run = end - self.pos
        if char == "~" and run < 3:
            self._emit(end)
            return
        fence = run >= 3
        if fence and not at_start:
            after = yield from self.scan.skip(end, _WORD)
            fence = (yield from self.scan.peek(after)) == "\n"
        if fence:
            found = self._unmarked_calls and (
                yield from self._try(lambda c: read_fence(c, end, run), marked=False)
            )
            if not found and not self.thinking:
                yield from self._fenced_text(end, char, run)
            elif not found:
                self._emit(end)
            return
        if self._unmarked_calls and (
            yield from self._try(
                lambda c: read_line(c, end, ticks=run, alone=at_start), marked=False
            )
        ):
            return
        self._emit(end)
        if not self.thinking:
            yield from self._code(run)

    def _code(self, run: int) -> Wait[None]:
        """Inline code up to its closing run, or the end of the line if there is none."""
        while True:
            char = yield from self._words_until(_CODE_STOPS)
            if char != "`":
                return
            end = yield from self.scan.skip(self.pos, _TICKS)
            closes = end - self.pos == run
            self._emit(end)
            if closes:
                return

    def _fenced_text(self, opened: int, char: str, run: int) -> Wait[None]:
        """A fence whose content is no call: words up to its closing line."""
        self._emit(opened)
        pattern = _TICKS if char == "`" else _TILDES
        while True:
            if not (yield from self._words_until(_NEWLINE)):
                return
            self._emit(self.pos + 1)
            pos = self.pos
            while pos - self.pos < 3 and (yield from self.scan.peek(pos)) == " ":
                pos += 1
            end = yield from self.scan.skip(pos, pattern)
            if end - pos >= run:
                after = yield from self.scan.blanks(end)
                if (yield from self.scan.peek(after)) in ("", "\n", "<"):
                    self._emit(end)
                    return

    # Markers

    def _marker(self, *, calls: bool) -> Wait[None]:
        """A character that begins markers: deal with the marker, or pass the character on."""
        if self.thinking:
            word, end = yield from self.scan.word(self.pos, self._thinking_ends)
            if word:
                self._hide(end, "end of thinking")
                self.thinking = False
                self._line_start = True
                return
        word, end = yield from self.scan.word(self.pos, self._markers.words)
        if word is None:
            yield from self._unlisted_marker(calls=calls)
            return
        kinds = self._markers
        if word in tokens.THINKING and not self.thinking and self._stands_apart():
            self._hide(end, "start of thinking")
            self._think(tokens.THINKING[word])
            self._line_start = True
        elif word in tokens.ORPHANS and not self.thinking:
            yield from self._orphan(end)
        elif word in kinds.hidden:
            self._hide(end, "a token of the chat template")
        elif word in kinds.foreign and not self.thinking:
            yield from self._invented(end)
        elif word in tokens.NAMED_TURN:
            yield from self._turn(word, end)
        elif word in self._grammar.closers:
            if self._ledger.called or self._pending:
                self._hide(end, "a closing marker")
                self._line_start = True
            else:
                self._emit(end)
        elif self._opens_call(word, calls=calls):
            if not (yield from self._try(lambda c: self._read_marked(c, word, end), marked=True)):
                self._emit(self.pos + 1)
        else:
            self._emit(self.pos + 1)

    def _opens_call(self, word: str, *, calls: bool) -> bool:
        """Whether a marker here may open a call: not in quotes, and only if calls are read."""
        if not calls or self._settings.text_calls == "off" or self._before in _QUOTES:
            return False
        return word in self._grammar.wrappers or word in self._grammar.calls

    def _read_marked(self, c: Candidate, word: str, end: int) -> Wait[int | None]:
        wrapper = self._grammar.wrappers.get(word)
        if wrapper:
            return (yield from read_wrapper(c, self._grammar, wrapper, end))
        return (yield from self._grammar.calls[word](c, self._grammar, c.start, end))

    def _stands_apart(self) -> bool:
        """Whether a thinking tag here opens a block, rather than being named in a sentence."""
        return self.pos == self._content or not (self._before.isalpha() or self._before == " ")

    def _orphan(self, end: int) -> Wait[None]:
        """A closing tag that nothing opened: what was said so far is thinking."""
        before = self._before
        after = yield from self.scan.peek(end)
        if (
            before in (" ", *_QUOTES)
            and self.pos != self._content
            and after in (" ", *_QUOTES, ",")
        ):
            self._emit(end)
            return
        if self._pending:
            self._release_pending()
        self._ledger.reclassify()
        self._hide(end, "end of thinking")
        self._line_start = True

    def _turn(self, word: str, end: int) -> Wait[None]:
        """A token that a role follows."""
        role_end = yield from self.scan.skip(end, _ROLE)
        role = self.scan.slice(end, role_end).lower()
        after = role_end
        if tokens.NAMED_TURN[word]:
            closer, closed = yield from self.scan.word(role_end, Words(tokens.NAMED_TURN[word]))
            after = closed if closer else role_end
        if role not in tokens.OWN_ROLES:
            yield from self._invented(end)
            return
        after = yield from self.scan.skip(after, _NEWLINES)
        self._hide(after, "a turn marker")
        self._line_start = True

    def _invented(self, end: int) -> Wait[None]:
        """A turn that the model wrote for somebody else: nothing of the rest counts."""
        if self._pending:
            self._settle_pending()
        self._hide(end, "a turn marker")
        self._ledger.cut = True
        yield from self._words_until(_NEVER)

    def _unlisted_marker(self, *, calls: bool) -> Wait[None]:
        """A tool's own tag, or a template token that no table knows."""
        char = self.scan.at(self.pos)
        reads = calls and self._settings.text_calls != "off"
        if char == "<" and reads:
            tag, end = yield from self.scan.word(self.pos, self._tool_tags.openers)
            if tag and (yield from self._try(partial(self._read_tool, tag, end), marked=True)):
                return
        end = (yield from self._token(self.pos)) if char == "<" else None
        if end is None:
            self._emit(self.pos + 1)
        elif not reads or self.thinking:
            self._hide(end, "a token of a chat template")
        else:
            yield from self._try(partial(self._read_unknown, end), marked=True)

    def _read_tool(self, tag: str, end: int, c: Candidate) -> Wait[int | None]:
        return (yield from self._tool_tags.read(c, tag, end))

    def _token(self, pos: int) -> Wait[int | None]:
        """Where the template token at `pos` ends that no table knows, None if there is none."""
        if (yield from self.scan.peek(pos + 1)) not in _BARS:
            return None
        for end in range(pos + 2, pos + 2 + _TOKEN_LIMIT):
            char = yield from self.scan.peek(end)
            if char in _BARS:
                closes = (yield from self.scan.peek(end + 1)) == ">"
                name = self.scan.slice(pos + 2, end)
                return end + 2 if closes and name and name == name.strip() else None
            if not (char.isalnum() or char in _TOKEN_CHARS):
                return None
        return None

    def _read_unknown(self, end: int, c: Candidate) -> Wait[int]:
        """A token that no table knows: hidden, and an error if it wraps something like a call."""
        begin = yield from self.scan.skip(end, _BEFORE_CALL)
        char = yield from self.scan.peek(begin)
        name = ""
        called = begin
        if char == "{":
            if not (yield from may_be_call(c, begin)):
                called = -1
            name = c.early_name(begin)
        else:
            name_end = yield from read_name(c, begin)
            name = self.scan.slice(begin, name_end or begin)
            called = yield from self.scan.blanks(name_end or begin)
            if c.names.resolve(name) is None or (yield from self.scan.peek(called)) not in (
                "(",
                "{",
            ):
                called = -1
        if called < 0:
            c.hide(end, "a token of a chat template")
            return end
        frame = yield from self.scan.value(called, self._grammar.closing)
        stop = frame.end
        while True:
            after = yield from self.scan.skip(stop, _AFTER_CALL)
            token = (yield from self._token(after)) if self.scan.at(after) == "<" else None
            if token is None:
                break
            stop = token
        cut = not frame.closed and not frame.stop
        c.malformed("its markup belongs to no form that is read here", stop, name=name, cut=cut)
        return stop


@cache
def _ends(markers: tuple[str, ...]) -> Words:
    return Words(markers)


class _Direct:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def started(self, name: str) -> None:
        self._engine.begin(name)

    def piece(self, piece: Piece) -> None:
        self._engine.settle(piece)


class _Collector:
    def __init__(self) -> None:
        self.pieces: list[Piece] = []

    def started(self, name: str) -> None:
        """Not certain before the whole line is read."""

    def piece(self, piece: Piece) -> None:
        self.pieces.append(piece)
