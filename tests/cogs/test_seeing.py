"""Images from a member's message, through Discord's CDN, to what an endpoint receives."""

import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from chat.images import BLIND
from tests.chat.pictures import animated_gif, bomb, decoded, png
from tests.cogs.town import Town, town
from tests.loopback.discord_server import Channel, Message, Upload
from tests.loopback.endpoint import Step

FILES = (
    Upload(filename="wide.png", data=png(2000, 1000)),
    Upload(filename="dance.gif", data=animated_gif("red", "blue"), content_type="image/gif"),
    Upload(filename="bomb.png", data=bomb()),
    Upload(filename="odd.png", data=b"no image", content_type="image/png"),
)
NAMED = (
    "[image: wide.png, 2000 by 1000]\n[image: dance.gif]\n[image: bomb.png, 60000 by 60000]\n"
    "[image: odd.png]\n[from Alice]"
)


def look(here: Town, channel: Channel, text: str, **more: Any) -> Message:
    """A member's message; the model will have an answer."""
    here.operators.add(Step(text="I see."))
    return here.server.driver.say(channel, here.alice, f"{here.server.bot.mention} {text}", **more)


def last(here: Town) -> Any:
    """Content of the last message that the endpoint was sent."""
    return here.operators.received[-1].messages[-1]["content"]


def size(part: Mapping[str, Any]) -> tuple[int, int]:
    data = part["image_url"]["url"].removeprefix("data:image/jpeg;base64,")
    return decoded(base64.b64decode(data)).size


async def test_a_model_that_sees(tmp_path: Path) -> None:
    """Also where the links have expired by the time that the model is asked."""
    async with town(tmp_path) as here:
        await here.store.settings.put(here.home.id, "big", "vision", "on")
        here.server.limits.link_lifetime = -10.0
        asked = look(here, here.home_channel, "what is it?", files=FILES)
        here.server.limits.link_lifetime = 3600.0
        await here.answer(asked, contains="I see.")
        assert len(here.server.journal.of("cdn")) == len(FILES) * 2
        words, wide, dance, rest = last(here)
        assert words["text"].startswith(f"what is it?\n{NAMED}")
        assert words["text"].endswith(
            "[images, in this order: wide.png; dance.gif; "
            "bomb.png has too many pixels to be shown; odd.png is damaged or no image]"
        )
        assert (size(wide), size(dance)) == ((896, 448), (40, 30))
        assert rest["type"] == "text"


async def test_a_model_that_does_not(tmp_path: Path) -> None:
    async with town(tmp_path) as here:
        asked = look(here, here.home_channel, "what is it?", files=FILES)
        await here.answer(asked, contains="I see.")
        assert last(here).startswith(f"what is it?\n{NAMED}\n\n[{BLIND}]")
        assert here.server.journal.of("cdn") == []
