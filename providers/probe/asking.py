"""Sends a probe's requests one after the other and has the answers judged.

Invariant: bounded in time, nothing is sent twice but for a request that was refused and goes
again with the one change that its refusal asks for, and a server that does not answer at all is
left alone. Requests that a server might not survive come last.
"""

import asyncio
import re
from typing import Protocol

from prompt.prompt import Prompt
from prompt.values import JsonObject
from providers.base import EndpointError, Exchange, RequestOptions
from providers.probe import questions, told
from providers.probe.findings import STRUCTURED, Findings, settings_that_follow
from providers.probe.judging import Recording, judge
from providers.probe.questions import (
    CALL_TOKENS,
    SURFACE,
    TEST_CALLS,
    Question,
    verbatim_prompt,
)
from providers.probe.reading import read
from providers.wire import WIRE_NAMES, Wire

SECONDS = 180.0
"""For a whole probe. A small model on a processor needs about a minute."""

_REQUEST_SECONDS = 60.0
_TOLD_SECONDS = 5.0
_HOPELESS = frozenset({401, 403, 404})
"""About the key, the address or the model, as a rule: then every request hears the same."""

_USAGE = re.compile(r"stream_options|include_usage", re.IGNORECASE)
_MAPPING = re.compile(r"\bitems\b|from a mapping|must be (a|an) (dict|mapping|object)")
"""How chat templates fail on old arguments that are a string."""


class Line(Protocol):
    """The part of an adapter that a probe needs."""

    @property
    def endpoint(self) -> str: ...  # noqa: D102

    async def resolve_model(self) -> str: ...  # noqa: D102

    def body(self, prompt: Prompt, options: RequestOptions) -> JsonObject: ...  # noqa: D102

    async def exchange(
        self, path: str, body: JsonObject | None = None, *, seconds: float, aside: bool = False
    ) -> Exchange:
        """POST `body` to `path`, or GET it. Raises EndpointError where no answer came."""
        ...


async def probe(line: Line, *, seconds: float = SECONDS) -> Findings:
    """Ask, and judge. Raises EndpointError only where no model is named and none is listed."""
    model = await line.resolve_model()
    asking = _Asking(line, Recording(endpoint=line.endpoint, model=model), seconds)
    try:
        await asking.all()
    except _Over as over:
        asking.recording.trouble, asking.recording.remedy = over.words, over.remedy
    asking.recording.seconds = asking.elapsed
    return judge(asking.recording)


class _Over(Exception):
    """No sense in asking on; says why, and what to do to those who may know the address."""

    def __init__(self, words: str, remedy: str = "") -> None:
        super().__init__(words)
        self.words = words
        self.remedy = remedy


class _Asking:
    def __init__(self, line: Line, recording: Recording, seconds: float) -> None:
        self.recording = recording
        self._line = line
        self._model = recording.model
        self._clock = asyncio.get_running_loop().time
        self._start = self._clock()
        self._until = self._start + seconds

    @property
    def elapsed(self) -> float:
        """Seconds since the first request."""
        return self._clock() - self._start

    async def all(self) -> None:
        """Every request that has a point. Raises _Over."""
        await self._tools()
        await self._roles()
        await self._result()
        if self.recording.native_tools not in STRUCTURED:
            await self._test_calls()
        await self._tell()
        if self.recording.works("tools_whole"):
            await self._ask(questions.pattern(self._model))

    async def _tools(self) -> None:
        streamed = questions.tools_streamed(self._model, with_usage=True)
        answer = await self._ask(streamed)
        if answer.status in _HOPELESS and not await self._chats():
            raise _Over("It refuses requests as such.", read(answer, SURFACE).said)
        if answer.status >= 400 and _USAGE.search(answer.text):
            self.recording.usage_refused = True
            await self._ask(questions.tools_streamed(self._model, with_usage=False))
        await self._ask(questions.tools_whole(self._model))

    async def _chats(self) -> bool:
        """Whether a message without tools is answered."""
        await self._ask(questions.plain(self._model, with_usage=False))
        return self.recording.works("plain")

    async def _roles(self) -> None:
        with_usage = not self.recording.usage_refused
        await self._ask(questions.neighbours(self._model, with_usage=with_usage))
        if not self.recording.works("neighbours"):
            await self._ask(questions.plain(self._model, with_usage=with_usage))
        await self._ask(questions.late_system(self._model))
        if not self.recording.works("late_system"):
            await self._ask(questions.leading_system(self._model))

    async def _result(self) -> None:
        with_tools = self.recording.native_tools != "refused"
        question = questions.tool_result(self._model, with_tools=with_tools)
        answer = await self._ask(question)
        if answer.status == 200 or not _MAPPING.search(answer.text):
            return
        await self._ask(questions.tool_result(self._model, with_tools=with_tools, as_object=True))
        self.recording.object_arguments = self.recording.works("tool_result")
        if not self.recording.object_arguments:
            self.recording.answers["tool_result"] = answer

    async def _test_calls(self) -> None:
        """Calls in the way that turns will ask for them: with the tools in the prompt."""
        with_field = self.recording.native_tools != "refused"
        options = RequestOptions(
            turn_id="probe", max_tokens=CALL_TOKENS, temperature=0.0, wire=self._wire()
        )
        for call in TEST_CALLS:
            body = self._line.body(verbatim_prompt(call, with_field=with_field), options)
            self.recording.test_calls.append((call, await self._send(body)))

    def _wire(self) -> Wire:
        """How requests are to be written after what was found so far."""
        wire = Wire()
        for name, value in settings_that_follow(judge(self.recording)).items():
            wire = wire.changed(name, value) if name in WIRE_NAMES else wire
        return wire

    async def _tell(self) -> None:
        """What the server says of itself, from all addresses at once."""

        async def ask(path: told.Path) -> tuple[str, Exchange | None]:
            try:
                return path.path, await self._line.exchange(
                    path.path, path.body, seconds=_TOLD_SECONDS, aside=path.aside
                )
            except EndpointError:
                return path.path, None

        answers = await asyncio.gather(*(ask(path) for path in told.paths(self._model)))
        self.recording.told = {path: answer for path, answer in answers if answer is not None}

    async def _ask(self, question: Question) -> Exchange:
        answer = await self._send(question.body)
        self.recording.questions[question.name] = question
        self.recording.answers[question.name] = answer
        return answer

    async def _send(self, body: JsonObject) -> Exchange:
        """The answer. Raises _Over where none came or time is up."""
        left = self._until - self._clock()
        if left <= 0:
            raise _Over(f"The test was ended after {self.elapsed:.0f} s; the rest is unknown.")
        try:
            answer = await self._line.exchange(
                "/chat/completions", body, seconds=min(left, _REQUEST_SECONDS)
            )
        except EndpointError as error:
            raise _Over(error.member, f"{error.remedy} {error.detail}".strip()) from error
        self.recording.requests += 1
        return answer
