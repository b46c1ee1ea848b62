"""Turns as prompt items, and the trimming of old ones.

Invariant: dialogue is kept or dropped in whole exchanges, so that no result stands without its
call and no answer without its question.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from prompt.defused import defused
from prompt.pricing import ESTIMATES
from prompt.taught import result_text, signed, written_call
from prompt.values import (
    Part,
    PromptItem,
    ReasoningPart,
    TextPart,
    ToolCall,
    ToolResult,
    Turn,
    Zone,
)


def turn_item(turn: Turn, *, tag: str = "dialogue") -> PromptItem:
    """One turn as an item; its text is the taught form, its parts serve native endpoints.

    What the model did not write itself holds no tokens of chat templates any more.
    """
    if turn.role != "assistant":
        turn = replace(turn, author=turn.author and defused(turn.author), parts=_tame(turn.parts))
    return PromptItem(
        tag=tag, role=turn.role, text=turn_text(turn), zone=Zone.HISTORY, parts=turn.parts
    )


def _tame(parts: Sequence[Part]) -> tuple[Part, ...]:
    return tuple(
        replace(part, text=defused(part.text)) if isinstance(part, TextPart | ToolResult) else part
        for part in parts
    )


def turn_text(turn: Turn) -> str:
    """The turn in words: calls as taught, results as messages, members by name."""
    pieces: list[str] = []
    for part in turn.parts:
        match part:
            case TextPart(text=text):
                pieces.append(text.strip())
            case ToolCall(name=name, raw_arguments=raw):
                pieces.append(written_call(name, raw))
            case ToolResult(name=name, text=text):
                pieces.append(result_text(name, text))
            case ReasoningPart():
                pass  # goes back in a field of its own, where the endpoint wants it
            case _:
                pieces.append(f"[image: {part.description or 'no description'}]")
    text = "\n".join(piece for piece in pieces if piece)
    return signed(text, turn.author) if turn.author else text


def exchanges(dialogue: Sequence[Turn]) -> list[tuple[Turn, ...]]:
    """The dialogue cut before each member's message."""
    found: list[list[Turn]] = []
    for turn in dialogue:
        if turn.role == "user" or not found:
            found.append([])
        found[-1].append(turn)
    return [tuple(exchange) for exchange in found]


def tokens_of(exchange: Sequence[Turn]) -> int:
    """Estimated tokens of one exchange as it is sent."""
    return sum(ESTIMATES.item(turn_item(turn)) for turn in exchange)


def trimmed(
    dialogue: Sequence[Turn],
    *,
    ceiling: int,
    block: int,
    price: Callable[[Sequence[Turn]], int] = tokens_of,
) -> tuple[tuple[Turn, ...], int]:
    """The newest part of `dialogue` within `ceiling` tokens, and how many exchanges went.

    `price` tells what an exchange costs. Whole blocks of exchanges go from the front. The last
    exchange, which holds the message to be answered, always stays.
    """
    groups = exchanges(dialogue)
    costs = [price(group) for group in groups]
    total, dropped = sum(costs), 0
    while total > ceiling and dropped < len(groups) - 1:
        step = min(block, len(groups) - 1 - dropped)
        total -= sum(costs[dropped : dropped + step])
        dropped += step
    return tuple(turn for group in groups[dropped:] for turn in group), dropped
