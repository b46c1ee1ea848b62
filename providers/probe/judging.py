"""Judges the recorded answers of a probe.

Invariant: pure, and by behaviour: a request counts as refused only where a plainer one was
answered. What an answer does not show stays unknown.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from prompt.surface import ToolSurface
from prompt.tokens import estimate
from providers.base import Exchange
from providers.probe import told
from providers.probe.findings import (
    STRUCTURED,
    Findings,
    NativeTools,
    System,
    Taken,
    ToolRole,
    Vision,
)
from providers.probe.questions import (
    PATTERN_SURFACE,
    RESULT_MARK,
    SURFACE,
    Name,
    Question,
    TestCall,
)
from providers.probe.reading import Reading, read

_PLAIN: Sequence[Name] = ("neighbours", "plain", "late_system", "leading_system")
"""Requests without tools: an answer to any of them shows that chat as such works."""


@dataclass(slots=True, kw_only=True)
class Recording:
    """Everything that was asked and answered so far.

    `answers` are the last ones by request, `test_calls` those to prompts with the tools in them,
    `told` what was said beside the API, by path. `usage_refused` and `object_arguments` tell that
    an answer came only without `stream_options`, or only with old arguments as an object.
    """

    endpoint: str
    model: str
    questions: dict[Name, Question] = field(default_factory=dict[Name, Question])
    answers: dict[Name, Exchange] = field(default_factory=dict[Name, Exchange])
    test_calls: list[tuple[TestCall, Exchange]] = field(
        default_factory=list[tuple[TestCall, Exchange]]
    )
    told: Mapping[str, Exchange] = field(default_factory=dict[str, Exchange])
    usage_refused: bool = False
    object_arguments: bool = False
    trouble: str = ""
    remedy: str = ""
    requests: int = 0
    seconds: float = 0.0

    def reading(self, name: Name) -> Reading | None:
        """The answer to a request, None where it was not asked or nothing came."""
        answer = self.answers.get(name)
        return None if answer is None else read(answer, _surface(self.questions[name]))

    def works(self, *names: Name) -> bool:
        """Whether any of these requests was answered."""
        return any(reading.answered for name in names if (reading := self.reading(name)))

    @property
    def native_tools(self) -> NativeTools:
        """How the `tools` field is taken, as far as the answers show."""
        return _native(self)


def judge(recording: Recording) -> Findings:
    """What the answers show."""
    readings = {name: reading for name in recording.answers if (reading := recording.reading(name))}
    offered = [read(answer, SURFACE) for _, answer in recording.test_calls]
    answers = [reading for reading in (*readings.values(), *offered) if reading.answered]
    native = recording.native_tools
    worked, tried = _test_calls(recording, native, offered)
    says = told.understood(recording.told, recording.model)
    counted = [reading.usage for reading in answers if reading.usage.prompt_tokens is not None]
    failed = {name: reading.said for name, reading in readings.items() if not reading.answered}
    return Findings(
        endpoint=recording.endpoint,
        model=recording.model,
        answered=bool(answers),
        trouble=recording.trouble or ("" if answers else "It refused them all."),
        remedy=recording.remedy or ("" if answers else next(iter(failed.values()), "")),
        native_tools=native,
        system=_system(recording),
        neighbours=_taken(recording, "neighbours", beside=("plain",)),
        tool_role=_tool_role(recording),
        arguments_as_object=recording.object_arguments,
        patterns=_taken(recording, "pattern", beside=("tools_whole",)),
        usage_in_stream=_usage(recording),
        context_window=says.context_window,
        cached_tokens=any(usage.cached_tokens is not None for usage in counted)
        if counted
        else None,
        vision=_vision(says.sees, recording.model),
        tokens_per_second=_speed(recording, answers),
        calls_tried=tried,
        calls_worked=worked,
        requests=recording.requests,
        seconds=recording.seconds,
        refusals=failed,
    )


def _surface(question: Question) -> ToolSurface:
    if question.name == "pattern":
        return PATTERN_SURFACE
    return SURFACE if question.dice else ToolSurface()


def _native(recording: Recording) -> NativeTools:
    streamed, whole = (recording.reading(name) for name in ("tools_streamed", "tools_whole"))
    if streamed is None or whole is None:
        return "unknown"
    if not (streamed.answered or whole.answered):
        return "refused" if recording.works(*_PLAIN) else "unknown"
    dice = recording.questions["tools_whole"].dice
    if _right(streamed, dice, structured=True):
        return "yes"
    if _right(whole, dice, structured=True):
        return "only_unstreamed"
    if _structured(streamed) or _structured(whole):
        return "yes" if _structured(streamed) else "only_unstreamed"
    if any(_calls_as_text(reading) for reading in (streamed, whole)):
        return "only_as_text"
    if any(reading.thought and reading.cut for reading in (streamed, whole)):
        return "unknown"  # the room was used up by thinking
    return "ignored" if _left_out(recording) else "no_call"


def _right(reading: Reading, dice: str, *, structured: bool) -> bool:
    """Whether there is exactly the one call that was asked for."""
    calls = reading.rolls(dice)
    alone = len(calls) == len(reading.calls) == 1 and not reading.errors
    return alone and (not structured or calls[0].origin == "native")


def _structured(reading: Reading) -> bool:
    return any(event.origin == "native" for event in (*reading.calls, *reading.errors))


def _calls_as_text(reading: Reading) -> bool:
    return any(call.origin == "text" for call in reading.calls)


def _left_out(recording: Recording) -> bool:
    """Whether the token counts show that the tools did not reach the model."""
    tools = _prompt_tokens(recording, "tools_whole", "tools_streamed")
    plain = _prompt_tokens(recording, "neighbours", "plain")
    return bool(tools and plain) and tools - plain < estimate(SURFACE.block) / 2


def _prompt_tokens(recording: Recording, *names: Name) -> int:
    """As the first of these answers that counts them tells; 0 where none does."""
    readings = [reading for name in names if (reading := recording.reading(name))]
    counts = [count for reading in readings if (count := reading.usage.prompt_tokens)]
    return next(iter(counts), 0)


def _test_calls(
    recording: Recording, native: NativeTools, offered: Sequence[Reading]
) -> tuple[int, int]:
    """How many calls came back right, and how many were asked for in the way that turns will."""
    if native not in STRUCTURED:
        due = [call.dice for call, _ in recording.test_calls]
        right = [
            _right(reading, dice, structured=False)
            for reading, dice in zip(offered, due, strict=True)
        ]
        return sum(right), len(right)
    names: list[Name] = ["tools_whole", "pattern"]
    if native == "yes":
        names.insert(0, "tools_streamed")
    readings = [
        (reading, recording.questions[name].dice)
        for name in names
        if (reading := recording.reading(name)) and (reading.answered or name != "pattern")
    ]
    right = [_right(reading, dice, structured=False) for reading, dice in readings]
    return sum(right), len(right)


def _system(recording: Recording) -> System:
    if recording.works("late_system"):
        return "anywhere"
    if recording.works("leading_system"):
        return "first_only"
    asked = recording.reading("leading_system") is not None
    return "no_system_role" if asked and recording.works("neighbours", "plain") else "unknown"


def _tool_role(recording: Recording) -> ToolRole:
    reading = recording.reading("tool_result")
    if reading is None:
        return "unknown"
    if reading.answered:
        return "read" if RESULT_MARK in reading.text else "accepted"
    return "refused" if recording.works(*_PLAIN) else "unknown"


def _taken(recording: Recording, name: Name, *, beside: Sequence[Name]) -> Taken:
    if recording.works(name):
        return "accepted"
    refused = recording.reading(name) is not None and recording.works(*beside)
    return "refused" if refused else "unknown"


def _usage(recording: Recording) -> Taken:
    if recording.usage_refused:
        return "refused"
    streamed = [recording.reading(name) for name in ("tools_streamed", "neighbours", "plain")]
    told_counts = any(reading and reading.usage.completion_tokens for reading in streamed)
    return "accepted" if told_counts else "unknown"


def _vision(sees: bool | None, model: str) -> Vision:
    if sees is None:
        return "by_name" if told.sees_by_name(model) else "unknown"
    return "yes" if sees else "no"


def _speed(recording: Recording, answers: Sequence[Reading]) -> float | None:
    """Of the answer that is long enough to tell, else of whichever tells."""
    counted = [recording.reading(name) for name in ("neighbours", "plain")]
    speeds = [reading.speed for reading in (*counted, *answers) if reading and reading.speed]
    return next(iter(speeds), None)
