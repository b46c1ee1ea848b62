"""Values that the tests of the prompt are built from."""

from collections.abc import Sequence
from datetime import UTC, datetime

from prompt.snapshot import Snapshot
from prompt.surface import ToolSurface
from prompt.values import Part, Role, TextPart, ToolCall, ToolResult, ToolSpec, Turn
from prompt.verbatim import ToolConfig, Verdict

ROLL = ToolSpec(
    name="roll_dice",
    description="Würfelt — “fairly”.",
    parameters={
        "type": "object",
        "properties": {"sides": {"type": "integer", "minimum": 2}, "count": {"type": "integer"}},
        "required": ["sides"],
        "additionalProperties": False,
    },
    read_only=True,
)
NOTE = ToolSpec(
    name="note",
    description='Keep a "note"\\.',
    parameters={"type": "object", "properties": {"text": {"type": "string"}}},
)
SURFACE = ToolSurface(direct=(ROLL, NOTE))
NOON = datetime(2026, 5, 4, 12, 30, tzinfo=UTC)


def said(role: Role, *parts: str | Part, author: str | None = None) -> Turn:
    return Turn(
        role=role,
        author=author,
        parts=tuple(TextPart(text=part) if isinstance(part, str) else part for part in parts),
    )


def asked(text: str, author: str | None = "Ada") -> Turn:
    return said("user", text, author=author)


def called(name: str = "roll_dice", raw: str = '{"sides":6}', id_: str = "abcdefghi") -> ToolCall:
    return ToolCall(
        id=id_, name=name, arguments={"sides": 6}, raw_arguments=raw, origin="text", span=(0, 1)
    )


def got(text: str = "4", name: str = "roll_dice", id_: str = "abcdefghi") -> ToolResult:
    return ToolResult(call_id=id_, name=name, text=text, outcome="ok")


def snapshot(
    *,
    dialogue: Sequence[Turn] = (asked("Roll a die."),),
    surface: ToolSurface = SURFACE,
    config: ToolConfig | None = None,
    verdict: Verdict | None = None,
    persona: str = "You are Fern.",
    server_rules: str = "Be kind.",
    now: datetime = NOON,
    participants: Sequence[str] = ("Ada",),
) -> Snapshot:
    return Snapshot(
        persona=persona,
        server_rules=server_rules,
        config=config or ToolConfig(),
        verdict=verdict or Verdict(),
        surface=surface,
        dialogue=tuple(dialogue),
        now=now,
        participants=tuple(participants),
    )
