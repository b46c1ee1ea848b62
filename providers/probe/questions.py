"""The requests of a probe.

Invariant: pure, and the same every time. Each differs from a plain chat in the one thing that it
tries, is short to answer and asks for temperature 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, TypeAlias

from prompt.assemble import assemble
from prompt.prompt import Prompt
from prompt.snapshot import Budget, Snapshot
from prompt.surface import ToolSurface
from prompt.values import Json, JsonObject, TextPart, ToolSpec, Turn
from prompt.verbatim import ToolConfig, Verdict

Name: TypeAlias = Literal[
    "tools_streamed",
    "tools_whole",
    "tool_result",
    "late_system",
    "leading_system",
    "neighbours",
    "plain",
    "pattern",
]

CALL_TOKENS = 256
"""Room for a short thought before a call; whoever calls at once needs thirty."""
TEXT_TOKENS = 64

RESULT_MARK = "31"
"""Stands in the tool's result and nowhere else: an answer with it has read the result."""

_COUNT = "Count from 1 to 30 in digits."
_CALL_ID = "probe0001"
_NOW = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)
"""The clock in a test prompt: it stands still, so that the same prompt goes out every time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A request by name. `dice` is what a right call in the answer would roll, if any is due."""

    name: Name
    body: JsonObject
    dice: str = ""


def dice_tool(pattern: str | None = None) -> ToolSpec:
    """The tool that test calls call; `pattern` constrains its one argument."""
    dice: dict[str, Json] = {"type": "string", "description": "notation, such as 2d6 or d20+3"}
    if pattern is not None:
        dice["pattern"] = pattern
    return ToolSpec(
        name="roll_dice",
        description="Roll dice and tell each result and the total.",
        parameters={"type": "object", "properties": {"dice": dice}, "required": ["dice"]},
    )


SURFACE = ToolSurface(direct=(dice_tool(),))
PATTERN_SURFACE = ToolSurface(direct=(dice_tool(r"^\d{1,2}d\d{1,3}([+-]\d{1,3})?$"),))


def tools_streamed(model: str, *, with_usage: bool) -> Question:
    """A call, streamed; `with_usage` asks for token counts."""
    return _call("tools_streamed", model, "2d6", SURFACE, _streaming(with_usage))


def tools_whole(model: str) -> Question:
    """The very same call in one piece."""
    return _call("tools_whole", model, "2d6", SURFACE, {"stream": False})


def pattern(model: str) -> Question:
    """A call of a tool whose schema holds a regular expression."""
    return _call("pattern", model, "4d10", PATTERN_SURFACE, {"stream": False})


def tool_result(model: str, *, with_tools: bool, as_object: bool = False) -> Question:
    """A call with its result, to be told in words."""
    arguments: Json = {"dice": "4d8"} if as_object else '{"dice":"4d8"}'
    call = {"name": "roll_dice", "arguments": arguments}
    messages: list[Json] = [
        {"role": "user", "content": "Roll 4d8 and tell me the total."},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": _CALL_ID, "type": "function", "function": call}],
        },
        {
            "role": "tool",
            "tool_call_id": _CALL_ID,
            "content": f"4d8: 8 + 7 + 8 + 8 = {RESULT_MARK}",
        },
    ]
    tools = {"tools": list(SURFACE.native)} if with_tools else {}
    return _question("tool_result", model, messages, TEXT_TOKENS, {**tools, "stream": False})


def late_system(model: str) -> Question:
    """A system message behind others."""
    messages = [
        {"role": "system", "content": "You are a helpful assistant."},
        {"role": "user", "content": "Hello!"},
        {"role": "assistant", "content": "Hello! How can I help you?"},
        {"role": "system", "content": "From now on answer with the single word BLUE."},
        {"role": "user", "content": "Which colour is the sky?"},
    ]
    return _question("late_system", model, messages, TEXT_TOKENS, {"stream": False})


def leading_system(model: str) -> Question:
    """A system message where every server expects one, if it expects any."""
    messages = [
        {"role": "system", "content": "You are a helpful assistant."},
        {"role": "user", "content": "Hello!"},
    ]
    return _question("leading_system", model, messages, TEXT_TOKENS, {"stream": False})


def neighbours(model: str, *, with_usage: bool) -> Question:
    """Two messages of a user in a row, whose answer is long enough to measure its speed."""
    messages = [{"role": "user", "content": "Hello!"}, {"role": "user", "content": _COUNT}]
    return _question("neighbours", model, messages, TEXT_TOKENS, _streaming(with_usage))


def plain(model: str, *, with_usage: bool) -> Question:
    """Nothing but one message, which every server takes."""
    messages = [{"role": "user", "content": _COUNT}]
    return _question("plain", model, messages, TEXT_TOKENS, _streaming(with_usage))


@dataclass(frozen=True, slots=True, kw_only=True)
class TestCall:
    """A message to which the right answer is to roll `dice`."""

    text: str
    dice: str


TEST_CALLS: Sequence[TestCall] = (
    TestCall(text="Roll 2d6 for me, please.", dice="2d6"),
    TestCall(text="I attack the dragon! Roll a d20.", dice="1d20"),
    TestCall(text="Please roll 3d8.", dice="3d8"),
    TestCall(text="Could you throw 4d6 for my new character?", dice="4d6"),
    TestCall(text="Roll 1d100 and tell me what came.", dice="1d100"),
    TestCall(text="We need 5d10 here, roll them.", dice="5d10"),
)


def verbatim_prompt(call: TestCall, *, with_field: bool) -> Prompt:
    """The prompt that a turn would send with the tools written into it."""
    snapshot = Snapshot(
        persona="You are a helpful assistant in a chat room.",
        server_rules="",
        config=ToolConfig(tool_mode="verbatim" if with_field else "verbatim_only"),
        verdict=Verdict(),
        surface=SURFACE,
        dialogue=(Turn(role="user", author="Ada", parts=(TextPart(text=call.text),), at=_NOW),),
        now=_NOW,
        participants=("Ada",),
    )
    return assemble(snapshot, Budget(reply_reserve=CALL_TOKENS))


def _call(name: Name, model: str, dice: str, surface: ToolSurface, extra: JsonObject) -> Question:
    text = f"Use the tool roll_dice to roll {dice} for me."
    body = _question(name, model, [{"role": "user", "content": text}], CALL_TOKENS, extra).body
    return Question(name=name, body={**body, "tools": list(surface.native)}, dice=dice)


def _streaming(with_usage: bool) -> JsonObject:
    return {"stream": True, **({"stream_options": {"include_usage": True}} if with_usage else {})}


def _question(
    name: Name, model: str, messages: Sequence[Json], tokens: int, extra: JsonObject
) -> Question:
    body = {"model": model, "messages": list(messages), "max_tokens": tokens, "temperature": 0}
    return Question(name=name, body={**body, **extra})
