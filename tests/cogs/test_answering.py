"""Who is answered on Discord, by what a server has set; and the panel that sets it."""

import asyncio

import pytest

from chat.answering import MOST_BOT_TURNS, Answering
from chat.quotas import Budget, Limit, Limits
from chat.usage import today_in_utc
from cogs.answering import panel_text
from data.store import Store
from data.usage import Amount, Spender
from tests.cogs.conftest import Scene
from tests.cogs.scripted import Stage
from tests.loopback.discord_server import Message, Permission
from tests.loopback.discord_server.model import Channel

SILENCE = 0.3
"""Seconds in which an answer that must not come would have come."""


def asked(scene: Scene) -> list[str]:
    return [stage.request.message.text for stage in scene.service.stages]


async def set_to(scene: Scene, settings: Answering) -> None:
    await scene.desk.answering.change(scene.guild.id, lambda _: settings)


def threads(scene: Scene) -> list[Channel]:
    channels = scene.server.world.channels.values()
    return [channel for channel in channels if channel.is_thread]


async def test_words_channels_and_threads_are_answered_without_a_mention(scene: Scene) -> None:
    driver, build = scene.server.driver, scene.server.build
    always = build.channel(scene.guild, "always")
    thread = build.thread(scene.channel, "ours", owner=scene.server.bot)
    theirs = build.thread(scene.channel, "theirs", owner=scene.alice)
    await set_to(scene, Answering(words=("robot",), channels=(always.id,)))
    driver.say(scene.channel, scene.alice, "robots are no robots")
    driver.say(theirs, scene.alice, "not here")
    driver.say(scene.channel, scene.alice, "hey Robot!")
    driver.say(always, scene.alice, "anything")
    driver.say(thread, scene.bob, "in your thread")
    await scene.turns_done(3)
    await asyncio.sleep(SILENCE)
    assert sorted(asked(scene)) == ["anything", "hey Robot!", "in your thread"]


async def test_a_reply_to_somebody_else_is_left_alone_where_every_message_is_answered(
    scene: Scene,
) -> None:
    other_bot = scene.server.build.user("other", scene.guild, bot=True)
    driver = scene.server.driver
    await set_to(scene, Answering(channels=(scene.channel.id,)))
    foreign = driver.say(scene.channel, other_bot, "I am another bot")
    driver.say(scene.channel, scene.alice, "that one is for the other bot", reply_to=foreign)
    driver.say(scene.channel, scene.alice, "and this is for anyone")
    await scene.turns_done()
    await asyncio.sleep(SILENCE)
    assert asked(scene) == ["and this is for anyone"]


async def test_denied_channels_ignored_roles_and_members_get_no_answer(scene: Scene) -> None:
    build = scene.server.build
    muted = build.role(scene.guild, "muted")
    carl = build.user("carl")
    build.member(scene.guild, carl, muted)
    denied = build.channel(scene.guild, "quiet")
    await set_to(scene, Answering(denied=(denied.id,), roles=(muted.id,), members=(scene.bob.id,)))
    mention = scene.server.bot.mention
    for channel, user in ((denied, scene.alice), (scene.channel, carl), (scene.channel, scene.bob)):
        scene.server.driver.say(channel, user, f"{mention} hello")
    scene.ask("fine")
    await scene.turns_done()
    await asyncio.sleep(SILENCE)
    assert asked(scene) == ["fine"]


async def test_a_listed_bot_is_answered_and_cannot_loop(scene: Scene) -> None:
    other_bot = scene.server.build.user("other", scene.guild, bot=True)
    await set_to(scene, Answering(bots=(other_bot.id,)))
    mention, say = scene.server.bot.mention, scene.server.driver.say
    for number in range(MOST_BOT_TURNS + 2):
        say(scene.channel, other_bot, f"{mention} ping {number}")
    await scene.turns_done(MOST_BOT_TURNS)
    await asyncio.sleep(SILENCE)
    assert len(asked(scene)) == MOST_BOT_TURNS
    say(scene.channel, scene.alice, "a person speaks")
    last = say(scene.channel, other_bot, f"{mention} once more")
    await scene.turns_done(MOST_BOT_TURNS + 1)
    history = scene.service.stages[-1].history
    read = await history.read(before=last.id, after=None, limit=50)
    assert "ping 0" in [message.text for message in read], "what it says is part of the past"


async def test_a_conversation_gets_a_thread_and_goes_on_there(scene: Scene) -> None:
    await set_to(scene, Answering(in_thread=True))
    scene.server.build.channel(scene.guild, "other")
    question = scene.ask("tell me about ants")
    await scene.turns_done()
    (thread,) = threads(scene)
    assert thread.id == question.id
    assert thread.name == "tell me about ants"
    assert scene.service.stages[0].request.place.channel_id == thread.id
    assert [answer.text for answer in scene.answers(thread)] == ["Hello."]
    assert scene.answers() == []
    more = scene.server.driver.say(thread, scene.alice, "and bees?")
    await scene.turns_done(2)
    history = scene.service.stages[-1].history
    read = await history.read(before=more.id, after=None, limit=50)
    assert [message.text for message in read] == ["tell me about ants", "Hello."]
    assert await history.read(before=more.id, after=thread.id, limit=50) == read[1:]
    assert len(threads(scene)) == 1


