"""Which images a model gets to see, and what it is told of the others."""

import asyncio
import base64
import json
import re
from collections.abc import Mapping
from typing import Any

import pytest

from chat.images import BLIND, MOST_IMAGES, ImageReader
from chat.ports import ChannelMessage, Quote
from chat.sizing import LONGEST_SIDE
from data.store import Store
from prompt.values import Attachment
from prompt.verbatim import Verdict
from providers.base import Refused, Replan
from providers.wire import Change
from tests.chat.house import House
from tests.chat.pictures import animated_gif, bomb, decoded, png
from tests.chat.scripted import ADA, BOB, GUILD, PLACE, Channel, Request, call, say
from tests.chat.scripted import Recorder as Shown

HELLO = [say("Hello.")]


@pytest.fixture
async def seeing(house: House) -> House:
    """A house whose model is known to see."""
    await house.store.verdicts.put(
        house.provider.endpoint, house.provider.model, Verdict(learnt={"vision": "on"})
    )
    return house


async def ask(house: House, text: str, files: Mapping[str, bytes], *steps: Any) -> Shown:
    house.model.add(*(steps or (HELLO,)))
    presenter = house.presenter()
    message = house.channel.add(ADA, text, files=files)
    await house.service.respond(house.about(message), house.channel, presenter)
    return presenter


def last(request: Request) -> Any:
    return request.body["messages"][-1]["content"]


def names(request: Request) -> list[str]:
    return [image.description for item in request.prompt.items for image in images_in(item.parts)]


def images_in(parts: Any) -> list[Any]:
    return [part for part in parts if hasattr(part, "url")]


def told(request: Request) -> str:
    """What is said about images behind the dialogue."""
    return next((item.text for item in request.prompt.items if item.tag == "images"), "")


