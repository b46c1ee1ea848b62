"""One turn: stream, run tools, go on, until the model has answered in words.

Invariant: requests within a turn only grow; each starts with the messages of the one before.
Every call that was read gets one result, and the reply ends with an answer, a marked partial
answer or a line that says what went wrong.
"""

import asyncio
import logging
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from chat.bounds import affordable, fitted, has_room, narrow
from chat.copied import calls_in
from chat.counting import Count, counted
from chat.echoes import is_echo, may_be_echo
from chat.ending import end_answered
from chat.metering import Meter
from chat.open_calls import OpenCalls
from chat.recording import Recorder
from chat.reply import Reply
from chat.rounds import Round, as_items, thought_parts, thoughtless
from chat.scheduler import Lease
from chat.sent import Sent, sent
from chat.toolwork import ToolWork, refused
from prompt.events import (
    AFTER_CALLS,
    CallError,
    Dropped,
    Finished,
    ReasoningDelta,
    Reclassified,
    StreamEvent,
    TextDelta,
    Usage,
)
from prompt.prompt import Prompt
from prompt.values import PromptItem, TextPart, ToolCall, ToolResult, Turn
from providers.base import CallKey, Provider, RequestOptions

log = logging.getLogger(__name__)

MAX_ROUNDS = 8
"""Requests in one turn, fewer where the budget is used up. A call in the last one does not run."""

MAX_CALL_ERRORS = 2
"""Rounds of a turn in which the model is told what was wrong with its calls. After that, calls
that can be read still run; an answer that holds none ends the turn."""

SLOW_AFTER = 5.0
"""Seconds without a first token after which the member is told that it takes a while."""

READING = "the model is loading or reading"

LAST_ROUND = "No more tool calls run in this turn. Answer in words now."
ANSWER_NUDGE = "Please answer in words."
MOST_THOUGHT = 50_000
"""Characters of thinking that are kept for those who ask what the model thought."""

NOTHING_SAID = "(no answer)"
"""Stands for an empty answer: without it the nudge would lengthen the message before."""

NO_ANSWER = "The model gave no answer. Ask again, or put it in other words."
CALL_FAILED = "The model tried to use a tool, but its call could not be understood."
TOO_MANY_ROUNDS = "The model kept calling tools without answering, so the turn was ended."
NO_ROOM = "What the tools brought does not fit into the model's context window any more."


