"""Asking about a message from its menu, over real sockets."""

import asyncio
import itertools
import re
from pathlib import Path

import pytest

from chat.ending import STOPPED
from chat.quotas import Limit, Limits
from chat.reply import ReplyStyle
from cogs import whispering
from cogs.admitting import OPTED_OUT
from cogs.asking import NAME
from cogs.tables import readable
from cogs.tree import BROKEN
from tests.cogs.conftest import Scene
from tests.cogs.scripted import Stage, labels
from tests.cogs.town import Town, shown, town
from tests.loopback.discord_server import Interaction, Message, Permission, User
from tests.loopback.discord_server.faults import Status
from tests.loopback.endpoint import Step
from tools.registry import Registry, ToolContext, ToolFile, ToolOutput, tool
from tools.toolset import FixedTools, offering

DRAWN = 11


@tool(read_only=True)
async def draw(context: ToolContext) -> ToolOutput:
    """Draw."""
    return ToolOutput(text="drawn", files=(ToolFile(name="sea.png", data=b"a picture"),) * DRAWN)


async def asked(here: Town, user: User, about: Message, text: str, who: str) -> Interaction:
    opened = await here.server.driver.answered(here.server.driver.use_on(user, about, NAME))
    values = {"question": text, "who": [who]}
    sent = here.server.driver.submit(user, opened, values)
    return await here.server.driver.answered(sent)


async def test_everyone_reads_the_answer_below_the_message(tmp_path: Path) -> None:
    async with town(tmp_path) as here:
        say = here.server.driver.say
        about = say(here.home_channel, here.operator, "The kettle\nis a teapot.")
        say(here.home_channel, here.operator, "Anyway.")
        here.operators.add(Step(text="It is not."))
        used = await asked(here, here.alice, about, "Is that so?", "here")
        assert "I answer below that message" in shown(used).text
        answer = await here.server.wait_for_message(
            here.home_channel, lambda m: m.reply_to is about and "It is not." in m.text
        )
        assert not answer.ephemeral
        last = here.operators.received[-1].messages[-1]["content"]
        assert '[in reply to Owner: "The kettle is a teapot."]\nIs that so?\n[from Alice]' in last
        await here.until(lambda: bool(answer.components))
        async with asyncio.timeout(5):  # it is kept once it is shown
            while not (stored := await here.store.turns.by_messages([answer.id])):
                await asyncio.sleep(0.01)
        assert stored[answer.id].member_id == here.alice.id
        here.server.driver.press(here.alice, answer, "Delete")
        await here.until(lambda: answer.deleted)


async def test_a_private_answer_is_in_no_channel_and_no_later_prompt(tmp_path: Path) -> None:
    async with town(tmp_path) as here:
        about = here.server.driver.say(here.home_channel, here.operator, "Hm.")
        long = "word " * 600
        here.operators.add(Step(text=f"Psst. {long}", split=500))
        used = await asked(here, here.alice, about, "What does that mean?", "alone")
        await here.until(lambda: bool(used.followups) and "Psst." in shown(used).text)
        assert all(message.ephemeral for message in used.followups)
        assert here.server.messages(here.home_channel) == [about]
        here.operators.add(Step(text="Hello."))
        await here.answer(here.ask(here.home_channel, here.alice, "Hi"), contains="Hello.")
        assert "Psst" not in here.operators.received[-1].raw.decode()
        assert "What does that mean?" not in here.operators.received[-1].raw.decode()


@pytest.mark.parametrize("who", ["alone", "here"])
async def test_a_question_about_a_message_counts_like_any_other(tmp_path: Path, who: str) -> None:
    async with town(tmp_path) as here:
        await here.desk.quotas.set_limits(here.home.id, Limits(member=Limit(hour=1)))
        about = here.server.driver.say(here.home_channel, here.operator, "Hm.")
        here.operators.add(Step(text="Hello."))
        await here.answer(here.ask(here.home_channel, here.alice, "Hi"), contains="Hello.")
        used = await asked(here, here.alice, about, "What does that mean?", who)
        assert "1 question an hour" in shown(used).text
        assert here.server.messages(here.home_channel)[-1].text == "Hello."


async def test_a_private_answer_that_took_too_long_comes_by_direct_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(whispering, "ANSWERABLE_FOR", 0.0)
    async with town(tmp_path) as here:
        about = here.server.driver.say(here.home_channel, here.operator, "Hm.")
        here.operators.add(Step(text="At last."))
        opened = await here.server.driver.answered(
            here.server.driver.use_on(here.alice, about, NAME)
        )
        here.server.driver.submit(here.alice, opened, {"question": "Well?", "who": ["alone"]})
        mail = here.server.build.direct_messages(here.alice)
        await here.server.wait_for_message(mail, lambda m: m.text == "At last.")
        first, _ = here.server.messages(mail)
        assert "took longer" in first.text
        assert here.server.messages(here.home_channel) == [about]


@pytest.mark.parametrize("is_late", [False, True])
async def test_a_private_answer_brings_all_of_its_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_late: bool
) -> None:
    if is_late:
        monkeypatch.setattr(whispering, "ANSWERABLE_FOR", 0.0)
    async with town(tmp_path, toolset=FixedTools(offering(Registry(draw)))) as here:
        about = here.server.driver.say(here.home_channel, here.operator, "Hm.")
        here.operators.add(Step(text="draw({})"), Step(text="The sea."))
        opened = await here.server.driver.answered(
            here.server.driver.use_on(here.alice, about, NAME)
        )
        used = here.server.driver.submit(
            here.alice, opened, {"question": "Draw?", "who": ["alone"]}
        )
        mail = here.server.build.direct_messages(here.alice)

        def files() -> list[int]:
            sent = here.server.messages(mail) if is_late else used.followups
            return [len(message.attachments) for message in sent if message.attachments]

        await here.until(lambda: sum(files()) == DRAWN)
        assert files() == [10, 1]
        assert here.server.messages(here.home_channel) == [about]


