"""Holds back calls that still lack a value, and keeps in mind that they are to come.

Invariant: a held call has not run, and the model is told in words what it waits for. The same call
is held at most once a turn, so a model that insists is not stopped; each is brought up again at
most so often, and no more once its tool was called.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from chat.known_values import Known
from chat.rounds import Held, Round
from prompt.events import CallError
from prompt.open_values import ASK, open_parameters, sources, waits_for
from prompt.prompt import Prompt
from prompt.taught import result_text, written_call
from prompt.values import TextPart, ToolCall, ToolSpec

_MOST_REMINDERS = 2
_MOST_ASKED = 200
"""Characters of a request that are told again."""


@dataclass(slots=True)
class _Waiting:
    """A call that is to come. `left` tells how often it may still be brought up."""

    parameters: tuple[str, ...]
    left: int = _MOST_REMINDERS


class OpenCalls:
    """The held calls of one turn."""

    def __init__(self) -> None:
        self._told: set[tuple[str, str]] = set()
        self._waiting: dict[str, _Waiting] = {}

    def hold(self, got: Round, prompt: Prompt) -> None:
        """Take out of `got` what lacks a value, and tell there what it waits for."""
        tools = prompt.surface.callable
        lacking: list[tuple[ToolSpec, tuple[str, ...], str, CallError | ToolCall]] = [
            (tools[error.name], error.waits, "", error)
            for error in got.errors
            if error.waits and error.name in tools and self._is_new(error)
        ]
        known = Known(prompt) if got.calls else None
        for call in got.calls:
            spec = tools.get(call.name)
            if spec is None or known is None or not self._is_new(call):
                continue
            parameters, why = open_parameters(call.arguments), ""
            if not parameters:
                parameters, why = known.invented(spec, call)
            if not parameters and call.origin == "text":
                # Only where they can be searched for: an answer in words would not help.
                addresses, unknown = known.made_up_address(spec, call)
                if addresses and sources(spec, addresses, prompt.surface.direct):
                    parameters, why = addresses, unknown
            if parameters:
                lacking.append((spec, parameters, why, call))
        out = {id(each) for *_, each in lacking}
        got.errors = [error for error in got.errors if id(error) not in out]
        got.calls = [call for call in got.calls if id(call) not in out]
        for spec, parameters, why, each in lacking:
            self._waiting[spec.name] = _Waiting(parameters)
            first = [] if got.calls else sources(spec, parameters, prompt.surface.direct)
            then = "" if got.calls or first else ASK
            told = waits_for(parameters, first, why=why, then=then)
            if isinstance(each, ToolCall):
                got.held.append(Held(name=spec.name, told=told, key=_key(each), call=each))
            else:
                raw = written_call(each.name, each.raw) if each.origin == "native" else each.raw
                held = Held(name=spec.name, told=told, key=_key(each), raw=raw.strip())
                got.held.append(held)

    def told(self, held: Iterable[Held]) -> None:
        """These are told of, and not held again."""
        self._told.update(each.key for each in held)

    def reminders(self, got: Round, prompt: Prompt) -> list[str]:
        """What is still to come, after a round in which other calls ran."""
        for call in got.calls:
            self._waiting.pop(call.name, None)
        fresh = {each.name for each in got.held}
        return [*self._reminders(fresh, _asked(prompt))] if got.calls else []

    def _reminders(self, fresh: Iterable[str], asked: str) -> Iterator[str]:
        for name, waiting in self._waiting.items():
            if name not in fresh and waiting.left:
                waiting.left -= 1
                # Small models lose the request out of sight behind results.
                told = waits_for(waiting.parameters, then=f"Asked: {asked}")
                yield result_text(name, told)

    def _is_new(self, each: CallError | ToolCall) -> bool:
        return _key(each) not in self._told


def _key(each: CallError | ToolCall) -> tuple[str, str]:
    written = each.raw if isinstance(each, CallError) else each.raw_arguments
    return each.name, " ".join(written.split())


def _asked(prompt: Prompt) -> str:
    """The beginning of the message that is answered."""
    messages = [item for item in prompt.items if item.tag == "dialogue" and item.role == "user"]
    parts = messages[-1].parts if messages else ()
    words = " ".join("".join(part.text for part in parts if isinstance(part, TextPart)).split())
    return words if len(words) <= _MOST_ASKED else f"{words[:_MOST_ASKED]}..."
