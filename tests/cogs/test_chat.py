import asyncio

import pytest

from data.errors import StoreError
from tests.cogs.conftest import Scene
from tests.cogs.scripted import Stage
from tests.loopback.discord_server import Permission, Status, Upload


def asked(scene: Scene) -> list[str]:
    return [stage.request.message.text for stage in scene.service.stages]


async def settle() -> None:
    """Long enough for a message to reach the bot and for an answer that must not come."""
    await asyncio.sleep(0.3)


async def test_a_mention_is_answered_as_a_reply(scene: Scene) -> None:
    question = scene.ask("what is up?")
    await scene.turns_done()
    (answer,) = scene.answers()
    assert answer.text == "Hello."
    assert answer.reply_to is question
    assert scene.service.shown == [[answer.id]]
    request = scene.service.stages[0].request
    assert request.place.guild_id == scene.guild.id
    assert request.place.channel_id == scene.channel.id
    assert (request.member.id, request.member.name) == (scene.alice.id, "Alice")
    assert request.message.text == "what is up?"


async def test_a_reply_to_the_bot_is_answered_and_a_reply_to_others_is_not(scene: Scene) -> None:
    driver = scene.server.driver
    scene.ask("first")
    await scene.turns_done()
    driver.say(scene.channel, scene.bob, "and then?", reply_to=scene.answers()[0])
    await scene.turns_done(2)
    other = driver.say(scene.channel, scene.alice, "between us")
    driver.say(scene.channel, scene.bob, "indeed", reply_to=other)
    await settle()
    assert asked(scene) == ["first", "and then?"]


async def test_a_reply_that_pings_the_bot_beside_another_bots_message_is_no_mention(
    scene: Scene,
) -> None:
    other_bot = scene.server.build.user("other", scene.guild, bot=True)
    foreign = scene.server.driver.say(scene.channel, other_bot, scene.server.bot.mention)
    scene.server.driver.say(scene.channel, scene.bob, "thanks", reply_to=foreign)
    await settle()
    assert asked(scene) == []


async def test_direct_messages_need_no_mention(scene: Scene) -> None:
    channel = scene.server.build.direct_messages(scene.alice)
    scene.server.driver.say(channel, scene.alice, "psst")
    await scene.turns_done()
    assert scene.service.stages[0].request.place.guild_id is None
    assert [answer.text for answer in scene.answers(channel)] == ["Hello."]


async def test_plain_talk_bots_and_itself_start_nothing(scene: Scene) -> None:
    driver = scene.server.driver
    driver.say(scene.channel, scene.alice, "nobody asked you")
    driver.say(scene.channel, scene.alice, "the word loopbot is no mention")
    other_bot = scene.server.build.user("other", scene.guild, bot=True)
    driver.say(scene.channel, other_bot, f"{scene.server.bot.mention} loop with me")
    driver.say(scene.channel, scene.server.bot, f"{scene.server.bot.mention} me")
    await settle()
    assert asked(scene) == []


async def test_a_redelivered_message_is_answered_once(scene: Scene) -> None:
    question = scene.ask("once")
    scene.server.driver.redeliver(question)
    await scene.turns_done()
    scene.server.driver.redeliver(question)
    await settle()
    assert asked(scene) == ["once"]
    assert len(scene.answers()) == 1


