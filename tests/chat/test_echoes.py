"""Responses that only repeat the definitions of their tools."""

import json
from itertools import pairwise

import pytest

from chat.echoes import is_echo, may_be_echo
from chat.turn import ANSWER_NUDGE, NO_ANSWER
from prompt.surface import ToolSurface
from prompt.values import JsonObject, ToolSpec
from tests.chat.house import House
from tests.chat.scripted import Step, call, end, say

ROLL = ToolSpec(
    name="roll_dice",
    description="Rolls dice: `2d6`, [d20].",
    parameters={
        "type": "object",
        "properties": {"dice": {"type": "string"}},
        "additionalProperties": False,
    },
)
TIME = ToolSpec(name="current_time", description="Tells the time.", parameters={"type": "object"})
SURFACE = ToolSurface(direct=(ROLL, TIME))

ARRAY = SURFACE.block
FIRST, SECOND = (json.dumps(each) for each in SURFACE.native)
SPACED = json.dumps(SURFACE.native, indent=2)
FOREIGN: JsonObject = {"type": "function", "function": {"name": "paint", "parameters": {}}}

ECHOES = {
    "array": ARRAY,
    "array over lines": f"\n{SPACED}\n",
    "object": FIRST,
    "objects after each other": f"{FIRST}\n{SECOND}",
    "objects with commas": f"{FIRST},\n{SECOND},",
    "fence with a language": f"```json\n{SPACED}\n```",
    "fence without": f"```\n{ARRAY}\n```\n",
    "fence on one line": f"```json {FIRST}```",
    "cut off in a string": f"```json\n{SPACED[:95]}",
    "cut off in a literal": ARRAY[: ARRAY.index("false") + 2],
    "cut off between definitions": f"[{FIRST}, ",
    "fence that was closed too early": f"```json\n[{FIRST},\n```",
}

ANSWERS = {
    "prose before": f"Here are my tools:\n{ARRAY}",
    "prose behind": f"{ARRAY}\nShall I roll?",
    "prose behind a fence": f"```json\n{ARRAY}\n```\nShall I roll?",
    "a tool that is not there": json.dumps([FOREIGN]),
    "one among them that is not there": json.dumps([*SURFACE.native, FOREIGN]),
    "a schema alone": json.dumps(ROLL.parameters),
    "a name alone": '{"name": "roll_dice"}',
    "other data": '{"type": "function", "value": 2}',
    "numbers": "[3, 4]",
    "an empty array": "[]",
    "a footnote": "[1] says that",
    "broken in the middle": f"{FIRST[:-2]} and so on",
    "code": "```python\nprint(1)\n```",
    "quoted code": "`roll_dice` rolls dice.",
    "cut off before the name": '[{"type": "function", "function": {"na',
}


@pytest.mark.parametrize("text", ECHOES.values(), ids=ECHOES.keys())
def test_an_echo_is_held_from_its_first_character_to_its_last(text: str) -> None:
    assert is_echo(text, SURFACE)
    shown = [at for at in range(1, len(text) + 1) if not may_be_echo(text[:at], SURFACE)]
    assert [at for at in shown if text[:at].strip()] == []


@pytest.mark.parametrize("text", ANSWERS.values(), ids=ANSWERS.keys())
def test_anything_else_is_an_answer(text: str) -> None:
    assert not is_echo(text, SURFACE)


def test_without_tools_nothing_is_an_echo() -> None:
    assert not is_echo(ARRAY, ToolSurface())
    assert not may_be_echo(ARRAY, ToolSurface())


@pytest.mark.parametrize("text", ["Hello", "{7}", "```python\nx", '{"temperature": 20', "[1, 2"])
def test_what_cannot_become_one_is_shown_at_once(text: str) -> None:
    assert not may_be_echo(text, SURFACE)


# In a turn.


def streamed(text: str, *, every: int = 7) -> Step:
    ends = [*range(0, len(text), every), len(text)]
    return [say(text[start:stop], start) for start, stop in pairwise(ends)]


def definitions(house: House) -> str:
    """The definitions that the latest request offered."""
    return f"```json\n{house.prompts[-1].surface.block}\n```"


async def offered(house: House) -> str:
    await house.ask("Hello!", [say("Hello.")])
    return definitions(house)


async def test_an_echo_is_never_shown_and_asked_about_once(house: House) -> None:
    echo = await offered(house)
    shown = await house.ask("Roll 2d6", streamed(echo, every=40), [say("I rolled 7.")])
    assert (shown.reply.text, shown.reply.notices) == ("I rolled 7.", [])
    assert '"function"' not in shown.ever_shown
    assert house.requests[-1].last.endswith(ANSWER_NUDGE)
    assert '"type": "function"' not in str(await house.stored(shown))
    assert shown.states == ["thinking", "writing", "done"]


async def test_a_second_echo_ends_in_an_honest_line(house: House) -> None:
    echo = await offered(house)
    cut = [*streamed(echo[:200], every=40), end("length")]
    shown = await house.ask("Roll 2d6", [say(echo)], cut)
    assert (shown.reply.text, shown.reply.notices) == ("", [NO_ANSWER])
    assert '"function"' not in shown.ever_shown


async def test_an_echo_beside_a_call_is_left_out(house: House) -> None:
    echo = await offered(house)
    shown = await house.ask(
        "Roll 2d6", [say(echo), call("roll_dice", dice="2d6")], [say("I rolled 7.")]
    )
    assert shown.reply.text == "I rolled 7."
    assert '"function"' not in shown.ever_shown


async def test_a_mention_of_a_definition_is_an_answer(house: House) -> None:
    answer = f"This is what I have:\n{await offered(house)}"
    shown = await house.ask("What do you have?", streamed(answer, every=40))
    assert shown.reply.text == answer


async def test_what_was_held_and_is_no_echo_is_shown_in_the_end(house: House) -> None:
    shown = await house.ask("A bracket, please", streamed('[{"type": "function"'))
    assert shown.reply.text == '[{"type": "function"'
