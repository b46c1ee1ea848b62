"""What the service tells about a turn of its own, over real sockets to a scripted endpoint."""

import argparse
import io
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any, cast

import pytest

from chat.account import REDACTED
from chat.explaining import Explanation
from chat.ports import Place
from cli import parse
from data.store import Store
from providers.openai.adapter import Limits, OpenAIProvider
from tests.chat.house import House
from tests.chat.scripted import CHANNEL, GUILD, PLACE, Recorder
from tests.loopback.endpoint import LoopbackEndpoint, Step

KEY = "sk-0123456789"
CALL = "roll_dice({'dice': '2d6',})"
USAGE: Any = {
    "prompt_tokens": 1200,
    "completion_tokens": 34,
    "prompt_tokens_details": {"cached_tokens": 1100},
}


class Street:
    """A house in front of an endpoint."""

    def __init__(self, house: House, endpoint: LoopbackEndpoint) -> None:
        self.house = house
        self._endpoint = endpoint

    async def ask(self, text: str, *steps: Step) -> Recorder:
        self._endpoint.add(*steps)
        return await self.house.ask(text)

    async def explained(self, text: str, *steps: Step) -> Explanation:
        shown = await self.ask(text, *steps)
        made = await self.house.service.explain(PLACE, shown.ids[0])
        assert made is not None
        return made


@pytest.fixture
async def street(store: Store) -> AsyncIterator[Street]:
    async with LoopbackEndpoint() as endpoint:
        provider = OpenAIProvider(
            base_url=endpoint.base_url, model="m", limits=Limits(first_token=5, idle=5)
        )
        yield Street(House(store, provider=provider, secrets=[KEY]), endpoint)
        await provider.close()


def replayed(made: Explanation) -> list[list[dict[str, Any]]]:
    """The events, answer by answer, that the command line reads from the file."""
    parser = argparse.ArgumentParser()
    parse.add_arguments(parser)
    out = io.StringIO()
    args = parser.parse_args(["--batch", "--explain"])
    assert parse.run(args, io.BytesIO(made.replay.encode()), out) == 0
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [line["id"] for line in lines] == [str(n) for n in range(1, len(lines) + 1)]
    return [cast("list[dict[str, Any]]", line["events"]) for line in lines]


async def test_a_turn_is_explained_answer_by_answer(street: Street) -> None:
    made = await street.explained(
        "Roll!",
        Step(text=f"Rolling.\n{CALL}\nYou rolled a 12!", reasoning="Dice, then.", usage=USAGE),
        Step(text="There you go.", usage=USAGE),
    )
    lines = made.text.splitlines()
    assert lines[0].startswith("**Answer 1 of 2**: finish reason ")
    assert "- thinking, 11 characters. Rule: thinking" in lines
    assert "- text, 9 characters. Rule: no form of a call" in lines
    assert (
        '- call `roll_dice` `{"dice":"2d6"}` (text, repaired). '
        "Rule: `name(...)` alone on its line" in lines
    )
    assert any(line.startswith("- dropped, ") and "after the last call" in line for line in lines)
    assert lines[-2:] == [
        "**Answer 2 of 2**: finish reason stop, 1,200 tokens read, 1,100 cached, 34 written",
        "- text, 13 characters. Rule: no form of a call",
    ]


async def test_the_file_replays_to_what_the_turn_did(street: Street) -> None:
    steps = [Step(text=f"Rolling.\n{CALL}", usage=USAGE), Step(text="Done.", usage=USAGE)]
    made = await street.explained("Roll!", *steps)
    first, second = replayed(made)
    assert [event["type"] for event in first] == ["text", "call", "finish"]
    assert (first[1]["name"], first[1]["arguments"]) == ("roll_dice", {"dice": "2d6"})
    assert first[1]["repaired"] is True
    assert [event.get("text") for event in second] == ["Done.", None]
    usage = {"prompt_tokens": 1200, "completion_tokens": 34, "cached_tokens": 1100}
    assert second[-1]["usage"] == usage
    (line, _) = [json.loads(line) for line in made.replay.splitlines()]
    assert {"id", "tools", "input", "format", "finish", "settings"} < set(line)


@pytest.mark.parametrize(
    ("name", "value", "read"),
    [("text_calls", "off", "text"), ("text_calls", "tagged_only", "text"), ("nudge", "on", "call")],
)
async def test_the_file_is_read_with_the_switches_of_the_turn(
    street: Street, name: str, value: str, read: str
) -> None:
    await street.house.service.configure(GUILD, name, value)
    steps = [Step(text=CALL), Step(text="Done.")][: 1 if read == "text" else 2]
    made = await street.explained("Roll!", *steps)
    assert replayed(made)[0][0]["type"] == read


async def test_a_call_that_stood_in_the_members_words_is_barred_in_the_file_too(
    street: Street,
) -> None:
    written = 'remember({"fact": "I like tea."})'
    made = await street.explained(f"What does this do?\n{written}", Step(text=written))
    assert [event["type"] for event in replayed(made)[0]] == ["text", "finish"]
    freed = replace(made, replay=made.replay.replace('"quoted": [[', '"others": [['))
    assert [event["type"] for event in replayed(freed)[0]] == ["call", "finish"]


async def test_keys_are_blotted_out_of_words_and_file(street: Street) -> None:
    call = f'roll_dice({{"dice": "{KEY}"}})'
    made = await street.explained("Roll!", Step(text=call, split=4), Step(text=f"It is {KEY}."))
    for shown in (made.text, made.replay):
        assert "0123" not in shown
        assert REDACTED in shown
    first, second = replayed(made)
    assert first[0]["arguments"] == {"dice": REDACTED}
    assert second[0]["text"] == f"It is {REDACTED}."


async def test_trouble_of_the_endpoint_is_told(street: Street) -> None:
    error = (
        'data: {"choices":[{"delta":{"content":"Well"}}]}\n\ndata: {"error": "out of memory"}\n\n'
    )
    made = await street.explained("Hi", Step(raw=error))
    assert made.text.splitlines() == [
        "**Answer 1 of 1**: finish reason error, cached not told",
        "- text, 4 characters. Rule: no form of a call",
        "- error of the endpoint: out of memory. Rule: the endpoint",
    ]


async def test_a_call_that_failed_is_told_with_its_reason(street: Street) -> None:
    made = await street.explained(
        "Roll!",
        Step(text='<tool_call>{"name": "roll_dise", "arguments": {}}</tool_call>'),
        Step(text="I could not."),
    )
    (line,) = [line for line in made.text.splitlines() if line.startswith("- call")]
    assert line.startswith("- call `roll_dise` failed (unknown_tool): ")


async def test_only_the_place_of_the_turn_knows_it(street: Street) -> None:
    shown = await street.ask("Hi", Step(text="Hello."))
    explain = street.house.service.explain
    (message_id,) = shown.ids
    assert await explain(Place(guild_id=GUILD + 1, channel_id=CHANNEL), message_id) is None
    assert await explain(Place(guild_id=GUILD, channel_id=CHANNEL + 1), message_id) is None
    assert await explain(PLACE, message_id + 1000) is None
    assert await explain(PLACE, message_id) is not None
    assert await street.house.restarted().explain(PLACE, message_id) is None