async def test_where_the_database_fails_who_asks_is_told(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def full(_: int) -> bool:
        raise StoreError("The disk is full.", remedy="Free some space.")

    monkeypatch.setattr(scene.service, "claim", full)
    scene.server.driver.say(scene.channel, scene.bob, "nobody asked")
    scene.ask("hello")
    told = await scene.server.wait_for_message(scene.channel, lambda m: m.reply_to is not None)
    assert told.text == "-# The bot's database has a problem. Its operator is told how."
    assert asked(scene) == []
    assert "The disk is full. Free some space." in caplog.text
    assert len(scene.answers()) == 1


async def test_mentions_become_names_and_files_are_named(scene: Scene) -> None:
    me, general = scene.server.bot.mention, scene.channel
    scene.server.driver.say(
        general,
        scene.alice,
        f"{me} tell {scene.bob.mention} about <#{general.id}> <:dice:123456789012345678> {me}",
        files=[Upload(filename="map.png", data=b"\x89PNG")],
    )
    await scene.turns_done()
    assert asked(scene) == ["tell @Bob about #general :dice:\n[file: map.png, 4 bytes]"]


async def test_an_empty_mention_gets_a_hint(scene: Scene) -> None:
    scene.ask("")
    hint = await scene.server.wait_for_message(scene.channel, lambda _: True)
    assert hint.text.startswith("-# Write your question")
    assert asked(scene) == []


async def test_history_is_oldest_first_and_leaves_other_bots_out(scene: Scene) -> None:
    driver = scene.server.driver
    other_bot = scene.server.build.user("other", scene.guild, bot=True)
    first = driver.say(scene.channel, scene.bob, "one")
    driver.say(scene.channel, other_bot, "noise")
    scene.ask("two")
    await scene.turns_done()
    last = scene.ask("three")
    await scene.turns_done(2)
    history = scene.service.stages[-1].history
    read = await history.read(before=last.id, after=None, limit=10)
    assert [(m.text, m.author.name, m.ours) for m in read] == [
        ("one", "Bob", False),
        ("two", "Alice", False),
        ("Hello.", "loopbot", True),
    ]
    newest = await history.read(before=last.id, after=first.id, limit=1)
    assert [m.text for m in newest] == ["Hello."]
    since = await history.read(before=last.id, after=first.id, limit=10)
    assert [m.text for m in since] == ["two", "Hello."]


async def test_history_that_cannot_be_read_is_missing_and_logged(
    scene: Scene, caplog: pytest.LogCaptureFixture
) -> None:
    scene.ask("one")
    await scene.turns_done()
    scene.server.faults.plant(r"/messages$", Status(status=503), method="GET")
    history = scene.service.stages[0].history
    assert await history.read(before=2**62, after=None, limit=10) == []
    assert "could not be read" in caplog.text
    assert len(await history.read(before=2**62, after=None, limit=10)) == 2


async def test_a_thread_is_a_place_of_its_own(scene: Scene) -> None:
    scene.server.driver.say(scene.channel, scene.bob, "outside")
    thread = scene.server.build.thread(scene.channel, "topic", owner=scene.alice)
    question = scene.server.driver.say(thread, scene.alice, f"{scene.server.bot.mention} inside")
    await scene.turns_done()
    stage = scene.service.stages[0]
    assert stage.request.place.channel_id == thread.id
    assert await stage.history.read(before=question.id, after=None, limit=10) == []
    assert [answer.text for answer in scene.answers(thread)] == ["Hello."]


async def test_a_channel_has_one_turn_at_a_time_and_members_take_turns(scene: Scene) -> None:
    running = 0

    async def slow(stage: Stage) -> None:
        nonlocal running
        running += 1
        assert running == 1
        await asyncio.sleep(0.1)
        stage.say("done")
        running -= 1

    scene.service.script = slow
    scene.ask("a1")
    await settle()
    for text in ("a2", "a3"):
        scene.ask(text)
    scene.ask("b1", user=scene.bob)
    await scene.turns_done(4)
    assert asked(scene)[1:] == ["a2", "b1", "a3"]


async def test_other_channels_do_not_wait(scene: Scene) -> None:
    release = asyncio.Event()

    async def script(stage: Stage) -> None:
        if stage.request.message.text == "slow":
            await release.wait()
        stage.say("done")

    scene.service.script = script
    scene.ask("slow")
    direct = scene.server.build.direct_messages(scene.bob)
    scene.server.driver.say(direct, scene.bob, "fast")
    await scene.turns_done()
    assert [answer.text for answer in scene.answers(direct)] == ["done"]
    assert scene.answers() == []
    release.set()
    await scene.turns_done(2)


async def test_a_turn_that_breaks_is_told_and_logged(
    scene: Scene, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(stage: Stage) -> None:
        stage.say("Half an answer")
        await asyncio.sleep(0.6)
        raise RuntimeError("a bug")

    scene.service.script = broken
    scene.ask("break")
    await scene.server.wait_for_message(scene.channel, lambda m: "Something went wrong" in m.text)
    (answer,) = scene.answers()
    assert answer.text.startswith("Half an answer\n-# Something went wrong")
    assert "a bug" in caplog.text
    scene.service.script = lambda stage: asyncio.sleep(0, stage.say("works again"))
    scene.ask("again")
    await scene.turns_done()


async def test_without_send_messages_the_member_is_told_directly(
    scene: Scene, caplog: pytest.LogCaptureFixture
) -> None:
    scene.server.build.overwrite(scene.channel, scene.server.bot, deny=Permission.SEND_MESSAGES)
    await settle()
    scene.ask("can you speak?")
    direct = scene.server.build.direct_messages(scene.alice)
    told = await scene.server.wait_for_message(direct, lambda _: True)
    assert "I lack the permission Send Messages there" in told.text
    assert "Send Messages" in caplog.text
    assert scene.server.journal.of("missing_permission") == []
    assert asked(scene) == []
