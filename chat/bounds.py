"""Keeps a round within what one answer may ask for, and within what its prompt has room for.

Invariant: pure, and nothing goes without a word. Each call that is left has room for itself and
for the least that is told of it, so that the next request keeps to the budget.
"""

from collections.abc import Sequence
from dataclasses import replace

from chat.rounds import Round, as_items
from prompt.events import CallError
from prompt.prompt import Prompt
from prompt.taught import result_text, written_call
from prompt.tokens import estimate, within
from prompt.values import ToolCall, ToolResult

MOST_CALLS = 16
"""Calls of one response that run. Models that get caught in a loop write hundreds."""

MOST_ERRORS = 4
"""Calls of one response that failed and of which the model is told."""

MOST_HELD = 8
"""Calls of one response that wait for a value."""

LEAST_RESULT = 100
"""Tokens that each result may have, so that a full prompt still tells how the calls went."""

SOLE_RESULT = 40
"""Tokens without which not even one call runs."""

LEFT_BY_RESULTS = 256
"""Tokens of the budget that large results leave free: for the next call, and what comes of it."""

ENDING = 64
"""Tokens for the lines that go with results, such as that no more calls run."""

LEAST_ROUND = SOLE_RESULT + 2 * ENDING
"""Tokens without which no further call can run."""

_CUT_LINE = 16
"""Tokens of the line that tells of a cut."""

_SHOWN = 100
"""Characters of a call that are shown where there was no room for all."""

NO_ROOM_FOR_CALL = "There is no room left for this call and its result, so it did not run."


def narrow(got: Round, text: str, prompt: Prompt) -> list[str]:
    """Take out of `got`, a round that said `text`, what goes beyond the bounds; what the model is
    told of it."""
    notes: list[str] = []
    calls, failed, wait = list(got.calls), len(got.errors), len(got.held)
    waiting = got.held[:MOST_HELD]
    got.calls.clear()
    got.held.clear()
    del got.errors[MOST_ERRORS:]
    if got.errors:
        share = max(_left(got, text, prompt) // (2 * len(got.errors)), LEAST_RESULT)
        got.errors[:] = [_clipped(error, share) for error in got.errors]
    while len(got.errors) > 1 and _left(got, text, prompt) < ENDING:
        got.errors.pop()
    if failed > len(got.errors):
        notes.append(f"{failed - len(got.errors)} more of your calls could not be understood.")
    for each in waiting:
        got.held.append(each)
        if _left(got, text, prompt) < ENDING:
            got.held.pop()
            if not got.held and not calls:
                got.errors.append(_without_room(each.name, each.written))
            break
    if got.held and len(got.held) < wait:
        notes.append(f"{wait - len(got.held)} more of your calls wait too.")
    if not calls:
        return notes
    room = _left(got, text, prompt) - ENDING
    for call in calls[:MOST_CALLS]:
        room -= _cost(call) + (LEAST_RESULT if got.calls else SOLE_RESULT)
        if room < 0:
            break
        got.calls.append(call)
    if not got.calls:
        first = calls[0]
        written = written_call(first.name, first.raw_arguments)
        got.errors.append(_without_room(first.name, written))
    elif len(calls) > len(got.calls):
        notes.append(
            f"You made {len(calls)} calls at once. Only the first {len(got.calls)} ran, as shown; "
            "the others did not."
        )
    return notes


def affordable(lines: Sequence[str], got: Round, text: str, prompt: Prompt) -> list[str]:
    """Those of `lines`, the first ones, that leave the results of `got` and a further call their
    room."""
    room = _left(got, text, prompt) - ENDING - LEAST_ROUND
    room -= sum(estimate(result_text(call.name, "")) + _CUT_LINE for call in got.calls)
    room -= len(got.calls) * LEAST_RESULT
    told: list[str] = []
    for line in lines:
        room -= estimate(line)
        if room < 0:
            break
        told.append(line)
    return told


def fitted(
    results: Sequence[ToolResult], got: Round, text: str, prompt: Prompt, lines: Sequence[str] = ()
) -> list[ToolResult]:
    """The results of `got`, cut so that the next request keeps to the budget with `lines` in it."""
    room = _left(got, text, prompt) - ENDING - sum(map(estimate, lines))
    around = sum(estimate(result_text(result.name, "")) + _CUT_LINE for result in results)
    return _shared(results, room - around, spare=LEFT_BY_RESULTS - ENDING)


def has_room(prompt: Prompt) -> bool:
    """Whether one more call could run and be told of."""
    return prompt.pricing.estimated(prompt.room) >= LEAST_ROUND


def _left(got: Round, text: str, prompt: Prompt) -> int:
    """Tokens, estimated, that a prompt has left beside what a round holds without its results."""
    return prompt.pricing.estimated(prompt.grown(*as_items(text, got, (), ())).room)


def _cost(call: ToolCall) -> int:
    """Tokens that a call costs, and what stands around its result."""
    written = written_call(call.name, call.raw_arguments)
    return estimate(written) + estimate(result_text(call.name, "")) + _CUT_LINE


def _clipped(error: CallError, tokens: int) -> CallError:
    message = within(error.message, tokens)
    return error if message == error.message else replace(error, message=f"{message}...")


def _without_room(name: str, written: str) -> CallError:
    raw = written if len(written) <= _SHOWN else f"{written[:_SHOWN]}..."
    return CallError(code="too_large", name=name, message=NO_ROOM_FOR_CALL, raw=raw)


def _shared(results: Sequence[ToolResult], room: int, *, spare: int) -> list[ToolResult]:
    """The results cut so that together they keep to `room` tokens, each to its fair share, and to
    less by `spare` as long as that leaves each the least."""
    cut_down: list[ToolResult] = []
    for left, result in zip(range(len(results), 0, -1), results, strict=True):
        share = max((room - spare) // left, min(LEAST_RESULT, room // left))
        text = within(result.text, share)
        room -= estimate(text)
        if cut := len(result.text) - len(text):
            text += f"\n[cut for lack of room: {cut} more characters]"
        cut_down.append(replace(result, text=text))
    return cut_down
