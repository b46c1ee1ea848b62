"""The buttons under a reply, pressed on a loopback Discord."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from chat.answering import Answering
from chat.ending import CUT_BY_LENGTH, STOPPED
from chat.quotas import Asker, Limit, Limits
from chat.reply import ReplyStyle
from cogs.admitting import OPTED_OUT, SILENT_HERE
from cogs.details import NOT_SHOWN
from cogs.pressing import ENDED, FORGED, NOT_YOURS, NOT_YOURS_TO_END, QUESTION_GONE
from tests.cogs.conftest import Scene
from tests.cogs.scripted import Stage, labels
from tests.cogs.town import Town, shown, town
from tests.loopback.discord_server import Message, Permission, User
from tests.loopback.endpoint import Step


async def told(scene: Scene, user: User, message: Message, button: str) -> str:
    """What a press is answered with, to the presser alone."""
    used = scene.server.driver.press(user, message, button)
    return shown(await scene.server.driver.answered(used)).text


async def press(here: Scene | Town, user: User, message: Message, button: str) -> None:
    await here.server.driver.acknowledged(here.server.driver.press(user, message, button))


async def endless(stage: Stage) -> None:
    await stage.stream("word " * 400, seconds=60.0, pieces=400)


def moderator(scene: Scene) -> User:
    mods = scene.server.build.role(scene.guild, "mods", permissions=Permission.MANAGE_MESSAGES)
    scene.guild.members[scene.bob.id].roles.append(mods.id)
    return scene.bob


async def settled(here: Town, answer: Message) -> None:
    """Until the reply has its last buttons, and its turn is stored."""
    await here.until(lambda: "Delete" in labels(answer))
    async with asyncio.timeout(5):
        while answer.id not in await here.store.turns.by_messages([answer.id]):
            await asyncio.sleep(0.02)


async def answered(here: Town, text: str) -> tuple[Message, Message]:
    """A question and the finished reply to it."""
    asked = here.ask(here.home_channel, here.alice, text)
    reply = await here.server.wait_for_message(
        here.home_channel, lambda m: m.reply_to is asked and bool(m.text)
    )
    await settled(here, reply)
    return asked, reply


async def test_stop_stands_under_the_first_words_and_ends_the_turn(scene: Scene) -> None:
    scene.service.script = endless
    scene.ask("go on")
    answer = await scene.server.wait_for_message(scene.channel, lambda _: True)
    assert labels(answer) == ["Stop"]
    assert await told(scene, scene.bob, answer, "Stop") == NOT_YOURS_TO_END
    await press(scene, scene.alice, answer, "Stop")
    await scene.turns_done(within=3)
    assert scene.service.cancelled == 1
    assert answer.text.startswith("word word")
    assert answer.text.endswith(f"\n-# {STOPPED}")
    assert labels(answer) == ["Regenerate", "Delete"]


async def test_moderators_may_stop_and_delete_but_not_ask_in_anothers_name(scene: Scene) -> None:
    bob = moderator(scene)
    scene.service.script = endless
    scene.ask("go on")
    answer = await scene.server.wait_for_message(scene.channel, lambda _: True)
    await press(scene, bob, answer, "Stop")
    await scene.turns_done(within=3)
    assert await told(scene, bob, answer, "Regenerate") == NOT_YOURS
    await press(scene, bob, answer, "Delete")
    await scene.server.journal.until(lambda: scene.answers() == [], timeout=3)


async def test_stop_moves_along_with_the_last_message_of_a_long_reply(scene: Scene) -> None:
    async def script(stage: Stage) -> None:
        stage.say("a" * 1990)
        await asyncio.sleep(0.7)
        stage.say("\n" + "b" * 1000)
        await asyncio.sleep(0.7)
        assert [labels(answer) for answer in scene.answers()] == [[], ["Stop"]]

    scene.service.script = script
    scene.ask("long")
    await scene.turns_done()
    assert [labels(answer) for answer in scene.answers()] == [[], ["Regenerate", "Delete"]]


async def test_delete_removes_the_whole_reply(tmp_path: Path) -> None:
    async with town(tmp_path) as here:
        here.operators.add(Step(text="para one\n\n" + "x" * 2500, split=500))
        asked = here.ask(here.home_channel, here.alice, "Long!")
        messages = here.server.messages
        await here.until(lambda: "Delete" in labels(messages(here.home_channel)[-1]))
        last = messages(here.home_channel)[-1]
        await settled(here, last)
        assert len(messages(here.home_channel)) > 2
        await press(here, here.alice, last, "Delete")
        await here.until(lambda: messages(here.home_channel) == [asked])
        assert here.server.violations() == []


async def test_regenerate_replaces_the_answer_where_it_stands(tmp_path: Path) -> None:
    async with town(tmp_path) as here:
        here.operators.add(Step(text="A sparrow."))
        _, reply = await answered(here, "Which bird?")
        here.operators.add(Step(text="A wren, of course.", pause=0.1))
        await press(here, here.alice, reply, "Regenerate")
        await here.until(lambda: labels(reply) == ["Stop"])
        await here.until(lambda: reply.text == "A wren, of course.")
        await settled(here, reply)
        first, again = (request.body["messages"] for request in here.operators.received[-2:])
        assert [m["role"] for m in again] == [m["role"] for m in first]
        assert "A sparrow" not in str(again)
        # What was replaced is no part of the conversation any more.
        here.operators.add(Step(text="Yes."))
        await answered(here, "Sure?")
        sent = str(here.operators.received[-1].body["messages"])
        assert "A wren, of course." in sent
        assert "A sparrow" not in sent
        assert len(here.server.messages(here.home_channel)) == 4
        assert here.server.violations() == []


async def test_an_answer_stays_if_no_other_comes(tmp_path: Path) -> None:
    async with town(tmp_path) as here:
        here.operators.add(Step(text="A sparrow."))
        _, reply = await answered(here, "Which bird?")
        here.operators.add(Step(status=401, body={"error": {"message": "no"}}))
        await press(here, here.alice, reply, "Regenerate")
        await here.until(lambda: "-# " in reply.text and "Delete" in labels(reply))
        assert reply.text.startswith("A sparrow.\n-# ")
        found = await here.store.turns.by_messages([reply.id])
        assert "A sparrow." in str(found[reply.id].turns)


async def test_nothing_is_answered_anew_once_the_question_is_gone(scene: Scene) -> None:
    question = scene.ask("hello")
    await scene.turns_done()
    (answer,) = scene.answers()
    scene.server.driver.delete(question)
    used = scene.server.driver.press(scene.alice, answer, "Regenerate")
    await scene.server.journal.until(lambda: bool(used.followups), timeout=3)
    assert (answer.text, labels(answer)) == ("Hello.", ["Regenerate", "Delete"])
    assert used.followups[-1].text == QUESTION_GONE
    assert len(scene.service.stages) == 1


async def test_buttons_work_after_a_restart(scene: Scene) -> None:
    scene.ask("hello")
    await scene.turns_done()
    (answer,) = scene.answers()
    await scene.stop()
    await scene.start()

    async def script(stage: Stage) -> None:
        stage.say("Good day.")

    scene.service.script = script
    typed = len(scene.server.journal.of("typing"))
    await press(scene, scene.alice, answer, "Regenerate")
    await scene.turns_done(2)
    assert [one.text for one in scene.answers()] == ["Good day."]
    # Edits do not end the indicator, so it would stay for ten seconds.
    assert len(scene.server.journal.of("typing")) == typed


async def over_limit(here: Town) -> str:
    await here.desk.quotas.set_limits(here.home.id, Limits(member=Limit(hour=1)))
    async with asyncio.timeout(5):
        while not (await here.desk.quotas.judge(asker(here))).refusal:
            pass
    return "1 question an hour"


def asker(here: Town) -> Asker:
    return Asker(guild_id=here.home.id, channel_id=1, member_id=here.alice.id)


async def opted_out(here: Town) -> str:
    await here.desk.privacy.opt_out(here.home.id, here.alice.id)
    return OPTED_OUT


async def silenced(here: Town) -> str:
    denied = (here.home_channel.id,)
    await here.desk.answering.change(here.home.id, lambda now: replace(now, denied=denied))
    return SILENT_HERE


async def muted(here: Town) -> str:
    deny = Permission.SEND_MESSAGES
    here.server.build.overwrite(here.home_channel, here.server.bot, deny=deny)
    await asyncio.sleep(0.1)  # until the bot knows
    return "I cannot answer here: I lack Send Messages."


@pytest.mark.parametrize("hinder", [over_limit, opted_out, silenced, muted])
@pytest.mark.parametrize("button", ["Regenerate", "Continue"])
async def test_what_may_not_be_answered_leaves_the_buttons_and_tells_the_member(
    tmp_path: Path, hinder: Callable[[Town], Awaitable[str]], button: str
) -> None:
    async with town(tmp_path) as here:
        here.operators.add(Step(text="One, two,", finish="length"))
        _, reply = await answered(here, "Count!")
        row = labels(reply)
        assert button in row
        expected = await hinder(here)
        seen = len(here.server.messages(here.home_channel))
        for _ in range(2):  # the second time it is told as well
            used = here.server.driver.press(here.alice, reply, button)
            await here.until(lambda used=used: bool(used.followups))
            assert expected in used.followups[0].text
            assert labels(reply) == row
        assert len(here.server.messages(here.home_channel)) == seen
        # Nothing was spent by it.
        await here.desk.quotas.set_limits(here.home.id, Limits())
        await here.desk.privacy.opt_in(here.home.id, here.alice.id)
        await here.desk.answering.change(here.home.id, lambda _: Answering())
        allow = Permission.SEND_MESSAGES
        here.server.build.overwrite(here.home_channel, here.server.bot, allow=allow)
        await asyncio.sleep(0.1)  # until the bot knows
        here.operators.add(Step(text="three."))
        await press(here, here.alice, reply, button)
        await here.until(lambda: "three." in here.server.messages(here.home_channel)[-1].text)


async def test_continue_goes_on_where_the_answer_was_cut(tmp_path: Path) -> None:
    async with town(tmp_path) as here:
        here.operators.add(Step(text="One, two, three,", finish="length"))
        _, cut = await answered(here, "Count!")
        assert cut.text == f"One, two, three,\n-# {CUT_BY_LENGTH}"
        assert labels(cut) == ["Regenerate", "Continue", "Delete"]
        here.operators.add(Step(text="four, five."))
        await press(here, here.alice, cut, "Continue")
        await here.until(lambda: labels(cut) == ["Delete"])
        rest = await here.server.wait_for_message(
            here.home_channel, lambda m: m.reply_to is cut and bool(m.text)
        )
        await settled(here, rest)
        assert (rest.text, labels(rest)) == ("four, five.", ["Delete"])
        sent = here.operators.received[-1].body["messages"]
        assert [message["role"] for message in sent[-2:]] == ["assistant", "user"]
        assert "One, two, three," in sent[-2]["content"]
        assert 'It ends with: "One, two, three,"' in sent[-1]["content"]
        here.operators.add(Step(text="Done."))
        await answered(here, "And?")
        later = here.operators.received[-1].body["messages"]
        assert "four, five." in str(later)
        assert later[-1]["role"] == "user"
        assert here.server.violations() == []


async def test_who_presses_continue_twice_gets_one_answer(tmp_path: Path) -> None:
    async with town(tmp_path) as here:
        here.operators.add(Step(text="One, two,", finish="length"), Step(text="three."))
        _, cut = await answered(here, "Count!")
        presses = [here.server.driver.press(here.alice, cut, "Continue") for _ in range(2)]
        for each in presses:
            await here.server.driver.acknowledged(each)
        rest = await here.server.wait_for_message(
            here.home_channel, lambda m: m.reply_to is cut and bool(m.text)
        )
        await settled(here, rest)
        assert len(here.server.messages(here.home_channel)) == 3
        assert len(here.operators.received) == 2


async def test_only_the_newest_reply_to_a_member_offers_choices(scene: Scene) -> None:
    scene.ask("hello")
    await scene.turns_done()
    scene.ask("hello", user=scene.bob)
    await scene.turns_done(2)
    scene.ask("again")
    await scene.turns_done(3)
    first, bobs, newest = scene.answers()
    await scene.server.journal.until(lambda: labels(first) == ["Delete"], timeout=3)
    assert labels(bobs) == labels(newest) == ["Regenerate", "Delete"]


async def test_words_that_name_a_role_ping_nobody_when_their_buttons_go(tmp_path: Path) -> None:
    async with town(tmp_path) as here:
        role = here.server.build.role(here.home, "crew")
        here.operators.add(Step(text=f"<@&{role.id}> @everyone hello"), Step(text="Hello again."))
        await here.answer(here.ask(here.home_channel, here.alice, "hello"), contains="hello")
        first = here.server.messages(here.home_channel)[-1]
        await here.answer(here.ask(here.home_channel, here.alice, "again"), contains="again.")
        await here.until(lambda: labels(first) == ["Delete"])
        assert first.pings.roles == frozenset()


async def test_a_button_that_does_not_stand_there_is_refused(scene: Scene) -> None:
    scene.ask("hello")
    await scene.turns_done()
    (answer,) = scene.answers()
    (row,) = answer.components
    real = row["components"][0]["custom_id"]
    forged = scene.ask("not the bot's")
    await scene.turns_done(2)
    forged.components = [{**row, "components": [{**row["components"][0], "custom_id": real}]}]
    assert await told(scene, scene.alice, forged, "Regenerate") == FORGED
    assert len(scene.service.stages) == 2


async def test_stop_under_a_reply_that_has_ended_says_so(scene: Scene) -> None:
    scene.ask("hello")
    await scene.turns_done()
    (answer,) = scene.answers()
    (row,) = answer.components
    stop = {**row["components"][0], "label": "Stop"}
    stop["custom_id"] = stop["custom_id"].replace("again", "stop")
    answer.components = [{**row, "components": [stop]}]  # as a member's window may still show it
    assert await told(scene, scene.alice, answer, "Stop") == ENDED


@pytest.mark.parametrize(("yields", "cancelled"), [(True, 1), (False, 0)])
async def test_a_follow_up_ends_the_answer_under_way_or_waits_for_it(
    scene: Scene, yields: bool, cancelled: int
) -> None:
    async def script(stage: Stage) -> None:
        stage.reply.style = ReplyStyle(yields=yields)
        if len(scene.service.stages) == 1:
            await stage.stream("word " * 40, seconds=2.0)
        else:
            stage.say("Right.")

    scene.service.script = script
    scene.ask("tell me")
    await scene.server.wait_for_message(scene.channel, lambda _: True)
    scene.ask("no, something else", user=scene.bob)
    scene.ask("no, that other thing")
    await scene.turns_done(3)
    assert scene.service.cancelled == cancelled
    texts = [answer.text for answer in scene.answers()]
    assert texts[0].endswith(f"-# {STOPPED}") is yields
    assert texts[1:] == ["Right.", "Right."]


async def test_a_very_long_answer_comes_whole_as_a_file(scene: Scene) -> None:
    text = "\n\n".join(f"Paragraph {number}. " + "lorem ipsum " * 20 for number in range(40))

    async def script(stage: Stage) -> None:
        stage.reply.style = ReplyStyle(most_messages=2)
        await stage.stream(text, seconds=1.0)

    scene.service.script = script
    scene.ask("write")
    await scene.turns_done()
    first, second, *others = scene.answers()
    assert first.text.startswith("Paragraph 0.")
    notice, file = others[0], others[-1]
    assert "The whole answer is in the file answer.md." in f"{second.text}{notice.text}"
    assert [attached.data for attached in file.attachments] == [text.strip().encode()]
    scene.server.build.overwrite(scene.channel, scene.server.bot, deny=Permission.ATTACH_FILES)
    await asyncio.sleep(0.1)
    scene.ask("again")
    await scene.turns_done(2)
    later = scene.answers()[2 + len(others) :]
    assert "Paragraph 39." in later[-1].text


async def test_members_read_the_thinking_where_admins_allow_it(tmp_path: Path) -> None:
    async with town(tmp_path) as here:
        here.operators.add(Step(reasoning="Birds are small. ", text="A wren."))
        _, hidden = await answered(here, "Which bird?")
        assert labels(hidden) == ["Regenerate", "Delete"]
        await here.store.settings.put(here.home.id, "big", "show_thinking", "on")
        here.operators.add(Step(reasoning="Wrens are **small**.", text="A wren."))
        _, reply = await answered(here, "Which bird?")
        assert labels(reply) == ["Show thinking", "Regenerate", "Delete"]
        used = here.server.driver.press(here.alice, reply, "Show thinking")
        answer = shown(await here.server.driver.answered(used))
        assert answer.text == "> Wrens are **small**."


async def test_thinking_that_is_not_kept_says_so(scene: Scene) -> None:
    async def script(stage: Stage) -> None:
        stage.reply.style = ReplyStyle(shows_thinking=True)
        stage.reply.has_thought = True
        stage.say("A wren.")

    scene.service.script = script
    scene.ask("bird?")
    await scene.turns_done()
    (answer,) = scene.answers()
    assert await told(scene, scene.bob, answer, "Show thinking") == NOT_SHOWN


async def test_buttons_work_in_direct_messages(scene: Scene) -> None:
    direct = scene.server.build.direct_messages(scene.alice)
    asked = scene.server.driver.say(direct, scene.alice, "hello")
    await scene.turns_done()
    (answer,) = scene.answers(direct)
    await press(scene, scene.alice, answer, "Regenerate")
    await scene.turns_done(2)
    await scene.server.journal.until(lambda: "Delete" in labels(answer), timeout=3)
    await press(scene, scene.alice, answer, "Delete")
    await scene.server.journal.until(lambda: scene.server.messages(direct) == [asked], timeout=3)
