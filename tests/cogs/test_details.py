"""What a reply shows of its tools: a line, a button behind it, and their files."""

import asyncio
from pathlib import Path

from cogs.details import GONE, UNREADABLE
from tests.cogs.conftest import Scene
from tests.cogs.scripted import Stage, labels
from tests.cogs.town import OPERATORS_KEY, Town, shown, town
from tests.loopback.discord_server import Message, Permission, User
from tests.loopback.endpoint import Step
from tools.registry import Registry, ToolContext, ToolFile, tool
from tools.toolset import FixedTools, offering

PICTURE = ToolFile(name="sea.png", data=b"a picture", description="the sea")


@tool(read_only=True)
async def tell(context: ToolContext, *, what: str) -> str:
    """Tell."""
    return f"`<@1>` {what} {OPERATORS_KEY}"


def details_of(here: Town, user: User, message: Message) -> "asyncio.Task[Message]":
    async def read() -> Message:
        used = here.server.driver.press(user, message, "Details")
        return shown(await here.server.driver.answered(used))

    return asyncio.create_task(read())


async def reply(here: Town) -> Message:
    here.operators.add(Step(text='tell({"what":"**hi** @everyone"})'), Step(text="Done."))
    asked = here.ask(here.home_channel, here.alice, "Tell!")
    answer = await here.server.wait_for_message(
        here.home_channel, lambda m: m.reply_to is asked and "used tell" in m.text
    )
    await here.until(lambda: "Details" in labels(answer))
    return answer


async def test_members_read_what_a_tool_did_without_effect_or_secrets(tmp_path: Path) -> None:
    async with town(tmp_path, toolset=FixedTools(offering(Registry(tell)))) as here:
        answer = await reply(here)
        assert answer.text == "Done.\n-# used tell"
        await here.store.meta.get("settled")  # the turn is being stored meanwhile
        told = await details_of(here, here.alice, answer)
        lines = told.text.splitlines()
        assert lines[0].startswith("`tell` **ok**, 0.")
        assert lines[1] == '-# `{"what":"**hi** @everyone"}`'
        assert lines[2] == "> `'<@1>' **hi** @everyone [redacted]`"
        # The line about tools is no part of the conversation.
        here.operators.add(Step(text="Yes."))
        await here.answer(here.ask(here.home_channel, here.alice, "Sure?"), contains="Yes.")
        assert "used tell" not in str(here.operators.received[-1].body)


@tool(read_only=True)
async def recite(context: ToolContext, *, what: str) -> str:
    """Recite."""
    return "".join(f"line {number} of it, " for number in range(160))


async def test_what_is_longer_than_a_field_of_an_embed_is_there_whole(tmp_path: Path) -> None:
    async with town(tmp_path, toolset=FixedTools(offering(Registry(recite)))) as here:
        long = "words " * 300
        call = f'recite({{"what":"{long.strip()}"}})'
        here.operators.add(Step(text=call), Step(text="Done."))
        asked = here.ask(here.home_channel, here.alice, "Recite!")
        answer = await here.server.wait_for_message(
            here.home_channel, lambda m: m.reply_to is asked and "used recite" in m.text
        )
        await here.until(lambda: "Details" in labels(answer))
        told = await details_of(here, here.alice, answer)
        assert len(told.text) <= 2000
        assert "…" in told.text
        (whole,) = told.attachments
        assert long.strip() in whole.data.decode()
        assert "line 159 of it" in whole.data.decode()
        # What is this long never stands in a field, which holds 1024 characters.
        sent = [
            message
            for channel in here.server.world.channels.values()
            for message in here.server.messages(channel)
        ]
        assert all("fields" not in embed for message in (*sent, told) for embed in message.embeds)


async def test_who_cannot_read_the_channel_learns_nothing(tmp_path: Path) -> None:
    async with town(tmp_path, toolset=FixedTools(offering(Registry(tell)))) as here:
        answer = await reply(here)
        here.server.build.overwrite(
            here.home_channel, here.alice, deny=Permission.READ_MESSAGE_HISTORY
        )
        assert (await details_of(here, here.alice, answer)).text == UNREADABLE


async def test_a_button_outlives_its_record_and_says_so(scene: Scene) -> None:
    async def script(stage: Stage) -> None:
        stage.end_tool(stage.begin_tool("roll_dice"))
        stage.say("A six.")

    scene.service.script = script
    scene.ask("roll")
    await scene.turns_done()
    (answer,) = scene.answers()
    used = scene.server.driver.press(scene.bob, answer, "Details")
    assert shown(await scene.server.driver.answered(used)).text == GONE


async def test_a_reply_without_tools_has_no_details(scene: Scene) -> None:
    scene.ask("hello")
    await scene.turns_done()
    (answer,) = scene.answers()
    assert (answer.text, labels(answer)) == ("Hello.", ["Regenerate", "Delete"])


async def test_files_follow_the_words(scene: Scene) -> None:
    async def script(stage: Stage) -> None:
        stage.reply.files += [PICTURE] * 11
        stage.say("The sea.")

    scene.service.script = script
    scene.ask("draw")
    await scene.turns_done()
    words, first, second = scene.answers()
    assert words.text == "The sea."
    assert [len(message.attachments) for message in (first, second)] == [10, 1]
    (file,) = second.attachments
    assert (file.name, file.data, file.description) == ("sea.png", b"a picture", "the sea")
    assert scene.service.shown == [[words.id, first.id, second.id]]


async def test_a_file_alone_answers_the_question(scene: Scene) -> None:
    async def script(stage: Stage) -> None:
        stage.reply.files.append(PICTURE)
        stage.reply.silent = True

    scene.service.script = script
    asked = scene.ask("draw")
    await scene.turns_done()
    (answer,) = scene.answers()
    assert (answer.reply_to, len(answer.attachments)) == (asked, 1)


async def test_files_that_may_not_be_sent_are_told_in_words(scene: Scene) -> None:
    async def script(stage: Stage) -> None:
        stage.reply.files += [PICTURE, ToolFile(name="big.bin", data=bytes(11 * 1024 * 1024))]
        stage.say("The sea.")

    scene.service.script = script
    scene.ask("draw")
    await scene.turns_done()
    words, pictures = scene.answers()
    assert words.text.endswith(
        "-# A file of this answer is larger than the 10 MiB that may be sent here."
    )
    assert [file.name for file in pictures.attachments] == ["sea.png"]
    scene.server.build.overwrite(scene.channel, scene.server.bot, deny=Permission.ATTACH_FILES)
    scene.ask("again")
    await scene.turns_done(2)
    assert "I lack the permission Attach Files here" in scene.answers()[-1].text
    assert not scene.answers()[-1].attachments


async def test_the_line_tells_how_long_a_tool_has_been_running(scene: Scene) -> None:
    async def script(stage: Stage) -> None:
        run = stage.begin_tool("web_search")
        run.started = asyncio.get_running_loop().time() - 4.0
        stage.changed()
        await asyncio.sleep(0.8)
        stage.end_tool(run)
        stage.say("Found.")

    scene.service.script = script
    scene.ask("search")
    await scene.turns_done()
    (answer,) = scene.answers()
    assert any(f"-# running web_search… {n} s" in v.text for n in (4, 5) for v in answer.versions)
    assert answer.text == "Found.\n-# used web_search"
