"""Walks through a response and tells words, thinking, markers and calls apart.

Invariant: one coroutine reads the text from front to back. What may be a call is tried by a
reader; if the reader gives it back, its first characters are words and the rest is read anew.
"""

import re
from collections.abc import Callable
from functools import partial
from typing import TypeAlias

from providers.verbatim import forms, mentions, tokens
from providers.verbatim.bare import read_objects
from providers.verbatim.candidate import Candidate, Setting
from providers.verbatim.code import fenced_text, inline_code
from providers.verbatim.dialects.tool_tags import ToolTags
from providers.verbatim.fenced import read_fence
from providers.verbatim.grammar import Grammar
from providers.verbatim.ledger import Ledger
from providers.verbatim.markers import Markers
from providers.verbatim.names import NameIndex
from providers.verbatim.payloads import read_marked_name, read_wrapper
from providers.verbatim.scanner import Scanner, Wait, Words
from providers.verbatim.settings import ParserSettings
from providers.verbatim.sites import Held
from providers.verbatim.taught import read_line, read_list
from providers.verbatim.unlisted import read_unknown, token_end
from providers.verbatim.writer import Writer

Reader: TypeAlias = Callable[[Candidate], Wait[int | None]]

_NEWLINES = re.compile(r"\n*")
_DIGITS = re.compile(r"\d*")
_TICKS = re.compile(r"`*")
_TILDES = re.compile(r"~*")
_INFO = re.compile(r"[\w+.#-]*")
_ROLE = re.compile(r"[A-Za-z]*")
_NEVER = re.compile(r"(?!)")
_AFTER_MENTION = frozenset(" ,.;:)\"'”’»")
_ORPHANS = Words(tokens.ORPHANS)
_ROLE_ENDS = {word: Words(ends) for word, ends in tokens.NAMED_TURN.items()}
_THINKING_ENDS = {word: Words(ends) for word, ends in tokens.THINKING.items()}
_TOKEN_BEGINS = ("<|", "<｜")
_TOKEN = "a token of the chat template"  # noqa: S105


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
        self.out = Writer(self.scan, ledger, field=field)
        self._grammar = grammar
        self._markers = markers
        self._names = names
        self._ledger = ledger
        self._settings = settings
        self._field = field
        self._tool_tags = ToolTags(names.specs)
        self._line_start = True
        self._content = 0
        """Where the content of the present line begins."""
        self._shows_calls = False
        """Whether the present line is a quotation, a table or a list: calls in it are shown."""
        self._thought: int | None = None
        """Where a `Thought:` line begins that may turn out to be thinking."""
        if field or settings.reasoning_open:
            self.out.think(_ORPHANS)
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
            # Every scan that wakes after the end decides.
            pass

    def _run(self) -> Wait[None]:
        while (yield from self.scan.peek(self.out.pos)):
            if self._line_start:
                self._line_start = False
                yield from self._open_line()
            else:
                yield from self._rest_of_line(calls=True)
        self.out.settle()

    def _try(self, form: str, read: Reader, *, marked: bool) -> Wait[bool]:
        """Let a reader have the text from here on. `marked`: what it finds leaves at once.

        `form` says what is tried, for explanations.
        """
        out = self.out
        start = out.pos
        held = Held()
        c = Candidate(
            self.scan,
            self._names,
            out if marked else held,
            start=start,
            setting=Setting(
                line_start=start == self._content,
                whole=not self._ledger.spoke,
                thought=self._thought is not None,
                calls=self._settings.text_calls != "off",
                form=form,
            ),
            limit=self._settings.max_argument_chars,
        )
        end = yield from read(c)
        self.scan.room = None
        if c.thought and self._thought is None:
            self._thought = start
        if end is None:
            if not marked or c.start == start:
                if c.found or held.pieces:
                    self._ledger.because(f"{form}, but something else stands with it")
                return False
            end = c.start
        if c.after_thought and self._thought is not None:
            self._ledger.reclassify(self._thought)
            self._thought = None
        c.settle(end)
        if c.last and not out.thinking:
            out.await_rest(held.pieces)
        elif not marked:
            out.accept(held.pieces)
        if out.pos < end:
            out.hide(end, "part of a call")
        self._line_start = True
        return True

    @property
    def _unmarked_calls(self) -> bool:
        """Whether forms without a marker are read here."""
        return self._settings.text_calls == "on" and not self.out.final

    # Lines

    def _open_line(self) -> Wait[None]:
        """The start of a line, where forms without a marker may begin."""
        start = pos = self.out.pos
        while pos - start < 4 and (yield from self.scan.peek(pos)) == " ":
            pos += 1
        char = yield from self.scan.peek(pos)
        code_block = not self.out.thinking and (pos - start >= 4 or char == "\t")
        self.out.words(pos)
        self._content = pos
        if char and char != "\n" and not code_block and self._unmarked_calls:
            if (yield from self._unmarked_call(char)):
                return
            if self._line_start:
                return
        quoted = code_block or (char in (">", "|") and not self.out.thinking)
        self._shows_calls = quoted or (yield from self._is_item(pos, char))
        if char in ("`", "~") and not code_block and self.out.pos == pos:
            yield from self._ticks(at_start=True, fences=True)
        yield from self._rest_of_line(calls=not quoted)

    def _is_item(self, pos: int, char: str) -> Wait[bool]:
        """Whether the line whose content begins at `pos` is an item of a list."""
        if char in ("-", "*", "+", "•"):
            return (yield from self.scan.peek(pos + 1)) in (" ", "\t")
        if not char.isdecimal():
            return False
        end = yield from self.scan.skip(pos, _DIGITS)
        return (yield from self.scan.peek(end)) in (".", ")")

    def _unmarked_call(self, char: str) -> Wait[bool]:
        """A call at a line's start that no marker announces."""
        word, end = yield from self.scan.word(self.out.pos, self._grammar.line_words)
        if word:
            read: Reader = partial(self._read_line_word, word, end)
            if (yield from self._try(f"`{word}` at a line's start", read, marked=False)):
                return True
        readers: tuple[tuple[str, Reader], ...] = ()
        if char in ("{", "["):
            readers = ((forms.OBJECT, self._read_objects), (forms.LIST, self._read_list))
        elif char.isalpha() or char == "_":
            readers = (
                (forms.TAUGHT, self._read_taught),
                (forms.MARKED_NAME, self._read_marked_name),
            )
        for form, read in readers:
            if (yield from self._try(form, read, marked=False)):
                return True
        return False

    def _read_line_word(self, word: str, end: int, c: Candidate) -> Wait[int | None]:
        return (yield from self._grammar.lines[word](c, self._grammar, c.start, end))

    def _read_objects(self, c: Candidate) -> Wait[int | None]:
        return (yield from read_objects(c, c.start, self._grammar.closing))

    def _read_list(self, c: Candidate) -> Wait[int | None]:
        return (yield from read_list(c, c.start))

    def _read_taught(self, c: Candidate) -> Wait[int | None]:
        return (yield from read_line(c, c.start, ticks=0))

    def _read_marked_name(self, c: Candidate) -> Wait[int | None]:
        return (yield from read_marked_name(c, self._grammar, c.start))

    def _rest_of_line(self, *, calls: bool) -> Wait[None]:
        """Words up to the end of the line, with markers among them."""
        while not self._line_start:
            char = yield from self.out.words_until(self._markers.trigger)
            if not char:
                return
            if char == "\n":
                self.out.words(self.out.pos + 1)
                self._line_start = True
            elif char == "`":
                yield from self._ticks(at_start=False, fences=calls)
            else:
                yield from self._marker(calls=calls)

    # Code

    def _ticks(self, *, at_start: bool, fences: bool) -> Wait[None]:
        """A run of backticks or tildes: a fence, inline code, or a call in either."""
        pos = self.out.pos
        char = self.scan.at(pos)
        end = yield from self.scan.skip(pos, _TICKS if char == "`" else _TILDES)
        run = end - pos
        fence = fences and run >= 3
        if fence and not at_start:
            after = yield from self.scan.skip(end, _INFO)
            fence = (yield from self.scan.peek(after)) == "\n"
        form = forms.FENCE if fence else forms.TICKED if at_start else forms.CLOSING
        read: Reader
        if fence:
            read = partial(read_fence, pos=end, run=run)
        else:
            read = partial(read_line, pos=end, ticks=run, alone=at_start)
        reads = self._unmarked_calls and (fence or char == "`") and not self._shows_calls
        if reads and (yield from self._try(form, read, marked=False)):
            return
        self.out.words(end)
        if self.out.thinking or (char == "~" and not fence):
            return
        if not fence:
            yield from inline_code(self.scan, self.out, run)
        elif (yield from fenced_text(self.scan, self.out, char, run)):
            self._content = self.out.pos

    # Markers

    def _marker(self, *, calls: bool) -> Wait[None]:
        """A character that begins markers: deal with the marker, or pass the character on."""
        out, pos = self.out, self.out.pos
        if out.thinking:
            word, end = yield from self.scan.word(pos, out.thinking_ends)
            if word:
                out.hide(end, "end of thinking")
                out.think(_ORPHANS if self._field else None)
                self._line_start = True
                return
        word, end = yield from self.scan.word(pos, self._markers.words)
        if word is None:
            yield from self._unlisted(calls=calls)
        elif word in self._grammar.channels:
            yield from self._try(word, partial(self._read_channel, word, end), marked=True)
        elif word in tokens.THINKING and self._opens_thinking():
            out.hide(end, "start of thinking")
            out.think(_THINKING_ENDS[word])
            self._line_start = True
        elif word in tokens.ORPHANS and not out.thinking:
            yield from self._orphan(end)
        elif word in self._markers.hidden:
            # Behind a token at a line's start the line still begins.
            self._line_start = pos == self._content
            out.hide(end, _TOKEN)
        elif word in self._markers.foreign and not self._field:
            if mentions.begins_turn(self.out.tail, self.out.pos == self._content):
                yield from self._invented(end)
            elif word.startswith(_TOKEN_BEGINS):
                out.hide(end, _TOKEN)
            else:
                out.words(end)
        elif word in tokens.NAMED_TURN:
            yield from self._turn(word, end)
        elif word in self._grammar.closers and (
            self._ledger.called or out.waiting or word.startswith(_TOKEN_BEGINS)
        ):
            out.hide(end, "a closing marker")
            self._line_start = True
        elif not self._opens_call(word, calls=calls) or not (
            yield from self._try(
                f"the marker {word}", partial(self._read_marked, word, end), marked=True
            )
        ):
            out.words(pos + 1)

    def _opens_call(self, word: str, *, calls: bool) -> bool:
        """Whether a marker here may open a call: not in quotes, and only if calls are read."""
        if not calls or self._settings.text_calls == "off" or mentions.quoted(self.out.tail):
            return False
        return word in self._grammar.wrappers or word in self._grammar.calls

    def _read_channel(self, word: str, end: int, c: Candidate) -> Wait[int | None]:
        return (yield from self._grammar.channels[word](c, self._grammar, c.start, end))

    def _read_marked(self, word: str, end: int, c: Candidate) -> Wait[int | None]:
        wrapper = self._grammar.wrappers.get(word)
        if wrapper:
            return (yield from read_wrapper(c, self._grammar, wrapper, end))
        return (yield from self._grammar.calls[word](c, self._grammar, c.start, end))

    def _unlisted(self, *, calls: bool) -> Wait[None]:
        """A tool's own tag, a template token that no table knows, or just a character."""
        pos = self.out.pos
        reads = calls and self._settings.text_calls != "off"
        if self.scan.at(pos) == "<":
            tag, end = yield from self.scan.word(pos, self._tool_tags.openers)
            read = partial(self._read_tool_tag, tag or "", end)
            if tag and reads and (yield from self._try(forms.TOOL_TAG, read, marked=True)):
                return
            token = yield from token_end(self.scan, pos)
            if token is not None:
                if not reads or self.out.thinking:
                    self.out.hide(token, _TOKEN)
                else:
                    read = partial(self._read_unknown, token)
                    yield from self._try(forms.UNKNOWN_MARKUP, read, marked=True)
                return
        self.out.words(pos + 1)

    def _read_tool_tag(self, tag: str, end: int, c: Candidate) -> Wait[int | None]:
        return (yield from self._tool_tags.read(c, tag, end))

    def _read_unknown(self, end: int, c: Candidate) -> Wait[int | None]:
        return (yield from read_unknown(c, self._grammar, end))

    def _opens_thinking(self) -> bool:
        opens_line = self.out.pos == self._content
        return not self.out.thinking and mentions.stands_apart(self.out.tail, opens_line)

    def _orphan(self, end: int) -> Wait[None]:
        """A closing tag that nothing opened: what was said so far is thinking."""
        before = self.out.tail
        after = yield from self.scan.peek(end)
        if (
            mentions.named_in_sentence(before)
            and self.out.pos != self._content
            and after
            and after in _AFTER_MENTION
        ):
            self.out.words(end)
            return
        self.out.release()
        self._ledger.reclassify()
        self.out.hide(end, "end of thinking")
        self._line_start = True

    def _turn(self, word: str, end: int) -> Wait[None]:
        """A token that a role follows."""
        role_end = yield from self.scan.skip(end, _ROLE)
        role = self.scan.slice(end, role_end).lower()
        if (
            role not in tokens.OWN_ROLES
            and mentions.begins_turn(self.out.tail, self.out.pos == self._content)
            and not self._field
        ):
            yield from self._invented(end)
            return
        _, after = yield from self.scan.word(role_end, _ROLE_ENDS[word])
        after = yield from self.scan.skip(after, _NEWLINES)
        self.out.hide(after, "a turn marker")
        self._line_start = True

    def _invented(self, end: int) -> Wait[None]:
        """A turn that the model wrote for somebody else: nothing of the rest counts."""
        self.out.settle()
        self.out.hide(end, "a turn marker")
        self.out.think(None)
        self._ledger.cut = True
        yield from self.out.words_until(_NEVER)
