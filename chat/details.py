"""Tells what the tools of a recorded turn did, for members who press Details.

Invariant: no secret of this process or of the guild is in it, and no result that not everyone who
sees the reply may read.
"""

from collections.abc import Sequence
from dataclasses import replace

from chat.account import redacted
from chat.recording import RecordedRun, RecordedTurn
from chat.reply import Reply

PRIVATE = "(not shown: it came from a channel that not everyone here can read)"


def recorded_runs(reply: Reply) -> list[RecordedRun]:
    """The tool calls of a reply as they are kept. One that was cut off has no result to keep."""
    screen = reply.style.screen
    return [
        RecordedRun(
            name=run.asked.name,
            arguments=screen.masked(run.asked.raw_arguments),
            outcome=run.result.outcome,
            text=PRIVATE if run.is_private else screen.masked(run.result.text),
            seconds=run.seconds,
        )
        for run in reply.runs
        if run.result is not None
    ]


def thought(turn: RecordedTurn, *, secrets: Sequence[str] = ()) -> str | None:
    """What the model thought in a turn, without secrets; None where that is not to be shown."""
    return redacted(turn.thinking, (*secrets, *turn.secrets)) or None


def details(turn: RecordedTurn, *, secrets: Sequence[str] = ()) -> list[RecordedRun]:
    """The tool calls of a turn without secrets. `secrets` are those of this process."""
    hidden = (*secrets, *turn.secrets)
    return [
        replace(run, arguments=redacted(run.arguments, hidden), text=redacted(run.text, hidden))
        for run in turn.runs
    ]
