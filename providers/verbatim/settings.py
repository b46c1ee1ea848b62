"""What an admin, and the turn under way, decide about reading calls out of text."""

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from providers.base import CallKey

TextCalls: TypeAlias = Literal["on", "tagged_only", "off"]
CallInReasoning: TypeAlias = Literal["if_silent", "never"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ParserSettings:
    """How one response is read.

    `text_calls`: all forms, only those with explicit markers, or none. `call_in_reasoning`:
    whether the last call in thinking runs in a turn that says nothing else. `reasoning_open`:
    the chat template has opened a thinking block. `copied` and `quoted`: calls that stand in
    foreign text and in the asking member's own message; unless read-only they run neither as text
    nor natively. `explain`: send a Decided before each event that a rule decided.
    """

    text_calls: TextCalls = "on"
    call_in_reasoning: CallInReasoning = "if_silent"
    reasoning_open: bool = False
    max_argument_chars: int = 262_144
    copied: frozenset[CallKey] = field(default=frozenset())
    quoted: frozenset[CallKey] = field(default=frozenset())
    explain: bool = False