async def test_a_thread_that_is_there_is_used(scene: Scene) -> None:
    await set_to(scene, Answering(in_thread=True))
    driver = scene.server.driver
    question = driver.say(scene.channel, scene.alice, f"{scene.server.bot.mention} hi")
    scene.server.build.thread(scene.channel, "faster", owner=scene.bob, thread_id=question.id)
    await scene.turns_done()
    (thread,) = threads(scene)
    assert thread.name == "faster"
    assert [answer.text for answer in scene.answers(thread)] == ["Hello."]


async def test_without_the_permission_the_answer_stays_and_says_why(scene: Scene) -> None:
    await set_to(scene, Answering(in_thread=True))
    scene.server.build.overwrite(scene.channel, scene.guild, deny=Permission.CREATE_PUBLIC_THREADS)
    scene.ask("one")
    await scene.turns_done()
    scene.ask("two")
    await scene.turns_done(2)
    told = [message.text for message in scene.answers() if "Create Public Threads" in message.text]
    assert told == ["-# I lack the permission Create Public Threads, so I answer here."]
    assert [message.text for message in scene.answers()].count("Hello.") == 2
    assert threads(scene) == []


async def test_of_the_past_only_the_chain_of_replies_is_read(scene: Scene) -> None:
    await set_to(scene, Answering(history="replies"))
    driver = scene.server.driver
    driver.say(scene.channel, scene.bob, "gossip")
    root = driver.say(scene.channel, scene.bob, "bees dance")
    first = driver.say(
        scene.channel, scene.alice, f"{scene.server.bot.mention} why?", reply_to=root
    )
    await scene.turns_done()
    driver.say(scene.channel, scene.bob, "more gossip")
    second = driver.say(scene.channel, scene.alice, "really?", reply_to=scene.answers()[0])
    await scene.turns_done(2)
    history = scene.service.stages[-1].history
    read = await history.read(before=second.id, after=first.id, limit=50)
    assert [message.text for message in read] == ["bees dance", "why?", "Hello."]
    short = await history.read(before=second.id, after=None, limit=2)
    assert [message.text for message in short] == ["why?", "Hello."]
    driver.delete(root)
    read = await history.read(before=second.id, after=None, limit=50)
    assert [message.text for message in read][-2:] == ["why?", "Hello."]


async def test_a_channel_full_of_other_bots_hides_no_history(scene: Scene) -> None:
    driver = scene.server.driver
    noisy = scene.server.build.user("noisy", scene.guild, bot=True)
    driver.say(scene.channel, scene.bob, "long ago")
    for number in range(450):
        driver.say(scene.channel, noisy, f"tick {number}")
    question = scene.ask("what was that?")
    await scene.turns_done()
    history = scene.service.stages[-1].history
    read = await history.read(before=question.id, after=None, limit=30)
    assert [message.text for message in read] == ["long ago"]


async def test_a_question_is_read_as_it_stands_when_its_turn_comes(scene: Scene) -> None:
    release = asyncio.Event()

    async def held(stage: Stage) -> None:
        await release.wait()
        stage.say("Done.")

    scene.service.script = held
    scene.ask("first")
    waiting = scene.ask("secnod", user=scene.bob)
    gone = scene.ask("third")
    async with asyncio.timeout(5):
        while not scene.service.stages:
            await asyncio.sleep(0.01)
    await asyncio.sleep(0.1)
    scene.server.driver.edit(waiting, f"{scene.server.bot.mention} second")
    scene.server.driver.delete(gone)
    await asyncio.sleep(0.2)
    release.set()
    await scene.turns_done(2)
    await asyncio.sleep(SILENCE)
    assert asked(scene) == ["first", "second"]


async def test_who_asks_too_much_reads_once_when_again(scene: Scene) -> None:
    await scene.desk.quotas.set_limits(scene.guild.id, Limits(member=Limit(hour=1)))
    for text in ("one", "two", "three"):
        scene.ask(text)
    scene.ask("from bob", user=scene.bob)
    await scene.turns_done(2)
    await asyncio.sleep(SILENCE)
    assert sorted(asked(scene)) == ["from bob", "one"]
    remarks = [answer.text for answer in scene.answers() if answer.text.startswith("-# ")]
    assert len(remarks) == 1
    assert "1 question an hour" in remarks[0]
    assert ":R>" in remarks[0]


