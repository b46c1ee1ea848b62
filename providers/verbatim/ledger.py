"""Writes down, in order, what the parser has settled, and judges every call on the way.

Invariant: events tile the text in its order; only a name on the surface becomes a ToolCall.
After a call only blanks and further calls come; the first words there cut the response.
"""

from dataclasses import replace

from prompt.events import (
    AFTER_CALLS,
    CallError,
    CallErrorCode,
    CallStarted,
    Decided,
    Dropped,
    FinishReason,
    ParserEvent,
    ReasoningDelta,
    Reclassified,
    TextDelta,
)
from prompt.values import Span, ToolCall, ToolSpec
from providers.verbatim.arguments import BindFailure, Bound, bind_call
from providers.verbatim.copies import repeat_refused, repeats
from providers.verbatim.forms import REASONS, SILENT
from providers.verbatim.identity import call_id
from providers.verbatim.names import NameIndex
from providers.verbatim.settings import ParserSettings
from providers.verbatim.sites import Malformed, Site

_CUT = ("length", "error")
_BY_ITSELF = ("stop", "tool_calls")
_RAW_SHOWN = 2_000


class Ledger:
    """The events of one response."""

    def __init__(self, names: NameIndex, settings: ParserSettings, id_seed: str) -> None:
        self._names = names
        self._settings = settings
        self._id_seed = id_seed
        self._ordinal = 0
        self._events: list[ParserEvent] = []
        self._shown: list[tuple[int, list[str]]] = []
        """What was shown since the last thinking, as runs of text without a gap."""
        self._shown_end = -1
        self._spoke_before = False
        self._kept_call: ToolCall | None = None
        self._kept_raw = ""
        self._kept: list[ParserEvent] = []
        self._announced = ""
        self.finish: FinishReason | None = None
        self.spoke = False
        self.called = False
        self.cut = False

    def take(self) -> list[ParserEvent]:
        """The events since the last time."""
        events = self._events
        self._events = []
        return events

    def more(self, text: str, start: int, *, thinking: bool) -> TextDelta | ReasoningDelta | None:
        """The event for text that just goes on, None where it needs a closer look."""
        if self.cut or self._kept_call is not None:
            return None
        if thinking:
            return ReasoningDelta(text=text, span=(start, start + len(text)))
        if self.called or not self.spoke:
            return None
        self._note(text, start)
        return TextDelta(text=text, span=(start, start + len(text)))

    def text(self, text: str, start: int) -> None:
        """Words of the answer."""
        if not text:
            return
        if self.called and not self.cut:
            words = text.lstrip()
            blank = len(text) - len(words)
            if blank:
                self._show(text[:blank], start)
            if not words:
                return
            self.cut = True
            text, start = words, start + blank
        if self.cut:
            self.drop((start, start + len(text)), AFTER_CALLS)
            return
        if not self.spoke and not text.isspace():
            self.spoke = True
            self._release()
        self._show(text, start)

    def _show(self, text: str, start: int) -> None:
        self._note(text, start)
        self._add(TextDelta(text=text, span=(start, start + len(text))))

    def _note(self, text: str, start: int) -> None:
        if start != self._shown_end:
            self._shown.append((start, []))
        self._shown[-1][1].append(text)
        self._shown_end = start + len(text)

    def reasoning(self, text: str, span: Span | None) -> None:
        """Thinking. `span` is None for text from a field of its own."""
        if not text:
            return
        if self.cut and span is not None:
            self.drop(span, AFTER_CALLS)
            return
        self._add(ReasoningDelta(text=text, span=span))

    def drop(self, span: Span, why: str) -> None:
        """Text that reaches nobody."""
        if span[1] > span[0]:
            self._add(Dropped(span=span, why=why))

    def _add(self, event: ParserEvent) -> None:
        (self._events if self._kept_call is None else self._kept).append(event)

    def because(self, rule: str) -> None:
        """Note the rule that decided what the next event is, where anyone asks."""
        if self._settings.explain:
            self._add(Decided(rule=rule))

    def keep_shown(self) -> None:
        """Thinking has ended properly: what was shown before it stays an answer."""
        self._shown = []
        self._shown_end = -1
        self._spoke_before = self.spoke

    def reclassify(self, since: int = 0) -> None:
        """What was shown from `since` on turns out to be thinking."""
        self.spoke = self._spoke_before
        kept: list[tuple[int, list[str]]] = []
        for start, parts in self._shown:
            text = "".join(parts)
            cut = max(since - start, 0)
            if text[:cut].strip():
                self.spoke = True
            if cut:
                kept.append((start, [text[:cut]]))
            if text[cut:].strip():
                span = (start + cut, start + len(text))
                self._add(Reclassified(text=text[cut:], span=span))
        self._shown = kept
        self._shown_end = -1

    def started(self, name: str) -> None:
        """A call of an offered tool has begun."""
        if self.cut or any(name == quoted for quoted, _ in self._settings.quoted):
            return
        self._release()
        self._announced = name
        self._add(CallStarted(name=name))

    def call(self, site: Site, raw: str) -> None:
        """A call stands in the answer; `raw` is its text."""
        if self.cut:
            self.drop(site.span, AFTER_CALLS)
            return
        outcome = self._judge(site, raw)
        if outcome is None:
            self.because(f"{site.form}, quoted from the message of the asking member")
            self.text(raw, site.span[0])
            return
        self._release()
        if isinstance(outcome, ToolCall):
            if self._announced != outcome.name:
                self._add(CallStarted(name=outcome.name))
            outcome = self._numbered(outcome)
            self.because(site.form)
        else:
            self.because(f"{site.form}, but {REASONS[outcome.code]}")
        self._announced = ""
        self.called = True
        self._add(outcome)

    def malformed(self, found: Malformed, raw: str) -> None:
        """A call wrapper without a call stands in the answer."""
        if self.cut:
            self.drop(found.span, AFTER_CALLS)
            return
        self._release()
        self._announced = ""
        code: CallErrorCode = "truncated" if found.cut else "malformed"
        self.because(f"{found.form}, but {REASONS[code]}")
        message = (
            "Your tool call was cut off before it was complete. Write it again, shorter."
            if found.cut
            else f"Your text has the form of a tool call, but {found.problem}. Nothing was run. "
            "Write the tool's name and one JSON object with its arguments."
        )
        self._add(
            CallError(
                code=code, name=found.name, message=message, raw=_clipped(raw), span=found.span
            )
        )

    def thought(self, site: Site, raw: str, span: Span | None) -> None:
        """A call stands in thinking: it is kept back, in case the turn says nothing else."""
        outcome = self._judge(site, raw)
        keeps = self._settings.call_in_reasoning == "if_silent"
        if not isinstance(outcome, ToolCall) or not keeps or self.spoke or self.called:
            self.because(f"{site.form}, in thinking")
            self.reasoning(raw, span)
            return
        self._release()
        self._kept_call = replace(outcome, span=span)
        self._kept_raw = raw

    def _release(self) -> None:
        """The call that was kept back is thinking after all."""
        call = self._kept_call
        if call is None:
            return
        self._kept_call = None
        self._events.append(ReasoningDelta(text=self._kept_raw, span=call.span))
        self._events.extend(self._kept)
        self._kept = []

    def close(self, *, native_calls: bool) -> None:
        """The response is over: settle what was kept back."""
        call = self._kept_call
        if call is None:
            return
        if native_calls or self.finish in _CUT:
            self._release()
            return
        self._kept_call = None
        self._events.append(CallStarted(name=call.name))
        self.because(SILENT)
        self._events.append(self._numbered(call))
        self._events.extend(self._kept)
        self._kept = []
        self.called = True

    def _numbered(self, call: ToolCall) -> ToolCall:
        self._ordinal += 1
        return replace(call, id=call_id(self._id_seed, self._ordinal))

    def _judge(self, site: Site, raw: str) -> ToolCall | CallError | None:
        """What becomes of a call; None where it is only quoted, and stays text."""
        spec = self._names.resolve(site.name)
        if spec is None:
            return self._error(site, raw, "unknown_tool", self._names.unknown(site.name))
        if site.size or _size(site) > self._settings.max_argument_chars:
            return self._error(
                site,
                raw,
                "too_large",
                f"The arguments of {spec.name} exceed {self._settings.max_argument_chars} "
                "characters. Send less at once.",
            )
        unfinished = site.ending == "open" and self.finish not in _BY_ITSELF
        unsure = site.ending != "closed" and self.finish in _CUT
        if site.ending == "cut" or unfinished or unsure:
            return self._error(site, raw, "truncated", _truncated(spec))
        bound = bind_call(spec, site.arguments)
        if isinstance(bound, BindFailure):
            if site.ending == "open":
                return self._error(site, raw, "truncated", _truncated(spec))
            code = "open_argument" if bound.waits else "invalid_arguments"
            failed = self._error(site, raw, code, bound.message(spec))
            return replace(failed, waits=bound.waits)
        return self._allowed(site, spec, bound, raw)

    def _allowed(
        self, site: Site, spec: ToolSpec, bound: Bound, raw: str
    ) -> ToolCall | CallError | None:
        repeated = repeats(spec, bound.arguments, self._names, self._settings)
        if repeated == "quoted":
            return None
        if repeated is not None:
            return self._error(site, raw, "copied", repeat_refused(spec, repeated))
        return ToolCall(
            id="",
            name=spec.name,
            arguments=bound.arguments,
            raw_arguments=bound.raw_arguments,
            origin="text",
            span=site.span,
            repaired=bound.repaired or site.repaired,
        )

    def _error(self, site: Site, raw: str, code: CallErrorCode, message: str) -> CallError:
        return CallError(
            code=code, name=site.name, message=message, raw=_clipped(raw), span=site.span
        )


def _truncated(spec: ToolSpec) -> str:
    return (
        f"Your call of {spec.name} was cut off before it was complete, so it was not run. "
        "Write it again, shorter."
    )


def _size(site: Site) -> int:
    return len(site.arguments) if isinstance(site.arguments, str) else 0


def _clipped(raw: str) -> str:
    return raw if len(raw) <= _RAW_SHOWN else raw[:_RAW_SHOWN] + "..."
