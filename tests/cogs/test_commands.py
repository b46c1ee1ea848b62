import re

import pytest

from chat.answering import Answering
from chat.config import switches
from chat.overview import ToolListing
from chat.switches import SWITCHES, THEMES
from cogs.tree import NOT_ALLOWED
from tests.cogs.conftest import Scene
from tests.loopback.discord_server import (
    ChannelKind,
    Interaction,
    InteractionState,
    Message,
    Permission,
)

FOR_ADMINS = {"Explain this reply", "config", "mcp", "tool"}
FOR_EVERYONE = {"Ask about this message", "help", "memory", "privacy"}


def shown(interaction: Interaction) -> Message:
    """The message that answers, which only the member who asked may see."""
    message = interaction.original
    assert message is not None
    assert message.ephemeral
    return message


def acknowledged_within(scene: Scene) -> float:
    return max(record["seconds"] for record in scene.server.journal.of("acknowledged"))


async def test_every_command_answers_privately_and_in_time(scene: Scene) -> None:
    for path in ("config workarounds", "config show", "tool list", "tool prompt snapshot"):
        used = await scene.slash(path)
        assert used.state is InteractionState.ACKNOWLEDGED, path
        assert shown(used).text, path


async def test_commands_are_for_those_who_may_manage_the_server(scene: Scene) -> None:
    for path in ("config workarounds", "config show", "tool list", "tool prompt snapshot"):
        used = await scene.slash(path, scene.alice)
        assert shown(used).text == NOT_ALLOWED, path
    declared = [command.declared for command in scene.server.world.commands_in(scene.guild)]
    for command in declared:
        if command["name"] in FOR_EVERYONE:
            assert command["default_member_permissions"] is None
        elif command["name"] in FOR_ADMINS:
            assert int(command["default_member_permissions"]) == int(Permission.MANAGE_GUILD)
            assert command["contexts"] == [0] or command["dm_permission"] is False
    assert {command["name"] for command in declared} >= FOR_EVERYONE | FOR_ADMINS


async def test_the_workarounds_panel_says_what_is_known_and_what_differs(scene: Scene) -> None:
    text = shown(await scene.slash("config workarounds")).text
    assert "tiny" in text
    assert "verbatim (chosen by itself)" in text
    assert "no tool call has been seen from this endpoint yet" in text
    assert "At its default: everything" in text


async def test_a_menu_on_the_panel_turns_its_switch_and_is_drawn_anew(scene: Scene) -> None:
    driver, owner = scene.server.driver, scene.guild.owner
    panel = shown(await scene.slash("config workarounds"))
    used = driver.choose(owner, panel, "workarounds:tool_mode", ["verbatim_only"])
    await driver.acknowledged(used)
    await scene.server.journal.until(lambda: "`tool_mode` is verbatim_only" in panel.text)
    assert scene.service.switches["tool_mode"].value == "verbatim_only"
    assert "set by an admin" in panel.text
    used = driver.choose(owner, panel, "workarounds:tool_mode", ["default"])
    await scene.server.journal.until(lambda: "At its default: everything" in panel.text)
    assert used.state is InteractionState.ACKNOWLEDGED
    assert not scene.service.switches["tool_mode"].is_set


async def test_every_switch_stands_on_a_page_of_its_theme(scene: Scene) -> None:
    driver, owner = scene.server.driver, scene.guild.owner
    panel = shown(await scene.slash("config workarounds"))
    assert "**nudge**" not in panel.text
    found: dict[str, str] = {}
    for theme, title in THEMES.items():
        driver.choose(owner, panel, "workarounds:page", [theme])
        await scene.server.journal.until(lambda title=title: f"### {title}" in panel.text)
        found |= dict.fromkeys(re.findall(r"^\*\*(\w+)\*\*:", panel.text, re.MULTILINE), theme)
    assert found == {spec.name: spec.theme for spec in SWITCHES}
    driver.choose(owner, panel, "workarounds:page", ["first"])
    await scene.server.journal.until(lambda: "**In use:**" in panel.text)


async def test_a_menu_on_a_page_turns_its_switch_and_stays_on_the_page(scene: Scene) -> None:
    driver, owner = scene.server.driver, scene.guild.owner
    panel = shown(await scene.slash("config workarounds"))
    driver.choose(owner, panel, "workarounds:page", ["messages"])
    await scene.server.journal.until(lambda: "**system_layout**" in panel.text)
    used = driver.choose(owner, panel, "workarounds:system_layout:messages", ["as_is"])
    await driver.acknowledged(used)
    await scene.server.journal.until(lambda: scene.service.switches["system_layout"].is_set)
    assert scene.service.switches["system_layout"].value == "as_is"
    assert f"### {THEMES['messages']}" in panel.text


