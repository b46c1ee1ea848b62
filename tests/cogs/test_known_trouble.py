"""Trouble that bots of this kind are known for, as a member would meet it."""

import asyncio
import itertools

import pytest

from cogs.delivery import CADENCE
from cogs.splitting import split
from cogs.tree import BROKEN
from tests.cogs.conftest import Scene
from tests.cogs.scripted import Stage, labels
from tests.loopback.discord_server import Delay, LostAnswer, Message, Status, Throttle
from tests.loopback.discord_server.model import CommandKind

POST = r"/channels/\d+/messages$"
PATCH = r"/channels/\d+/messages/\d+$"
GET = r"/channels/\d+/messages/\d+$"
LONG = "\n\n".join(f"Paragraph {number}. " + "lorem ipsum " * 20 for number in range(24))


async def say_all(stage: Stage) -> None:
    stage.say(LONG)


async def test_what_a_member_sees_is_less_than_a_second_and_a_half_behind(
    quiet_scene: Scene,
) -> None:
    scene = quiet_scene
    for method in ("POST", "PATCH"):
        path = r"/channels/\d+/messages"
        scene.server.faults.plant(path, Delay(seconds=0.3), method=method, times=99)
    await scene.start(cadence=CADENCE)
    written: list[float] = []

    async def script(stage: Stage) -> None:
        for _ in range(150):
            written.append(scene.server.journal.now())
            stage.say("x")
            await asyncio.sleep(0.02)

    scene.service.script = script
    scene.ask("stream")
    await scene.turns_done()
    (answer,) = scene.answers()
    assert answer.text == "x" * 150
    assert answer.versions[0].at - written[0] < 1.0
    seen = [version for version in answer.versions if len(version.text) < 150]
    for earlier, later in itertools.pairwise(seen):
        assert later.at - written[len(earlier.text)] < 1.5


async def test_a_429_in_the_middle_of_a_long_reply_loses_no_part_of_it(scene: Scene) -> None:
    scene.server.faults.plant(POST, Throttle(retry_after=0.3), method="POST", skip=1, times=2)
    scene.service.script = say_all
    scene.ask("write")
    await scene.turns_done()
    assert [answer.text for answer in scene.answers()] == split(LONG)
    assert scene.service.shown == [[answer.id for answer in scene.answers()]]


