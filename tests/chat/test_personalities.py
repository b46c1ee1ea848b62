"""A tool turn from default settings with every kind of server, nothing set by anybody."""

import re

import pytest

from data.store import Store
from providers.openai.adapter import Limits, OpenAIProvider
from tests.chat.house import House
from tests.chat.scripted import Recorder
from tests.loopback.cast import BY_NAME
from tests.loopback.personalities import PersonalEndpoint, Personality, serving

MARKUP = re.compile(r"roll_dice|tool_call|\"(name|arguments|parameters)\"|</?think|`{3}")
MOST_REPLANS = 4


def check(shown: Recorder, dice: str) -> None:
    assert [(run.call.name, run.call.arguments) for run in shown.reply.runs] == [
        ("roll_dice", {"dice": dice})
    ]
    result = shown.reply.runs[0].result
    assert result is not None
    assert result.outcome == "ok"
    assert shown.reply.text.startswith("The dice say ")
    assert result.text in shown.reply.text
    assert (shown.reply.state, shown.reply.notices) == ("done", [])
    assert not MARKUP.search(shown.ever_shown)


async def ask(house: House, endpoint: PersonalEndpoint, text: str) -> tuple[Recorder, int]:
    """A turn, and how many of its requests were refused."""
    before = len(endpoint.refused)
    return await house.ask(text), len(endpoint.refused) - before


@pytest.mark.parametrize("personality", BY_NAME.values(), ids=BY_NAME.keys())
async def test_tool_turns_work_from_default_settings(
    store: Store, personality: Personality
) -> None:
    async with serving(personality) as endpoint:
        limits = Limits(first_token=5, idle=5)
        provider = OpenAIProvider(base_url=endpoint.base_url, limits=limits)
        house = House(store, provider=provider)
        try:
            first, refused = await ask(house, endpoint, "Please roll 2d6")
            check(first, "2d6")
            assert refused <= MOST_REPLANS
            second, refused = await ask(house, endpoint, "And now roll 3d8")
            check(second, "3d8")
            assert refused <= MOST_REPLANS
            third, refused = await ask(house, endpoint, "Once more, roll 1d20")
            check(third, "1d20")
            assert refused == 0, endpoint.refused[-1]
            plain, refused = await ask(house, endpoint, "Thank you!")
            assert (plain.reply.text, plain.reply.runs, refused) == ("Hello there.", [], 0)
        finally:
            await provider.close()