async def test_what_was_learnt_is_shown_as_learnt(scene: Scene) -> None:
    scene.service.switches |= {
        each.name: each for each in switches({"nudge": "off"}, {"tool_role": "as_user"})
    }
    panel = shown(await scene.slash("config workarounds"))
    assert "`nudge` is off (default on)" in panel.text
    assert "`tool_role` is as_user (learnt; default native)" in panel.text
    assert "**tool_role**" in panel.text
    assert "**has_tools**" not in panel.text


async def test_a_panel_on_which_everything_differs_is_taken(scene: Scene) -> None:
    stored = {spec.name: spec.choices[-1] for spec in SWITCHES}
    scene.service.switches |= {each.name: each for each in switches(stored)}
    assert "Not at its default" in shown(await scene.slash("config workarounds")).text


async def test_a_value_that_is_refused_is_told_and_changes_nothing(scene: Scene) -> None:
    driver = scene.server.driver
    panel = shown(await scene.slash("config workarounds"))
    scene.service.refusal = "There is no such switch any more."
    used = driver.choose(scene.guild.owner, panel, "workarounds:tool_mode", ["native"])
    await scene.server.journal.until(lambda: bool(used.followups))
    assert used.followups[0].text == "There is no such switch any more."
    assert used.followups[0].ephemeral
    assert scene.service.switches["tool_mode"].value == "auto"


async def test_the_panel_asks_for_the_permission_at_the_moment_of_pressing(scene: Scene) -> None:
    driver = scene.server.driver
    managers = scene.server.build.role(scene.guild, "managers", permissions=Permission.MANAGE_GUILD)
    member = scene.guild.members[scene.alice.id]
    member.roles.append(managers.id)
    panel = shown(await scene.slash("config workarounds", scene.alice))
    member.roles.clear()
    used = driver.choose(scene.alice, panel, "workarounds:tool_mode", ["off"])
    await driver.answered(used)
    assert shown(used).text == NOT_ALLOWED
    assert scene.service.switches["tool_mode"].value == "auto"


async def test_a_panel_from_before_a_restart_still_works(scene: Scene) -> None:
    panel = shown(await scene.slash("config workarounds"))
    await scene.stop()
    scene.server.limits.identify_window = 0.0
    bot = await scene.start()
    assert bot.is_ready()
    scene.server.driver.choose(scene.guild.owner, panel, "workarounds:tool_mode", ["native"])
    await scene.server.journal.until(lambda: "`tool_mode` is native" in panel.text)


async def test_show_names_endpoint_model_and_missing_permissions(scene: Scene) -> None:
    scene.server.build.overwrite(
        scene.channel, scene.server.bot, deny=Permission.READ_MESSAGE_HISTORY
    )
    text = shown(await scene.slash("config show")).text
    assert "**Endpoint** http://127.0.0.1:8080/v1" in text
    assert "**Model** tiny" in text
    assert "**Context window** 8,192 tokens" in text
    assert "**Permissions missing in this channel** Read Message History" in text
    assert "**Message content intent** granted" in text


async def test_a_long_list_of_tools_goes_on_in_further_messages(scene: Scene) -> None:
    scene.service.listings = [
        ToolListing(
            name=f"tool_{n}",
            description="Does a thing. " * 9,
            enabled=n != 3,
            why="by you",
            read_only=True,
            source="builtin",
        )
        for n in range(40)
    ]
    used = await scene.slash("tool list")
    await scene.server.journal.until(lambda: len(used.followups) >= 3)
    messages = [shown(used), *used.followups]
    assert all(message.ephemeral for message in messages)
    text = "\n".join(message.text for message in messages)
    assert [
        f"`tool_{n}` **{'off' if n == 3 else 'on'}** (by you; only reads)" in text
        for n in range(40)
    ]
    assert "`tool_3` **off** (by you; only reads)" in text
    assert "`tool_39` **on** (by you; only reads)" in text


@pytest.mark.parametrize(
    ("chosen", "filename", "content"),
    [("text", "prompt.txt", b"the prompt"), ("json", "prompt.json", b'{"prompt": []}')],
)
async def test_a_snapshot_is_a_file_for_the_one_who_asked(
    scene: Scene, chosen: str, filename: str, content: bytes
) -> None:
    scene.server.driver.say(scene.channel, scene.bob, "earlier words")
    message = shown(await scene.slash("tool prompt snapshot", format=chosen))
    (attached,) = message.attachments
    assert (attached.name, attached.data) == (filename, content)
    assert "`abc123`" in message.text
    place, member, read = scene.service.snapshots[0]
    assert (place.guild_id, place.channel_id) == (scene.guild.id, scene.channel.id)
    assert member.id == scene.guild.owner.id
    assert [message.text for message in read] == ["earlier words"]