async def test_a_model_that_sees_gets_the_image_behind_the_words(seeing: House) -> None:
    await ask(seeing, "What is it?\n[image: cat.png, 2000 by 1000]", {"cat.png": png(2000, 1000)})
    words, image, rest = last(seeing.requests[0])
    assert words == {
        "type": "text",
        "text": "What is it?\n[image: cat.png, 2000 by 1000]\n[from Ada]\n\n"
        "[images, in this order: cat.png]",
    }
    head, data = image["image_url"]["url"].split(",")
    assert (image["type"], head) == ("image_url", "data:image/jpeg;base64")
    assert decoded(base64.b64decode(data)).size == (LONGEST_SIDE, LONGEST_SIDE // 2)
    assert rest["type"] == "text"
    assert "4 May 2026" in rest["text"]


async def test_a_model_that_does_not_is_told_so_and_gets_words_alone(house: House) -> None:
    await ask(house, "What is it?\n[image: cat.png]", {"cat.png": png()})
    assert isinstance(last(house.requests[0]), str)
    assert f"[from Ada]\n\n[{BLIND}]" in last(house.requests[0])
    assert house.channel.downloads == []


@pytest.mark.parametrize(("value", "seen"), [("on", ["a.png"]), ("off", [])])
async def test_the_switch_wins_over_what_was_learnt(
    seeing: House, value: str, seen: list[str]
) -> None:
    await seeing.service.configure(GUILD, "vision", value)
    await ask(seeing, "Look", {"a.png": png()})
    assert names(seeing.requests[0]) == seen


async def test_only_the_newest_messages_show_theirs(seeing: House) -> None:
    for number in range(4):
        seeing.channel.add(BOB, f"look {number}", files={f"{number}.png": png()})
    await ask(seeing, "And?", {})
    assert names(seeing.requests[0]) == ["2.png", "3.png"]


async def test_no_more_than_a_few(seeing: House) -> None:
    await ask(seeing, "Which?", {f"{number}.png": png() for number in range(10)})
    assert names(seeing.requests[0]) == ["6.png", "7.png", "8.png", "9.png"]
    assert MOST_IMAGES == 4
    assert seeing.channel.downloads == names(seeing.requests[0])


async def test_an_image_that_is_replied_to_is_shown_once(seeing: House) -> None:
    old = seeing.channel.add(BOB, "look", files={"old.png": png()})
    for number in range(5):
        seeing.channel.add(BOB, f"talk {number}")
    quote = Quote(message_id=old.id, author=BOB, text="look")
    asked = ChannelMessage(
        id=5000, author=ADA, text="This?", at=old.at, reply_to=quote, attachments=old.attachments
    )
    seeing.model.add(HELLO)
    await seeing.service.respond(seeing.about(asked), seeing.channel, seeing.presenter())
    assert names(seeing.requests[0]) == ["old.png"]
    assert (
        '[in reply to Bob: "look"]\nThis?\n[from Ada]' in seeing.requests[0].prompt.items[-4].text
    )


async def test_other_files_are_no_images(seeing: House) -> None:
    await ask(seeing, "Read", {"notes.txt": b"abc", "drawing.svg": b"<svg/>", "clip.mp4": b"0"})
    assert (names(seeing.requests[0]), told(seeing.requests[0])) == ([], "")
    assert seeing.channel.downloads == []


async def test_what_cannot_be_shown_is_told_of(seeing: House) -> None:
    gone = seeing.channel.add(BOB, "look", files={"gone.png": png()})
    del seeing.channel.files[gone.attachments[0].id]
    files = {"bad.png": b"not a png", "bomb.png": bomb(), "dance.gif": animated_gif("red", "blue")}
    shown = await ask(seeing, "And these?", files)
    assert told(seeing.requests[0]) == (
        "[images, in this order: dance.gif; gone.png could not be read; "
        "bad.png is damaged or no image; bomb.png has too many pixels to be shown]"
    )
    assert shown.reply.text == "Hello."


async def test_one_that_is_slow_does_not_hold_up_the_turn(seeing: House) -> None:
    class Slow(Channel):
        async def read_file(self, attachment: Attachment, *, most: int) -> bytes:
            if attachment.name == "slow.png":
                await asyncio.Event().wait()
            return await super().read_file(attachment, most=most)

    channel = Slow()
    message = channel.add(ADA, "Look", files={"slow.png": png(), "quick.png": png()})
    reader = ImageReader(seconds=0.3)
    seen = await reader.read([message], channel, sees=True)
    assert [image.description for image in seen.images] == ["quick.png"]
    assert seen.unseen == ("slow.png could not be read in time",)


async def test_an_image_is_downloaded_once(seeing: House) -> None:
    await ask(seeing, "Look", {"a.png": png()})
    await ask(seeing, "Again", {})
    assert [names(request) for request in seeing.requests] == [["a.png"], ["a.png"]]
    assert seeing.channel.downloads == ["a.png"]


async def test_the_common_beginning_reaches_the_last_words(seeing: House) -> None:
    """Which the image stands behind, so that it costs the cache nothing to leave it out later."""
    await ask(seeing, "Look\n[image: a.png]", {"a.png": png()})
    for text in ("One", "Two", "Three"):
        await ask(seeing, text, {})
    first, *_, final = [request.body["messages"] for request in seeing.requests]
    assert "image_url" in json.dumps(first)
    assert "image_url" not in json.dumps(final)
    assert final[: len(first) - 1] == first[:-1]
    words = first[-1]["content"][0]["text"].removesuffix("\n\n[images, in this order: a.png]")
    assert final[len(first) - 1]["content"] == words


async def test_it_stays_through_the_rounds_of_a_turn(seeing: House) -> None:
    roll = call("roll_dice", dice="1d6")
    await ask(seeing, "Roll for it", {"a.png": png()}, [say("Rolling."), roll], HELLO)
    first, second = (request.body["messages"] for request in seeing.requests)
    assert second[: len(first)] == first
    assert names(seeing.requests[1]) == ["a.png"]


async def test_images_take_a_share_of_the_window_and_no_more(store: Store) -> None:
    house = House(store, window=4096)
    await house.service.configure(GUILD, "vision", "on")
    await ask(house, "Which?", {f"{number}.png": png(1000, 1000) for number in range(3)})
    assert names(house.requests[0]) == ["2.png"]
    assert told(house.requests[0]) == (
        "[images, in this order: 2.png; 0.png is left out for lack of room; "
        "1.png is left out for lack of room]"
    )
    house.model.check()


async def test_they_give_way_to_words_that_have_to_fit(store: Store) -> None:
    house = House(store, window=4096)
    await house.service.configure(GUILD, "vision", "on")
    shown = await ask(house, "Why? " * 1200, {"0.png": png(1000, 1000)})
    assert (names(house.requests[0]), shown.reply.text) == ([], "Hello.")
    house.model.check()


async def test_a_refusal_of_images_is_learnt(seeing: House) -> None:
    refused = Refused("No.", remedy="")
    replan = Replan(Change(name="vision", value="off"), refused)
    shown = await ask(seeing, "Look\n[image: a.png]", {"a.png": png()}, [replan], HELLO)
    assert shown.reply.text == "Hello."
    assert [names(request) for request in seeing.requests] == [["a.png"], []]
    assert told(seeing.requests[1]) == f"[{BLIND}]"
    assert (await seeing.verdict()).learnt["vision"] == "off"
    await ask(seeing, "And this?", {"b.png": png()})
    assert names(seeing.requests[2]) == []


async def test_a_snapshot_tells_the_size_in_place_of_the_bytes(seeing: House) -> None:
    message = seeing.channel.add(ADA, "Look", files={"a.png": png(600, 400)})
    shown = await seeing.service.snapshot(PLACE, ADA, seeing.channel, message.id)
    assert len(shown.text) + len(shown.json) < 40_000
    url = r"data:image/jpeg;base64,\[\d{3,5} bytes left out\]"
    assert re.search(rf"\(a\.png: 600 by 400 pixels, {url}\)", shown.text)
    content = json.loads(shown.json)["messages"][-1]["content"]
    assert [part["type"] for part in content] == ["text", "image_url", "text"]
    assert re.fullmatch(url, content[1]["image_url"]["url"])
