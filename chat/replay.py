"""What later prompts make of a turn: its words as history, and whose words are not the model's.

Invariant: a history replays only what ends in words of the model, cut off ones marked as such.
"""

from collections.abc import Iterator, Sequence

from chat.reply import Reply
from chat.turn import TurnRun
from prompt.values import TextPart, ToolResult, Turn

CUT = "[…]"
"""Ends what was not said to its end, where history replays it."""


def replayable(run: TurnRun, reply: Reply) -> tuple[Turn, ...]:
    """The turn as history shows it; words of a round that broke off are marked as cut."""
    turns = list(run.turns)
    told = "\n\n".join(turn.text for turn in turns if turn.text)
    rest = reply.text.removeprefix(told).strip()
    if rest or (turns and turns[-1].role == "tool"):
        # Results without words behind them would meet the next message, which strict chat
        # templates do not admit.
        turns.append(Turn(role="assistant", parts=(TextPart(text=f"{rest} {CUT}".strip()),)))
    return tuple(turns)


def foreign(dialogue: Sequence[Turn]) -> Iterator[str]:
    """Text that others than the model wrote: members' messages and what tools returned."""
    for turn in dialogue:
        for part in turn.parts:
            if isinstance(part, ToolResult) or (turn.role == "user" and isinstance(part, TextPart)):
                yield part.text
