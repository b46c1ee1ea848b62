"""/config moderation on a loopback Discord: listed words, the log, images and thinking."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from chat.ending import LISTED_WORD
from chat.moderation import MODERATION, Moderation, is_moderation
from chat.personas import Texts
from chat.quotas import Limit, Limits
from chat.screening import MASK
from cogs import logbook
from cogs.details import NOT_FOR_YOU
from cogs.logbook import Entry, Logbook
from cogs.tree import NOT_ALLOWED
from tests.cogs.scripted import labels
from tests.cogs.town import Town, shown, town
from tests.loopback.discord_server import Channel, Message, Permission
from tests.loopback.endpoint import Step
from tools.registry import Registry, ToolContext, ToolOutput, tool
from tools.toolset import FixedTools, offering

LISTED = Moderation(words=("kraken", "deep sea"))


@tool(destructive=True)
async def wipe(context: ToolContext, *, what: str) -> ToolOutput:
    """Wipe something."""
    return ToolOutput(text="wiped")


async def set_to(here: Town, moderation: Moderation) -> None:
    await here.desk.moderation.change(here.home.id, lambda _: moderation)


def versions(here: Town, channel: Channel) -> list[str]:
    """Everything that any message of the bot has ever shown there."""
    return [
        version.text
        for message in here.server.messages(channel)
        if message.author is here.server.bot
        for version in message.versions
    ]


def entries(here: Town, channel: Channel) -> list[str]:
    return [
        f"{embed['title']}: {embed['description']}"
        for message in here.server.messages(channel)
        for embed in message.embeds
    ]


async def test_a_listed_word_is_never_seen_however_it_comes_in(tmp_path: Path) -> None:
    async with town(tmp_path) as here:
        await set_to(here, LISTED)
        text = "The KRAKEN of the deep sea, " + "word " * 398 + "**kra**ken again. Krakens."
        here.operators.add(Step(text=text, split=3, pause=0.002))
        asked = here.ask(here.home_channel, here.alice, "Well?")
        await here.answer(asked, contains="The ")
        await here.until(lambda: "Krakens." in here.server.messages(here.home_channel)[-1].text)
        seen = versions(here, here.home_channel)
        assert len(seen) > 3
        screen = LISTED.screen
        assert not any(screen.is_met(each) for each in seen)
        whole = "".join(each.text for each in here.server.messages(here.home_channel)[1:])
        assert whole.count(MASK) == 3


async def test_an_answer_ends_before_a_listed_word(tmp_path: Path) -> None:
    async with town(tmp_path) as here:
        await set_to(here, replace(LISTED, on_word="end"))
        here.operators.add(
            Step(text="Beware. The kraken wakes, " + "word " * 500, split=5, pause=0.02)
        )
        asked = here.ask(here.home_channel, here.alice, "Well?")
        answer = await here.answer(asked, contains=LISTED_WORD)
        assert answer == f"Beware. The\n-# {LISTED_WORD}"
        reply = here.server.messages(here.home_channel)[-1]
        await here.until(lambda: labels(reply) == ["Regenerate", "Delete"])
        assert not any("kraken" in each for each in versions(here, here.home_channel))


async def test_what_a_tool_would_write_is_held_to_the_list(tmp_path: Path) -> None:
    async with town(tmp_path, toolset=FixedTools(offering(Registry(wipe)))) as here:
        await set_to(here, LISTED)
        here.operators.add(Step(text='wipe({"what": "the kraken"})'), Step(text="I cannot."))
        await here.answer(here.ask(here.home_channel, here.alice, "Wipe!"), contains="I cannot.")
        assert "listed_word" in here.operators.received[-1].raw.decode()
        assert not any("kraken" in each for each in versions(here, here.home_channel))


async def test_admins_choose_in_a_panel_what_is_exported(tmp_path: Path) -> None:
    async with town(tmp_path) as here:
        driver, channel = here.server.driver, here.home_channel
        assert await here.said(channel, here.alice, "config moderation") == NOT_ALLOWED
        panel = await here.slash(channel, here.operator, "config moderation")
        await driver.acknowledged(
            driver.choose(here.operator, shown(panel), "moderation:on_word", ["end"])
        )
        await driver.acknowledged(
            driver.choose(here.operator, shown(panel), "moderation:images", [str(channel.id)])
        )
        opened = await driver.answered(
            driver.press(here.operator, shown(panel), "Words that I do not show")
        )
        sent = driver.submit(here.operator, opened, {"words": "kraken, deep  sea"})
        told = shown(await driver.answered(sent)).text
        assert "2 words and phrases" in told
        assert "kraken" not in told
        settings = await here.desk.moderation.of(here.home.id)
        assert settings == replace(LISTED, on_word="end", images=(channel.id,))
        assert is_moderation(settings.stored())
        assert not is_moderation({"words": [""], "log": "x"})
        exported = await here.desk.portability.export(here.home.id)
        assert f'"{MODERATION}"' in exported
        assert "deep sea" in exported
        other = await here.desk.portability.read_in(
            here.home.id, exported.encode(), by=here.operator.id, channels=[channel.id]
        )
        assert other.done
        await here.desk.privacy.erase_guild(here.home.id)
        assert await here.desk.moderation.of(here.home.id) == Moderation()


async def test_the_log_tells_changes_approvals_and_refusals_and_no_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logbook, "PAUSE", 0.05)
    async with town(tmp_path, toolset=FixedTools(offering(Registry(wipe)))) as here:
        driver = here.server.driver
        record = here.server.build.channel(here.home, "log")
        panel = await here.slash(here.home_channel, here.operator, "config moderation")
        await driver.acknowledged(
            driver.choose(here.operator, shown(panel), "moderation:log", [str(record.id)])
        )
        who = f"<@{here.operator.id}>"
        await here.until(
            lambda: entries(here, record) == [f"Configuration: {who} changed: the log begins"]
        )
        await here.said(here.home_channel, here.operator, "config exposure", read_only="off")
        await here.desk.personas.set_server(here.home.id, Texts(persona="You keep a secret."))
        await here.until(lambda: entries(here, record)[-1].endswith("hanged: `persona`"))
        await here.said(here.home_channel, here.operator, "config exposure", web="on")
        await here.until(lambda: "changed: `web` = `True`" in entries(here, record)[-1])
        here.operators.add(Step(text='wipe({"what": "the plans"})'), Step(text="Done."))
        asked = here.ask(here.home_channel, here.alice, "Wipe the plans!")
        question = await here.server.wait_for_message(
            here.home_channel, lambda m: "May `wipe` run" in m.text
        )
        await driver.acknowledged(driver.press(here.alice, question, "Deny"))
        await here.answer(asked, contains="Done.")
        alice = f"<@{here.alice.id}>"
        await here.until(
            lambda: entries(here, record)[-1] == f"Approval: `wipe` for {alice}: denied, by {alice}"
        )
        await here.desk.quotas.set_limits(here.home.id, Limits(member=Limit(day=1)))
        here.ask(here.home_channel, here.alice, "Something of mine")
        await here.until(lambda: "1 question a day" in entries(here, record)[-1])
        assert entries(here, record)[-1].startswith(
            f"Refusal: {alice} in <#{here.home_channel.id}>: You have asked"
        )
        told = " ".join(entries(here, record))
        assert "plans" not in told
        assert "mine" not in told
        assert all(not message.pings.users for message in here.server.messages(record))


async def test_what_the_log_lacks_is_told_in_the_panel_and_to_the_owner_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logbook, "PAUSE", 0.05)
    async with town(tmp_path) as here:
        record = here.server.build.channel(here.home, "log")
        here.server.build.overwrite(record, here.server.bot, deny=Permission.SEND_MESSAGES)
        await set_to(here, Moderation(log=record.id))
        told = await here.said(here.home_channel, here.operator, "config moderation")
        assert f"I cannot write into <#{record.id}>: I lack Send Messages, Embed Links." in told
        mail = here.operators_mail
        await here.server.wait_for_message(mail, lambda m: "I cannot write the log" in m.text)
        await here.said(here.home_channel, here.operator, "config exposure", read_only="on")
        await asyncio.sleep(0.3)
        assert len([m for m in here.server.messages(mail) if "the log" in m.text]) == 1
        assert here.server.messages(record) == []


async def test_a_flood_of_entries_is_bundled_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logbook, "PAUSE", 0.3)
    async with town(tmp_path) as here:
        record = here.server.build.channel(here.home, "log")
        await set_to(here, Moderation(log=record.id))
        await here.until(lambda: len(entries(here, record)) == 1)
        book = here.bot.get_cog("Logbook")
        assert isinstance(book, Logbook)
        for number in range(80):
            book.note(here.home.id, Entry(kind="refusal", line=f"Number {number}."))
        written = lambda: here.server.messages(record)  # noqa: E731
        await here.until(lambda: any("left out" in m.text for m in written()))
        assert all(len(message.embeds) <= logbook.BUNDLE for message in written())
        assert len(written()) == 6
        assert "30 more entries" in "".join(message.text for message in written())


async def test_long_entries_are_not_lost_to_the_size_of_a_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logbook, "PAUSE", 0.05)
    async with town(tmp_path) as here:
        record = here.server.build.channel(here.home, "log")
        await set_to(here, Moderation(log=record.id))
        await here.until(lambda: len(entries(here, record)) == 1)
        book = here.bot.get_cog("Logbook")
        assert isinstance(book, Logbook)
        for number in range(12):
            book.note(here.home.id, Entry(kind="configuration", line=f"{number} " + "x" * 2000))
        book.note(here.home.id, Entry(kind="refusal", line="The last."))
        await here.until(lambda: entries(here, record)[-1] == "Refusal: The last.")
        assert len(entries(here, record)) == 14


async def test_thinking_is_for_the_roles_that_were_chosen(tmp_path: Path) -> None:
    async with town(tmp_path) as here:
        staff = here.server.build.role(here.home, "staff")
        await set_to(here, Moderation(words=("kraken",), thinkers=(staff.id,)))
        await here.store.settings.put(here.home.id, "big", "show_thinking", "on")
        here.operators.add(Step(text="<think>The kraken, then.</think>Yes."))
        await here.answer(here.ask(here.home_channel, here.alice, "Well?"), contains="Yes.")
        reply: Message = here.server.messages(here.home_channel)[-1]
        await here.until(lambda: "Show thinking" in labels(reply))

        async def seen() -> str:
            used = here.server.driver.press(here.alice, reply, "Show thinking")
            return shown(await here.server.driver.answered(used)).text

        assert await seen() == NOT_FOR_YOU
        here.home.members[here.alice.id].roles.append(staff.id)
        assert await seen() == f"> The {MASK}, then."


@tool(read_only=True)
async def generate_image(context: ToolContext) -> ToolOutput:
    """Draw."""
    return ToolOutput(text="drawn")


async def test_images_are_made_in_the_chosen_channels_alone(tmp_path: Path) -> None:
    async with town(tmp_path, toolset=FixedTools(offering(Registry(generate_image)))) as here:
        gallery = here.server.build.channel(here.home, "gallery")
        await here.store.settings.put(here.home.id, "", "images", True)
        await set_to(here, Moderation(images=(gallery.id,)))
        for channel, offered in ((gallery, True), (here.home_channel, False)):
            here.operators.add(Step(text="Well."))
            await here.answer(here.ask(channel, here.alice, "Draw!"), contains="Well.")
            sent = here.operators.received[-1].raw.decode()
            assert ("generate_image" in sent) == offered


def test_images_are_made_where_admins_say() -> None:
    settings = Moderation(images=(7,))
    assert settings.makes_images([7])
    assert settings.makes_images([8, 7])  # a thread in it
    assert not settings.makes_images([8])
    assert Moderation().makes_images([8])
