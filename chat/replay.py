"""What later prompts make of a turn: its words as history, and whose words are not the model's.

Invariant: a history replays only what ends in words of the model, cut off ones marked as such.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from chat.reply import Reply
from chat.turn import TurnRun
from prompt.values import TextPart, ToolResult, Turn

CUT = "[…]"
"""Ends what was not said to its end, where history replays it."""


def replayable(run: TurnRun, reply: Reply) -> tuple[Turn, ...]:
    """The turn as history shows it; words that broke off are marked as cut."""
    turns = list(run.turns)
    told = "\n\n".join(turn.text for turn in turns if turn.text)
    rest = reply.text.removeprefix(told).strip()
    if rest or (turns and turns[-1].role == "tool"):
        # Results without words behind them would meet the next message, which strict chat
        # templates do not admit.
        turns.append(Turn(role="assistant", parts=(TextPart(text=f"{rest} {CUT}".strip()),)))
    elif reply.is_cut and turns:
        turns[-1] = _marked(turns[-1])
    return tuple(turns)


def _marked(turn: Turn) -> Turn:
    """The turn with its last words as not said to their end."""
    *parts, last = turn.parts
    if not isinstance(last, TextPart):
        return turn
    return replace(turn, parts=(*parts, TextPart(text=f"{last.text} {CUT}")))


def foreign(dialogue: Sequence[Turn]) -> Iterator[str]:
    """Text that others than the model wrote: members' messages and what tools returned."""
    for turn in dialogue:
        for part in turn.parts:
            if isinstance(part, ToolResult) or (turn.role == "user" and isinstance(part, TextPart)):
                yield part.text
