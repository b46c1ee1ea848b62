"""Reads one recorded answer.

Invariant: pure. An answer counts only by its body: a status of 200 over anything that is no chat
completion is no answer.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from prompt.events import CallError, Finished, ReasoningDelta, TextDelta, Usage
from prompt.surface import ToolSurface
from prompt.values import Json, ToolCall
from providers.base import Exchange
from providers.openai.fault import as_object, describe
from providers.openai.fold import ChunkFold
from providers.openai.response import ResponseReader, decode

_CLIP = 300
_NO_USAGE = Usage()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What an answer held. `said` are the server's words where it is none."""

    answered: bool
    said: str = ""
    text: str = ""
    thought: bool = False
    calls: Sequence[ToolCall] = ()
    errors: Sequence[CallError] = ()
    usage: Usage = _NO_USAGE
    cut: bool = False
    speed: float | None = None

    def rolls(self, dice: str) -> list[ToolCall]:
        """The calls that roll exactly `dice`."""
        return [call for call in self.calls if plain_dice(call.arguments.get("dice")) == dice]


def plain_dice(value: Json) -> str:
    """Dice notation in one spelling: `D20` and `1d20` are the same roll."""
    text = "".join(str(value).lower().split())
    return f"1{text}" if text.startswith("d") else text


def read(answer: Exchange, surface: ToolSurface) -> Reading:
    """What `answer`, to a request that offered `surface`, holds."""
    if answer.status != 200:
        return Reading(answered=False, said=_clipped(f"{answer.status}: {_error_words(answer)}"))
    reader = ResponseReader(ChunkFold(surface, id_seed="probe"))
    events = [*reader.feed(answer.text.encode()), *reader.close()]
    text = "".join(event.text for event in events if isinstance(event, TextDelta))
    thought = any(isinstance(event, ReasoningDelta) for event in events)
    calls = [event for event in events if isinstance(event, ToolCall)]
    errors = [event for event in events if isinstance(event, CallError)]
    ended = next((event.reason for event in events if isinstance(event, Finished)), None)
    usage = next((event for event in events if isinstance(event, Usage)), _NO_USAGE)
    if reader.fault is not None:
        return Reading(answered=False, said=_clipped(reader.fault.message))
    if not (text or thought or calls or errors or ended):
        return Reading(answered=False, said=_clipped(f"200, but no answer: {answer.text}"))
    return Reading(
        answered=True,
        text=text,
        thought=thought,
        calls=calls,
        errors=errors,
        usage=usage,
        cut=ended == "length",
        speed=_speed(answer, usage),
    )


_PREDICTED = re.compile(r'"predicted_per_second"\s*:\s*([0-9.]+)')
_LEAST_TOKENS = 8
_LEAST_SECONDS = 0.05


def _speed(answer: Exchange, usage: Usage) -> float | None:
    """Tokens a second: as llama.cpp's server tells, else measured while the answer streamed."""
    if told := _PREDICTED.search(answer.text):
        return float(told[1])
    tokens, took = usage.completion_tokens or 0, answer.seconds - answer.first
    if tokens < _LEAST_TOKENS or took < _LEAST_SECONDS:
        return None  # too few, or sent in one piece
    return (tokens - 1) / took


def _error_words(answer: Exchange) -> str:
    if answer.text.lstrip().startswith("<"):
        return "a web page"
    try:
        body = decode(answer.text)
    except ValueError:
        return answer.text
    fields = as_object(body) or {}
    return describe(fields.get("error") or body).message


def _clipped(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _CLIP else f"{text[:_CLIP]}…"
