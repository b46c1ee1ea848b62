"""What a member sees below a question while nothing comes."""

import asyncio
import itertools

from chat.ending import RESTARTING
from tests.cogs.conftest import Scene
from tests.cogs.scripted import Stage
from tests.loopback.discord_server import Message

READING = "the model is loading or reading"


def seen(message: Message) -> list[str]:
    """The texts that stood there one after the other; buttons may have changed meanwhile."""
    return [text for text, _ in itertools.groupby(version.text for version in message.versions)]


async def test_what_is_awaited_shows_as_subtext_until_the_first_words(scene: Scene) -> None:
    async def script(stage: Stage) -> None:
        for what in ("you are second in line", "you are next in line", READING):
            stage.reply.waits_for = what
            stage.changed()
            await asyncio.sleep(0.6)
        stage.reply.waits_for = ""
        stage.say("Here you are.")
        await asyncio.sleep(0.6)

    scene.service.script = script
    question = scene.ask("how long?")
    await scene.turns_done()
    (answer,) = scene.answers()
    assert seen(answer) == [
        "-# you are second in line",
        "-# you are next in line",
        f"-# {READING}",
        "Here you are.",
    ]
    assert answer.reply_to is question


async def test_the_line_below_a_question_never_goes_back(scene: Scene) -> None:
    async def script(stage: Stage) -> None:
        async def next_is(**now: object) -> None:
            for name, value in now.items():
                setattr(stage.reply, name, value)
            stage.changed()
            await asyncio.sleep(0.6)

        await next_is(state="waiting", waits_for="you are next in line")
        await next_is(state="thinking", waits_for="", unheard=True)
        await next_is(waits_for=READING)
        await next_is(waits_for="", unheard=False)
        stage.say("Here you are.")

    scene.service.script = script
    scene.ask("how long?")
    await scene.turns_done()
    (answer,) = scene.answers()
    assert seen(answer) == [
        "-# you are next in line",
        f"-# {READING}",
        "-# thinking",
        "Here you are.",
    ]


async def test_what_is_awaited_for_a_moment_only_is_never_posted(scene: Scene) -> None:
    async def script(stage: Stage) -> None:
        stage.reply.waits_for = "you are next in line"
        stage.changed()
        await asyncio.sleep(0.1)
        stage.reply.waits_for = ""
        stage.say("Here you are.")

    scene.service.script = script
    scene.ask("how long?")
    await scene.turns_done()
    (answer,) = scene.answers()
    assert seen(answer) == ["Here you are."]


async def test_after_words_it_stands_below_them(scene: Scene) -> None:
    async def script(stage: Stage) -> None:
        stage.say("Let me look.")
        stage.end_tool(stage.begin_tool("recall"))
        stage.reply.waits_for = READING
        stage.changed()
        await asyncio.sleep(0.8)
        stage.reply.waits_for = ""
        stage.say("Found.")

    scene.service.script = script
    scene.ask("look")
    await scene.turns_done()
    (answer,) = scene.answers()
    assert f"Let me look.\n-# {READING}" in seen(answer)
    assert answer.text == "Let me look.\n\nFound.\n-# used recall"


async def test_a_long_wait_in_a_channel_is_told_and_goes_over_into_the_answer(
    quiet_scene: Scene,
) -> None:
    release = asyncio.Event()

    async def script(stage: Stage) -> None:
        if stage.request.message.text == "slow":
            await release.wait()
        stage.say(f"Answer to {stage.request.message.text}.")

    await quiet_scene.start(tell_after=0.3)
    quiet_scene.service.script = script
    first = quiet_scene.ask("slow")
    await quiet_scene.server.wait_for(lambda record: record.kind == "typing")
    second = quiet_scene.ask("quick", user=quiet_scene.bob)
    told = await quiet_scene.server.wait_for_message(quiet_scene.channel, lambda _: True)
    assert (told.text, told.reply_to) == ("-# you are next in this channel", second)
    release.set()
    await quiet_scene.turns_done(2)
    assert {(one.text, one.reply_to) for one in quiet_scene.answers()} == {
        ("Answer to slow.", first),
        ("Answer to quick.", second),
    }
    assert told.text == "Answer to quick."


async def test_a_question_deleted_while_it_waits_is_not_answered(scene: Scene) -> None:
    release = asyncio.Event()

    async def script(stage: Stage) -> None:
        await release.wait()
        stage.say("Here you are.")

    scene.service.script = script
    scene.ask("one")
    await scene.server.wait_for(lambda record: record.kind == "typing")
    gone, kept = scene.ask("two"), scene.ask("three")
    await asyncio.sleep(0.2)
    scene.server.driver.delete(gone)
    await asyncio.sleep(0.2)
    release.set()
    await scene.turns_done(2)
    assert [stage.request.message.text for stage in scene.service.stages] == ["one", "three"]
    assert [answer.text for answer in scene.answers()] == ["Here you are."] * 2
    assert scene.answers()[-1].reply_to is kept


async def test_those_who_wait_in_a_channel_are_told_of_a_stop(scene: Scene) -> None:
    async def script(stage: Stage) -> None:
        await stage.stream("one two three", seconds=1.5, pieces=13)

    scene.service.script = script
    scene.ask("count")
    await scene.server.wait_for_message(scene.channel, lambda _: True)
    waiting = [scene.ask("two"), scene.ask("three", user=scene.bob)]
    await asyncio.sleep(0.2)
    await scene.stop()
    first, *others = scene.answers()
    assert first.text == "one two three"
    assert [one.text for one in others] == [f"-# {RESTARTING}"] * 2
    assert {one.reply_to for one in others} == set(waiting)
    assert len(scene.service.stages) == 1