async def test_a_part_that_never_arrives_is_not_among_those_that_were_shown(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cogs.delivery._LONGEST_PAUSE", 0.05)
    scene.server.faults.plant(POST, Status(status=503), method="POST", skip=1, times=9)
    scene.service.script = say_all
    scene.ask("write")
    await scene.turns_done(within=30)
    assert len(split(LONG)) > 2
    assert scene.service.shown == [[answer.id for answer in scene.answers()]]
    assert len(scene.answers()) == 1


async def test_no_answer_that_was_lost_on_its_way_doubles_a_part(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cogs.delivery._LONGEST_PAUSE", 0.05)
    for skip in range(len(split(LONG))):
        scene.server.faults.plant(POST, LostAnswer(), method="POST", skip=skip)
    scene.server.faults.plant(PATCH, LostAnswer(), method="PATCH")
    scene.service.script = say_all
    scene.ask("write")
    await scene.turns_done(within=30)
    assert [answer.text for answer in scene.answers()] == split(LONG)


async def test_a_notice_in_a_message_of_its_own_is_not_taken_for_the_reply(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cogs.delivery._LONGEST_PAUSE", 0.05)
    scene.server.faults.plant(POST, LostAnswer(), method="POST", times=2)

    async def script(stage: Stage) -> None:
        stage.say("x" * 1990)
        stage.reply.notices.append("The answer was cut off.")

    scene.service.script = script
    scene.ask("write")
    await scene.turns_done(within=20)
    assert [answer.text for answer in scene.answers()] == ["x" * 1990, "-# The answer was cut off."]


async def test_a_question_that_cannot_be_replied_to_gets_a_plain_message(scene: Scene) -> None:
    scene.server.faults.plant(POST, Status(status=400, code=50035), method="POST")
    scene.ask("hello")
    await scene.turns_done()
    assert [(answer.text, answer.reply_to) for answer in scene.answers()] == [("Hello.", None)]


async def test_a_thread_that_is_locked_is_told_by_another_way_once(scene: Scene) -> None:
    scene.server.faults.plant(PATCH, Status(status=403, code=160005), method="PATCH")

    async def script(stage: Stage) -> None:
        await stage.stream("word " * 100, seconds=8.0)

    scene.service.script = script
    scene.ask("go on")
    direct = scene.server.build.direct_messages(scene.alice)
    told = await scene.server.wait_for_message(direct, lambda _: True)
    await scene.turns_done(within=3)
    assert "the thread is locked" in told.text
    assert len(scene.server.messages(direct)) == 1
    assert scene.service.cancelled == 1


async def test_a_button_is_acknowledged_before_anything_is_asked_for(scene: Scene) -> None:
    scene.ask("hello")
    await scene.turns_done()
    (answer,) = scene.answers()
    scene.server.faults.plant(GET, Delay(seconds=1.0), method="GET")
    since = scene.server.journal.now()
    used = scene.server.driver.press(scene.alice, answer, "Regenerate")
    await scene.server.driver.acknowledged(used)
    assert scene.server.journal.now() - since < 0.5
    await scene.turns_done(2)
    assert labels(answer) == ["Regenerate", "Delete"]


async def test_an_answer_outlives_the_token_of_the_button_that_asked_for_it(scene: Scene) -> None:
    scene.ask("hello")
    await scene.turns_done()
    (answer,) = scene.answers()
    scene.server.limits.interaction_token = 0.5

    async def script(stage: Stage) -> None:
        await stage.stream("word " * 30, seconds=1.2)

    scene.service.script = script
    scene.server.driver.press(scene.alice, answer, "Regenerate")
    await scene.turns_done(2)
    assert answer.text == ("word " * 30).strip()
    assert scene.server.journal.of("rest", status=401) == []


async def test_a_refused_token_of_a_button_is_not_taken_for_the_bots_own(scene: Scene) -> None:
    scene.ask("hello")
    await scene.turns_done()
    (answer,) = scene.answers()
    scene.server.faults.plant("/webhooks/", Status(status=401, code=50027))
    used = scene.server.driver.press(scene.alice, answer, "Regenerate")
    await scene.server.journal.until(lambda: bool(used.followups), timeout=5)
    assert used.followups[-1].text == BROKEN
    scene.ask("still there?")
    await scene.turns_done(2)
    assert len(scene.answers()) == 2


async def test_commands_are_put_all_at_once_and_none_is_taken_away_first(
    quiet_scene: Scene,
) -> None:
    scene = quiet_scene
    scene.server.limits.identify_window = 0.0
    await scene.start()
    await scene.stop()
    registered = dict(scene.server.world.commands[None])
    top = [each for each in registered.values() if each.kind is CommandKind.CHAT]
    assert 0 < len(top) <= 100  # Discord refuses them all where there is one more
    (key,) = scene.meta.values
    scene.meta.values[key] = "what an older version registered"
    scene.server.faults.plant("/commands", Throttle(retry_after=0.5), method="PUT", times=2)
    began, position = scene.server.journal.now(), len(scene.server.journal)
    await scene.start()
    await scene.server.wait_for(lambda record: record.kind == "commands", since=position)
    # Members keep the commands that they have as long as Discord has the bot wait.
    rest = [each for each in scene.server.journal.since(position) if each.kind == "rest"]
    assert {each["method"] for each in rest if "/commands" in each["path"]} == {"PUT"}
    assert scene.server.journal.now() - began >= 0.5
    assert {each.name for each in scene.server.world.commands[None].values()} == {
        each.name for each in registered.values()
    }
    assert set(scene.server.world.commands[None]) == set(registered)
    async with asyncio.timeout(5):
        while scene.meta.values[key] == "what an older version registered":
            await asyncio.sleep(0.01)
    await scene.stop()


async def test_an_empty_answer_says_so_and_offers_another_attempt(scene: Scene) -> None:
    async def script(stage: Stage) -> None:
        if len(scene.service.stages) > 1:
            stage.say("Now I know.")

    scene.service.script = script
    scene.ask("hello")
    await scene.turns_done()
    (answer,) = scene.answers()
    assert answer.text == "-# There is no answer. Asking again may help."
    await scene.server.driver.acknowledged(
        scene.server.driver.press(scene.alice, answer, "Regenerate")
    )
    await scene.turns_done(2)
    assert answer.text == "Now I know."


async def test_a_tool_that_fails_after_the_words_leaves_them_as_they_are(scene: Scene) -> None:
    async def script(stage: Stage) -> None:
        stage.say("The answer.")
        await asyncio.sleep(0.6)
        run = stage.begin_tool("remember")
        await asyncio.sleep(0.3)
        stage.end_tool(run)
        stage.reply.notices.append("The tool failed.")

    scene.service.script = script
    scene.ask("hello")
    await scene.turns_done()
    (answer,) = scene.answers()
    assert all(version.text.startswith("The answer.") for version in answer.versions)
    assert answer.text == "The answer.\n-# The tool failed.\n-# used remember"


async def test_the_line_about_a_tool_gives_way_where_a_message_is_full(scene: Scene) -> None:
    async def script(stage: Stage) -> None:
        stage.say("x" * 1995)
        await asyncio.sleep(0.6)
        run = stage.begin_tool("recall")
        await asyncio.sleep(0.4)
        stage.end_tool(run)

    scene.service.script = script
    scene.ask("hello")
    await scene.turns_done()
    first, *others = scene.answers()
    assert texts(first) == ["x" * 1995]
    assert [other.text for other in others] == ["-# used recall"]


def texts(message: Message) -> list[str]:
    return [text for text, _ in itertools.groupby(version.text for version in message.versions)]