async def test_what_stands_in_the_way_is_told_to_the_asker(tmp_path: Path) -> None:
    async with town(tmp_path) as here:
        driver, privacy = here.server.driver, here.desk.privacy
        about = driver.say(here.home_channel, here.operator, "Hm.")

        async def refusal() -> str:
            return shown(await driver.answered(driver.use_on(here.alice, about, NAME))).text

        await privacy.opt_out(here.home.id, here.alice.id)
        assert await refusal() == OPTED_OUT
        await privacy.opt_in(here.home.id, here.alice.id)
        await privacy.opt_out(here.home.id, here.operator.id)
        assert "author does not want" in await refusal()
        await privacy.opt_in(here.home.id, here.operator.id)
        other = here.server.build.channel(here.home, "other")
        await here.desk.admission.limit_channels(here.home.id, [other.id])
        assert "admins chose others" in await refusal()
        await here.desk.admission.limit_channels(here.home.id, [])
        here.server.build.overwrite(here.home_channel, here.alice, deny=Permission.SEND_MESSAGES)
        used = await asked(here, here.alice, about, "Well?", "here")
        assert "You may not write here" in shown(used).text


async def whispered(scene: Scene, text: str = "Well?") -> Interaction:
    """A question for the asker alone, as it was submitted."""
    about = scene.server.driver.say(scene.channel, scene.bob, "Hm.")
    driver = scene.server.driver
    opened = await driver.answered(driver.use_on(scene.alice, about, NAME))
    return driver.submit(scene.alice, opened, {"question": text, "who": ["alone"]})


TABLE = "Here:\n\n| a | b |\n|---|---|\n| 1 | 2 |"


async def test_a_private_answer_is_laid_out_like_any_other(scene: Scene) -> None:
    async def script(stage: Stage) -> None:
        stage.say(TABLE)

    scene.service.script = script
    used = await whispered(scene)
    await scene.turns_done()
    assert shown(used).text == readable(TABLE) != TABLE


async def test_a_private_answer_is_followed_past_its_first_message(quiet_scene: Scene) -> None:
    scene = quiet_scene
    await scene.start()
    written: list[float] = []

    async def script(stage: Stage) -> None:
        for number in range(200):
            written.append(scene.server.journal.now())
            stage.say(f"{number:04}" + "word " * 5 + ".\n")
            await asyncio.sleep(0.03)

    scene.service.script = script
    used = await whispered(scene)
    await scene.turns_done()
    messages = [shown(used), *used.followups]
    assert len(messages) == 4
    assert [labels(message) for message in messages] == [[]] * 4
    seen = sorted(
        (version.at, int(re.findall(r"(\d{4})word", version.text)[-1]))
        for message in messages
        for version in message.versions
        if "word" in version.text
    )
    for (_, newest), (later, _) in itertools.pairwise(seen):
        if newest + 1 < len(written):
            assert later - written[newest + 1] < 1.5


async def test_what_discord_refuses_for_good_is_not_tried_while_it_grows(scene: Scene) -> None:
    refused = Status(status=404, code=10008)
    scene.server.faults.plant("/messages/@original$", refused, method="PATCH")

    async def script(stage: Stage) -> None:
        stage.say("So far")
        await asyncio.sleep(2.5 * whispering.CADENCE)
        stage.say(" and to the end.")

    scene.service.script = script
    used = await whispered(scene)
    await scene.turns_done()
    told = [version.text for version in shown(used).versions if "So far" in version.text]
    assert told == ["So far and to the end."]


async def test_a_private_answer_can_be_stopped(scene: Scene) -> None:
    async def script(stage: Stage) -> None:
        await stage.stream("word " * 400, seconds=60.0, pieces=400)

    scene.service.script = script
    used = await whispered(scene)
    await scene.server.journal.until(
        lambda: used.original is not None and labels(used.original) == ["Stop"], timeout=5
    )
    driver = scene.server.driver
    await driver.acknowledged(driver.press(scene.alice, shown(used), "Stop"))
    await scene.turns_done()
    assert scene.service.cancelled == 1
    assert shown(used).text.endswith(f"\n-# {STOPPED}")
    assert labels(shown(used)) == []


async def test_a_private_answer_that_breaks_does_not_think_for_ever(scene: Scene) -> None:
    async def script(stage: Stage) -> None:
        stage.say("So far.")
        raise RuntimeError("a bug")

    scene.service.script = script
    used = await scene.server.driver.answered(await whispered(scene))
    await scene.server.journal.until(lambda: BROKEN in shown(used).text, timeout=5)


async def test_a_long_private_answer_comes_as_a_file(scene: Scene) -> None:
    async def script(stage: Stage) -> None:
        stage.reply.style = ReplyStyle(most_messages=1)
        stage.say("word " * 900)

    scene.service.script = script
    used = await whispered(scene)
    await scene.turns_done()
    assert "The whole answer is in the file" in "".join(
        message.text for message in (shown(used), *used.followups)
    )
    assert [len(message.attachments) for message in used.followups][-1] == 1


async def test_what_is_refused_privately_is_told_in_the_askers_language(scene: Scene) -> None:
    scene.alice.locale = "de"
    await scene.desk.quotas.set_limits(scene.guild.id, Limits(member=Limit(hour=1)))
    scene.ask("Hi")
    await scene.turns_done()
    used = await scene.server.driver.answered(await whispered(scene))
    assert "Du hast 1 Frage" in shown(used).text