async def test_a_budget_that_nears_its_end_is_told_to_the_owner_once(
    scene: Scene, store: Store
) -> None:
    await scene.desk.quotas.set_budget(scene.guild.id, Budget(tokens=100))
    mine = Spender(guild_id=scene.guild.id, channel_id=1, member_id=1, model="m")
    await store.usage.add(today_in_utc(), mine, Amount(prompt_tokens=85))
    mail = scene.server.build.direct_messages(scene.guild.owner)
    scene.ask("one")
    scene.ask("two")
    await scene.turns_done(2)
    await store.usage.add(today_in_utc(), mine, Amount(prompt_tokens=15))
    scene.ask("three")
    stop = await scene.server.wait_for_message(
        scene.channel, lambda message: "budget for today is used up" in message.text
    )
    assert stop.text.startswith("-# This server's budget")
    warnings = [message.text for message in scene.server.messages(mail) if "85%" in message.text]
    assert len(warnings) == 1
    assert asked(scene) == ["one", "two"]


async def panel(scene: Scene) -> Message:
    used = await scene.slash("config answering")
    assert used.original is not None
    assert used.original.ephemeral
    return used.original


async def test_the_panel_shows_and_changes_what_is_answered(scene: Scene) -> None:
    driver, boss = scene.server.driver, scene.guild.owner
    role = scene.server.build.role(scene.guild, "muted")
    shown = await panel(scene)
    assert "**I answer** Mentions of me, Replies to me" in shown.text
    for select, values in (
        ("answering:triggers", ["reply", "in_thread"]),
        ("answering:channels", [str(scene.channel.id)]),
        ("answering:denied", []),
        ("answering:ignored", [str(role.id), str(scene.bob.id)]),
    ):
        await driver.acknowledged(driver.choose(boss, shown, select, values))
        await asyncio.sleep(0.1)
    opened = await driver.acknowledged(driver.press(boss, shown, "Words, past and bots"))
    sent = driver.submit(
        boss,
        opened,
        {"words": "robot, help desk", "history": ["replies"], "window": "40", "bots": ""},
    )
    await driver.answered(sent)
    assert await scene.desk.answering.of(scene.guild.id) == Answering(
        mention=False,
        threads=False,
        in_thread=True,
        channels=(scene.channel.id,),
        roles=(role.id,),
        members=(scene.bob.id,),
        words=("robot", "help desk"),
        history="replies",
        window=40,
    )
    again = await panel(scene)
    assert "robot, help desk" in again.text
    assert f"<#{scene.channel.id}>" in again.text


async def test_a_wrong_entry_changes_nothing_and_says_what_is_wrong(scene: Scene) -> None:
    driver, boss = scene.server.driver, scene.guild.owner
    opened = await driver.acknowledged(
        driver.press(boss, await panel(scene), "Words, past and bots")
    )
    sent = driver.submit(boss, opened, {"words": "fine", "window": "900"})
    answer = (await driver.answered(sent)).original
    assert answer is not None
    assert "from 2 to 200" in answer.text
    assert await scene.desk.answering.of(scene.guild.id) == Answering()


async def test_members_without_the_right_change_nothing(scene: Scene) -> None:
    shown = await panel(scene)
    driver = scene.server.driver
    await driver.acknowledged(driver.choose(scene.alice, shown, "answering:triggers", []))
    await asyncio.sleep(0.1)
    assert await scene.desk.answering.of(scene.guild.id) == Answering()


@pytest.mark.parametrize("reads_all", [True, False])
def test_the_panel_says_what_the_missing_intent_takes_away(reads_all: bool) -> None:
    told = panel_text(Answering(words=("robot",)), None, reads_all=reads_all)
    assert ("message content intent" in told) is not reads_all


async def test_an_answer_in_a_thread_is_given_again_in_the_thread(scene: Scene) -> None:
    await set_to(scene, Answering(in_thread=True))
    scene.ask("tell me about ants")
    await scene.turns_done()
    (thread,) = threads(scene)
    (answer,) = scene.answers(thread)

    async def other(stage: Stage) -> None:
        stage.say("Hello again.")

    scene.service.script = other
    await scene.server.driver.acknowledged(
        scene.server.driver.press(scene.alice, answer, "Regenerate")
    )
    await scene.turns_done(2)
    assert [message.text for message in scene.answers(thread)] == ["Hello again."]
    assert scene.answers() == []
    assert asked(scene) == ["tell me about ants"] * 2


async def test_without_the_intent_what_cannot_be_read_is_left_alone(quiet_scene: Scene) -> None:
    scene = quiet_scene
    await scene.start(reads_all=False)
    thread = scene.server.build.thread(scene.channel, "ours", owner=scene.server.bot)
    await set_to(scene, Answering(channels=(scene.channel.id,), words=("robot",)))
    scene.server.driver.say(scene.channel, scene.alice, "a robot that nobody can read")
    scene.server.driver.say(thread, scene.alice, "nor this")
    scene.ask("this can be read")
    await scene.turns_done()
    await asyncio.sleep(SILENCE)
    assert asked(scene) == ["this can be read"]
    assert [answer.text for answer in scene.answers()] == ["Hello."]
    assert scene.answers(thread) == []