class TurnRun:
    """Runs one turn and keeps what it said and did; `turns` is what history will replay.

    `on_empty` is the switch empty_reply. `doubts_template` tells that a chat template is only
    believed to open a block of thinking: if none ends, the next answer is read without it.
    """

    def __init__(
        self,
        provider: Provider,
        work: ToolWork,
        reply: Reply,
        changed: Callable[[], None],
        options: RequestOptions,
        *,
        slow_after: float = SLOW_AFTER,
        on_empty: str = "nudge_once",
        doubts_template: bool = False,
    ) -> None:
        self._provider = provider
        self._work = work
        self._reply = reply
        self._changed = changed
        self.options = options
        """What requests from now on ask for."""
        self._slow_after = slow_after
        self._on_empty = on_empty
        self._doubts_template = doubts_template
        self._open = OpenCalls()
        self._told_errors = 0
        self._nudged = False
        self._rounds = 0
        self._exchanges: list[PromptItem] = []
        self._last = False
        self._heard = False
        self._spoke = False
        self._brought: list[str] = []
        self._answered = False
        self._thought = 0
        self.turns: list[Turn] = []
        self.answers: list[bytes] = []
        """What each request brought, packed by its Recorder."""
        self.sent: list[Sent] = []
        """What each request was."""
        self.thoughts: list[str] = []
        """What the model thought, in all rounds, up to a bound."""
        self.counts: list[Count] = []
        """How many tokens the endpoint counted, a request."""
        self.meter = Meter()
        """What its requests use."""
        self.native_calls_seen = False
        self.field_sent = False
        """Whether the `tools` field went along with the latest request."""
        self.read: list[Prompt] = []
        """The prompts that the model began to answer."""
        self.template_opens_think = False
        """Whether an answer closed a block of thinking that it had not opened."""
        self.thinking_never_ends = False
        """Whether an answer was nothing but thinking that stood among its words."""

    @property
    def spoke(self) -> bool:
        """Whether the latest response has brought words, so that it cannot be asked for anew."""
        return self._spoke

    @property
    def has_shown_words(self) -> bool:
        """Whether the member has seen anything of an answer, in any round."""
        return self._spoke or bool(self._reply.text)

    def move(
        self, provider: Provider, options: RequestOptions, *, on_empty: str, doubts_template: bool
    ) -> None:
        """Go on at another endpoint. What tools did stays, in text and as calls, so that it fits
        whatever mode the other one takes; thinking is left out, since it was another model's. What
        was noticed of the former endpoint is forgotten."""
        self._provider = provider
        self.options = options
        self._on_empty = on_empty
        self._doubts_template = doubts_template
        self._exchanges = [thoughtless(item) for item in self._exchanges]
        self.counts.clear()
        self.native_calls_seen = self.template_opens_think = self.thinking_never_ends = False

    def room_in(self, prompt: Prompt) -> int:
        """Tokens that are left in `prompt` with what tools did before it; negative if it does not
        fit."""
        return prompt.grown(*self._exchanges).room

    async def run(self, prompt: Prompt, lease: Lease) -> None:
        """Answer `prompt`, each request when `lease` lets it go. Raises EndpointError with what
        came before it kept in the reply.

        Run again, with other options or another plan of the same turn, it goes on with the request
        that failed: what tools did is not done twice.
        """
        prompt = prompt.grown(*self._exchanges)
        last = self._last
        for number in range(self._rounds + 1, MAX_ROUNDS + 1):
            if self._exchanges and prompt.room < 0:
                self._give_up(NO_ROOM)
                return
            options = replace(
                self.options,
                round=number,
                copied=self.options.copied | self._copied(prompt),
            )
            async with lease.request() as slot:
                got = await self._stream(prompt, replace(options, slot=slot))
            if is_echo(self._reply.current, prompt.surface):
                log.info("round %d only repeated the definitions of its tools", number)
                self._reply.drop_round()
            text = self._reply.next_round()
            thinking = tuple(got.thinking)
            if not self._echoes(got, prompt):
                got.thinking.clear()
            self._open.hold(got, prompt)
            notes = narrow(got, text, prompt)
            self._open.told(got.held)
            for error in got.errors:
                if error.code == "unknown_tool":
                    self._work.unknown(error.name)
            results: list[ToolResult] = []
            if not (got.calls or got.errors or got.held):
                self.thinking_never_ends |= got.thought_in_text and not text.strip()
                self._record(text, thinking=thinking)
                nudges = self._on_empty == "nudge_once" and not self._nudged
                if text.strip() or last or not nudges or self._has_answered:
                    self._end(text, got.finished)
                    return
                self._nudged = True
                if self._doubts_template and self.thinking_never_ends:
                    self._take_text_for_words()
                text, notes = NOTHING_SAID, [ANSWER_NUDGE]
            elif last:
                unrun = [refused(call, "round_limit", message=LAST_ROUND) for call in got.calls]
                self._record(text, got.calls, unrun, thinking=thinking)
                self._give_up(TOO_MANY_ROUNDS)
                return
            else:
                ran = await self._work.run(got.calls, prompt.surface)
                reminders = affordable(self._open.reminders(got, prompt), got, text, prompt)
                results = fitted(ran, got, text, prompt, reminders)
                self._brought += [result.text for result in ran]
                self._record(text, got.calls, self._work.kept(results), thinking=thinking)
                notes += reminders
                self._answered = not (got.held or self._reads(got.calls, prompt)) and (
                    self._answered or bool(text.strip())
                )
                if got.errors and self._told_errors == MAX_CALL_ERRORS:
                    if not got.calls and not self._work.is_closed:
                        self._give_up(CALL_FAILED)
                        return
                    got.errors.clear()
                    text = text if text.strip() or got.calls else NOTHING_SAID
                self._told_errors += bool(got.errors)
            exchange = as_items(text, got, results, notes)
            last = number + 1 == MAX_ROUNDS or self._work.is_closed
            last = last or not has_room(prompt.grown(*exchange))
            if last:
                exchange = as_items(text, got, results, [*notes, LAST_ROUND])
            prompt = prompt.grown(*exchange)
            self._rounds, self._last = number, last
            self._exchanges += exchange

    def _take_text_for_words(self) -> None:
        """No longer hold text until the end of a block of thinking that may not be there."""
        wire = self.options.wire.changed("template_opens_think", "learn")
        self.options = replace(self.options, wire=wire)

    def _echoes(self, got: Round, prompt: Prompt) -> bool:
        """Whether the model is to read its thinking again, as far as that leaves room."""
        if self.options.wire.reasoning_echo == "drop":
            return False
        return prompt.pricing.of("".join(got.thinking)) <= prompt.room // 2

    async def _stream(self, prompt: Prompt, options: RequestOptions) -> Round:
        got = Round()
        self._spoke = False
        self.field_sent = prompt.report.mode in {"native", "verbatim"}
        self._reply.state, self._reply.unheard = "thinking", not self._heard
        self._reply.holds_back = partial(may_be_echo, surface=prompt.surface)
        self._changed()
        recorder = Recorder(prompt, options)
        metered = self.meter.request(self._provider.model, prompt)
        with (
            self._waiting_told() as heard,
            recorder.into(self.answers),
            metered as measure,
            self._noted(prompt, options, got),
        ):
            recorded = replace(options, record=recorder.take)
            async with self._provider.stream(prompt, recorded) as events:
                async for event in events:
                    heard()
                    measure(event)
                    if not self.read or self.read[-1] is not prompt:
                        self.read.append(prompt)
                    if isinstance(event, Dropped) and event.why == AFTER_CALLS:
                        break  # whatever follows a call was written without its result
                    self._take(event, got)
        if got.usage is not None and (count := counted(prompt, got.usage)) is not None:
            self.counts.append(count)
        return got

    @contextmanager
    def _noted(self, prompt: Prompt, options: RequestOptions, got: Round) -> Generator[None]:
        """Note the request on leaving, by any way."""
        try:
            yield
        finally:
            self.sent.append(sent(prompt, self._provider.body(prompt, options), got.usage))

    @contextmanager
    def _waiting_told(self) -> Generator[Callable[[], None]]:
        """Tell the member when the first token takes long; what is yielded ends that."""

        def late() -> None:
            self._reply.waits_for = READING
            self._changed()

        timer = asyncio.get_running_loop().call_later(self._slow_after, late)

        def heard() -> None:
            timer.cancel()
            self._heard = True
            if self._reply.unheard or self._reply.waits_for:
                self._reply.unheard, self._reply.waits_for = False, ""
                self._changed()

        try:
            yield heard
        finally:
            timer.cancel()
            self._reply.unheard, self._reply.waits_for = False, ""

    def _take(self, event: StreamEvent, got: Round) -> None:
        match event:
            case TextDelta(text=text, span=span):
                self._spoke = True
                self._reply.write(text, span)
                if not self._reply.is_held:
                    self._reply.state = "writing"
                self._changed()
            case Reclassified(text=text, span=span):
                self._reply.take_back(span)
                self.template_opens_think |= span[0] == 0 and not _is_thought_line(text)
                self._changed()
            case ReasoningDelta(text=text, span=span):  # never shown
                if span is None:
                    got.thinking.append(text)
                got.thought_in_text |= span is not None
                self._think(text)
            case ToolCall():
                got.calls.append(event)
                self.native_calls_seen |= event.origin == "native"
            case CallError():
                got.errors.append(event)
                log.info("a call failed: %s", event.code)
            case Usage():
                got.usage = event
            case Finished():
                got.finished = event
            case _:
                pass

    def _think(self, text: str) -> None:
        self._reply.has_thought = True
        if (room := MOST_THOUGHT - self._thought) > 0:
            self.thoughts.append(text[:room])
            self._thought += len(text)

    def _copied(self, prompt: Prompt) -> frozenset[CallKey]:
        """Calls that stand in tool results of this turn: running them would obey a page."""
        return frozenset[CallKey]().union(
            *(calls_in(text, prompt.surface) for text in self._brought)
        )

    @property
    def _has_answered(self) -> bool:
        """Whether an empty response ends the turn well: a tool has put its result before the
        members, or the answer came along with the calls before it."""
        return self._answered or self._work.posted

    @staticmethod
    def _reads(calls: Sequence[ToolCall], prompt: Prompt) -> bool:
        """Whether any of these calls fetched something that the answer has yet to tell."""
        tools = prompt.surface.callable
        return any(call.name not in tools or tools[call.name].read_only for call in calls)

    def _end(self, text: str, finished: Finished) -> None:
        if text.strip():
            end_answered(self._reply, finished)
        elif self._on_empty == "silent" or self._has_answered:
            self._reply.silent = True
        else:
            self._give_up(NO_ANSWER)

    def _give_up(self, notice: str) -> None:
        """End without an answer; words of earlier rounds stay."""
        self._reply.notices.append(notice)
        if not self._reply.text:
            self._reply.state = "failed"

    def _record(
        self,
        text: str,
        calls: Sequence[ToolCall] = (),
        results: Sequence[ToolResult] = (),
        *,
        thinking: Sequence[str] = (),
    ) -> None:
        """Keep a round for the history. Calls that could not be read are left out: what failed
        once should not be an example for later turns."""
        words = (TextPart(text=text.strip()),) if text.strip() else ()
        if words or calls:
            kept = self.options.wire.reasoning_echo == "all"
            thoughts = thought_parts(thinking) if kept else ()
            self.turns.append(Turn(role="assistant", parts=(*thoughts, *words, *calls)))
        if results:
            self.turns.append(Turn(role="tool", parts=tuple(results)))


def _is_thought_line(text: str) -> bool:
    """Whether this was taken for thinking because its line said so, not for its end."""
    return text.lstrip().lower().startswith("thought")