async def test_a_snapshot_of_a_channel_that_the_invoker_cannot_read_is_refused(
    scene: Scene,
) -> None:
    build = scene.server.build
    managers = build.role(scene.guild, "managers", permissions=Permission.MANAGE_GUILD)
    scene.guild.members[scene.alice.id].roles.append(managers.id)
    secret = build.channel(scene.guild, "secret")
    build.overwrite(secret, scene.alice, deny=Permission.VIEW_CHANNEL)
    unread = build.channel(scene.guild, "unread")
    build.overwrite(unread, scene.alice, deny=Permission.READ_MESSAGE_HISTORY)
    private = build.thread(
        scene.channel, "private", owner=scene.bob, kind=ChannelKind.PRIVATE_THREAD
    )
    for channel in (secret, unread, private):
        used = await scene.slash("tool prompt snapshot", scene.alice, channel=channel)
        assert shown(used).text == "You cannot read that channel.", channel.name
    assert scene.service.snapshots == []
    own = build.thread(scene.channel, "own", owner=scene.alice, kind=ChannelKind.PRIVATE_THREAD)
    for channel in (build.channel(scene.guild, "open"), own):
        used = await scene.slash("tool prompt snapshot", scene.alice, channel=channel)
        assert shown(used).attachments, channel.name
        assert scene.service.snapshots[-1][0].channel_id == channel.id


async def test_what_was_sent_for_an_answer_is_asked_for_by_its_link(scene: Scene) -> None:
    build = scene.server.build
    managers = build.role(scene.guild, "managers", permissions=Permission.MANAGE_GUILD)
    scene.guild.members[scene.alice.id].roles.append(managers.id)
    secret = build.channel(scene.guild, "secret")
    build.overwrite(secret, scene.alice, deny=Permission.VIEW_CHANNEL)
    said = scene.server.driver.say(scene.channel, scene.bob, "words")
    scene.service.sent_for.add(said.id)

    async def asked(message: str, form: str = "text") -> Message:
        path = "tool prompt snapshot"
        used = await scene.slash(path, scene.alice, message=message, format=form)
        return shown(used)

    link = f"https://discord.com/channels/{scene.guild.id}/{scene.channel.id}/{said.id}"
    (attached,) = (await asked(link, "diff")).attachments
    assert (attached.name, attached.data) == ("diff.txt", b"parted")
    assert (await asked(str(said.id))).attachments[0].data == b"sent"
    elsewhere = f"https://discord.com/channels/{scene.guild.id}/{secret.id}/{said.id}"
    assert (await asked(elsewhere)).text == "You cannot read that channel."
    gone = f"https://discord.com/channels/{scene.guild.id}/5/{said.id}"
    assert (await asked(gone)).text == "There is no conversation in this channel."
    assert (await asked("12")).text.startswith("I know nothing about that message there")
    assert (await asked("the last one")).text.startswith("Name a message by its link")
    assert {channel for channel, *_ in scene.service.sent_asked} == {scene.channel.id}


async def test_a_snapshot_shows_no_more_than_the_chain_of_replies(scene: Scene) -> None:
    await scene.desk.answering.change(scene.guild.id, lambda _: Answering(history="replies"))
    driver, path = scene.server.driver, "tool prompt snapshot"
    driver.say(scene.channel, scene.bob, "gossip")
    root = driver.say(scene.channel, scene.bob, "bees dance")
    reply = driver.say(scene.channel, scene.alice, "why?", reply_to=root)
    driver.say(scene.channel, scene.bob, "more gossip")

    async def read(of: Message | None = None) -> tuple[str, list[str]]:
        named = {} if of is None else {"message": str(of.id)}
        message = shown(await scene.slash(path, None, **named))
        return message.text, [each.text for each in scene.service.snapshots[-1][2]]

    said, none = await read()
    assert none == []
    assert "Name a `message` to see what a reply to it would send" in said
    said, chain = await read(reply)
    assert chain == ["bees dance", "why?"]
    assert "the chain of replies up to that message" in said
    assert shown(await scene.slash(path, message="12")).text.startswith("I know nothing about")

    await scene.desk.answering.change(scene.guild.id, lambda _: Answering(history="channel"))
    said, whole = await read()
    assert whole == ["gossip", "bees dance", "why?", "more gossip"]
    assert "replies" not in said


async def test_a_command_that_breaks_says_so_in_one_line(
    scene: Scene, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: object) -> object:
        raise RuntimeError("a bug")

    monkeypatch.setattr(scene.service, "overview", broken)
    text = shown(await scene.slash("config show")).text
    assert text == "Something went wrong inside the bot. Its log says what."
    assert "The command /config show failed." in caplog.text
    assert "a bug" in caplog.text
