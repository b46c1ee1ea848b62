"""Who is answered, by what a guild has set."""

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest

from chat.answering import (
    ANSWERING,
    DEFAULTS,
    Answering,
    AnsweringSettings,
    Heard,
    answering_of,
    checked_window,
    checked_words,
    is_answering,
    trigger,
)
from data.store import Store
from prompt.values import Json
from tests.chat.house import House
from tests.chat.scripted import ADA, PLACE, end, say

ME = 1
PLAIN = Heard(
    author_id=7,
    is_bot=False,
    role_ids=(70,),
    channel_ids=(5, 50),
    text="what a day",
    mentions=False,
    answers=None,
    in_own_thread=False,
)
MENTION = replace(PLAIN, mentions=True)
REPLY = replace(PLAIN, answers=ME)
TO_BOB = replace(PLAIN, answers=8)
BOT = replace(MENTION, is_bot=True, author_id=9)


@pytest.mark.parametrize(
    ("settings", "heard", "why"),
    [
        (DEFAULTS, PLAIN, None),
        (DEFAULTS, MENTION, "mention"),
        (DEFAULTS, REPLY, "reply"),
        (DEFAULTS, TO_BOB, None),
        (DEFAULTS, replace(TO_BOB, mentions=True), "mention"),
        (DEFAULTS, replace(PLAIN, in_own_thread=True), "thread"),
        (DEFAULTS, replace(TO_BOB, in_own_thread=True), None),
        (Answering(mention=False), MENTION, None),
        (Answering(mention=False), replace(MENTION, answers=ME), "reply"),
        (Answering(reply=False), REPLY, None),
        (Answering(threads=False), replace(PLAIN, in_own_thread=True), None),
        (Answering(channels=(5,)), PLAIN, "channel"),
        (Answering(channels=(50,)), PLAIN, "channel"),
        (Answering(channels=(5,)), TO_BOB, None),
        (Answering(channels=(6,)), PLAIN, None),
        (Answering(words=("day",)), PLAIN, "word"),
        (Answering(words=("DAY", "night")), PLAIN, "word"),
        (Answering(words=("da",)), PLAIN, None),
        (Answering(words=("a day",)), PLAIN, "word"),
        (Answering(words=("C++",)), replace(PLAIN, text="is c++ hard?"), "word"),
        (Answering(words=("straße",)), replace(PLAIN, text="Die STRASSE."), "word"),
        (Answering(words=("day",)), TO_BOB, None),
        (Answering(denied=(50,)), MENTION, None),
        (Answering(roles=(70,)), MENTION, None),
        (Answering(roles=(71,)), MENTION, "mention"),
        (Answering(members=(7,)), MENTION, None),
        (DEFAULTS, BOT, None),
        (Answering(bots=(9,)), BOT, "mention"),
        (Answering(bots=(9,)), replace(BOT, mentions=False, answers=ME), "reply"),
        (Answering(bots=(9,), channels=(5,)), replace(BOT, mentions=False), None),
        (Answering(bots=(ME,)), replace(BOT, author_id=ME), None),
    ],
)
def test_a_message_is_answered_for_a_reason(
    settings: Answering, heard: Heard, why: str | None
) -> None:
    assert trigger(settings, heard, me=ME) == why


def test_settings_are_read_back_as_they_were_kept() -> None:
    settings = Answering(
        reply=False,
        words=("hey robot",),
        channels=(10**17,),
        roles=(3,),
        history="replies",
        window=40,
    )
    stored = settings.stored()
    assert answering_of({ANSWERING: stored}) == settings
    assert is_answering(stored)
    assert stored["channels"] == [str(10**17)]


@pytest.mark.parametrize(
    "value",
    [
        [],
        {"nonsense": True},
        {"mention": "yes"},
        {"words": "day"},
        {"words": ["  "]},
        {"words": ["w" * 51]},
        {"words": [f"w{number}" for number in range(26)]},
        {"channels": [5]},
        {"window": 1},
        {"window": True},
        {"history": "all"},
    ],
)
def test_what_is_not_valid_cannot_be_kept_and_falls_back(value: Json) -> None:
    assert not is_answering(value)
    read = answering_of({ANSWERING: value})
    assert replace(read, words=()) == DEFAULTS
    assert len(read.words) <= 25


def test_words_are_listed_with_commas_or_lines() -> None:
    assert checked_words(" help  desk, robot\nrobot,, ") == ("help desk", "robot")
    for wrong in ("??", "w" * 51, ",".join(f"w{number}" for number in range(26))):
        with pytest.raises(ValueError, match="word"):
            checked_words(wrong)


def test_a_window_is_a_number_in_bounds() -> None:
    assert checked_window("") is None
    assert checked_window(" 20 ") == 20
    for wrong in ("1", "201", "-5", "many", "9" * 30):
        with pytest.raises(ValueError, match="from 2 to 200"):
            checked_window(wrong)


async def test_a_change_holds_at_once_and_so_does_going_back(store: Store) -> None:
    settings = AnsweringSettings(store)
    assert await settings.of(1) == DEFAULTS
    quiet: Callable[[Answering], Answering] = lambda now: replace(now, mention=False)  # noqa: E731
    await settings.change(1, quiet)
    assert (await settings.of(1)).mention is False
    assert await settings.of(2) == DEFAULTS
    await store.settings.put(1, "", ANSWERING, None)
    assert await settings.of(1) == DEFAULTS
    await settings.change(1, quiet)
    await settings.change(1, lambda _: DEFAULTS)
    assert ANSWERING not in await store.settings.values(1, "")


async def test_of_two_changes_at_once_none_is_lost(store: Store) -> None:
    settings = AnsweringSettings(store)
    await asyncio.gather(
        settings.change(1, lambda now: replace(now, mention=False)),
        settings.change(1, lambda now: replace(now, reply=False)),
    )
    assert await settings.of(1) == replace(DEFAULTS, mention=False, reply=False)


async def test_what_was_erased_of_a_server_holds_no_longer(store: Store) -> None:
    settings = AnsweringSettings(store)
    await settings.change(1, lambda now: replace(now, members=(ADA.id,)))
    assert (await settings.of(1)).members == (ADA.id,)
    await store.erase_guild(1)
    assert await settings.of(1) == DEFAULTS


async def test_no_more_of_the_past_is_read_than_a_guild_wants(store: Store) -> None:
    house = House(store)
    guild_id = PLACE.guild_id or 0
    for number in range(60):
        house.channel.add(ADA, f"line {number}")
    await store.settings.put(guild_id, "", ANSWERING, Answering(window=10).stored())
    await house.ask("first", [say("Yes."), end("stop")])
    await house.ask("second", [say("Yes."), end("stop")])
    starts = [prompt.all_items for prompt in house.prompts]
    told = ["\n".join(item.text for item in items) for items in starts]
    assert "line 50" in told[0]
    assert "line 49" not in told[0]
    # The window is full: history restarts at half of it, and then grows again.
    assert "line 54" not in told[1]
    await house.ask("third", [say("Yes."), end("stop")])
    last = "\n".join(item.text for item in house.prompts[-1].all_items)
    assert ("line 55" in told[1]) == ("line 55" in last)
