"""Questions to members about tools, over real sockets."""

from dataclasses import replace

import pytest

from chat.overview import ToolListing
from chat.ports import ApprovalRequest, Decision
from cogs import sending
from cogs.approval import EXPIRED
from cogs.tree import NOT_ALLOWED
from tests.cogs.conftest import Scene
from tests.cogs.scripted import Stage
from tests.cogs.town import shown
from tests.loopback.discord_server import (
    Interaction,
    LostAnswer,
    Message,
    Permission,
    Status,
    User,
)
from tests.loopback.discord_server.model import walk_components
from tools.policy import POLICIES

MESSAGES = r"/channels/\d+/messages$"
ALWAYS = "Allow until outside text is read"


def asks(scene: Scene, **changes: object) -> list[Decision]:
    """Let the turn ask about a call; its decisions go into the list."""
    decisions: list[Decision] = []

    async def script(stage: Stage) -> None:
        approver = stage.request.approver
        assert approver is not None
        stage.say("Let me see. ")
        request = ApprovalRequest(
            place=stage.request.place,
            asker=stage.request.member,
            message_id=stage.request.message.id,
            tool="forget",
            arguments={"fact": "`@everyone` **loud**\nline", "all": True, "ids": [1, 2]},
        )
        decisions.append(await approver.ask(replace(request, **changes)))
        stage.say("Done.")

    scene.service.script = script
    return decisions


async def question(scene: Scene) -> Message:
    """The question under the conversation, once it is posted."""
    scene.ask("forget it")
    return await scene.server.wait_for_message(
        scene.channel, lambda m: "May `forget` run" in m.text or "which not everyone" in m.text
    )


def labels(message: Message) -> list[str]:
    return [part["label"] for part in walk_components(message.components) if "label" in part]


async def pressed(scene: Scene, user: User, message: Message, button: str) -> Interaction:
    return await scene.server.driver.acknowledged(scene.server.driver.press(user, message, button))


async def test_the_asking_member_allows_a_call_once(scene: Scene) -> None:
    decisions = asks(scene)
    asked = await question(scene)
    assert labels(asked) == ["Allow once", ALWAYS, "Deny"]
    lines = asked.text.splitlines()
    assert lines[0] == "-# May `forget` run for `Alice`?"
    assert lines[1:] == [
        "-# `fact`: `'@everyone' **loud** line`",
        "-# `all`: `true`",
        "-# `ids`: `[1,2]`",
    ]
    await pressed(scene, scene.alice, asked, "Allow once")
    await scene.turns_done()
    assert decisions == ["once"]
    assert (asked.text, labels(asked)) == ("-# `forget`: allowed once by `Alice`", [])


async def test_a_lasting_yes_and_a_no_are_told_apart(scene: Scene) -> None:
    decisions = asks(scene)
    await pressed(scene, scene.alice, await question(scene), ALWAYS)
    await scene.turns_done()
    assert decisions == ["always"]
    denied = asks(scene)
    scene.ask("again")
    asked = await scene.server.wait_for_message(
        scene.channel, lambda m: "May `forget` run" in m.text
    )
    await pressed(scene, scene.alice, asked, "Deny")
    await scene.turns_done(2)
    assert denied == ["denied"]
    assert asked.text == "-# `forget`: denied by `Alice`"


async def test_others_learn_that_it_is_not_theirs_to_answer(scene: Scene) -> None:
    decisions = asks(scene)
    asked = await question(scene)
    used = scene.server.driver.press(scene.bob, asked, "Allow once")
    told = shown(await scene.server.driver.answered(used))
    assert (
        told.text == "Only `Alice` or a member with the permission Manage Server can answer this."
    )
    assert (decisions, len(labels(asked))) == ([], 3)
    await pressed(scene, scene.guild.owner, asked, "Deny")  # who may manage the server
    await scene.turns_done()
    assert decisions == ["denied"]


async def test_the_permission_that_the_tool_needs_is_enough_to_answer(scene: Scene) -> None:
    decisions = asks(scene, permission="manage_messages")
    asked = await question(scene)
    build = scene.server.build
    role = build.role(scene.guild, "mods", permissions=Permission.MANAGE_MESSAGES)
    scene.guild.members[scene.bob.id].roles.append(role.id)
    await pressed(scene, scene.bob, asked, "Allow once")
    await scene.turns_done()
    assert decisions == ["once"]


async def test_a_question_about_a_channel_offers_no_lasting_yes(scene: Scene) -> None:
    asks(scene, lasting=False, why="This has read <#7>, which not everyone here can see.")
    asked = await question(scene)
    assert labels(asked) == ["Allow once", "Deny"]
    await pressed(scene, scene.alice, asked, "Deny")
    await scene.turns_done()


async def test_nobody_answers_in_time(quiet_scene: Scene) -> None:
    await quiet_scene.start(answer_within=0.3)
    decisions = asks(quiet_scene)
    asked = await question(quiet_scene)
    await quiet_scene.turns_done()
    assert decisions == ["timeout"]
    assert (asked.text, labels(asked)) == (
        "-# `forget`: not answered in time, so it did not run",
        [],
    )


async def test_after_a_restart_the_button_says_that_it_expired(quiet_scene: Scene) -> None:
    scene = quiet_scene
    await scene.start(answer_within=1.0)
    decisions = asks(scene)
    asked = await question(scene)
    once = next(part for part in walk_components(asked.components) if "custom_id" in part)
    once["custom_id"] = f"consent:{'0' * 16}:once"  # as another process has made it
    await pressed(scene, scene.alice, asked, "Allow once")
    assert (asked.text, labels(asked)) == (f"-# {EXPIRED}", [])
    await scene.turns_done()
    assert decisions == ["timeout"]


async def test_a_turn_that_ends_takes_its_question_back(scene: Scene) -> None:
    decisions = asks(scene)
    asked = await question(scene)
    reply = await scene.server.wait_for_message(scene.channel, lambda m: "Let me see" in m.text)
    scene.server.driver.delete(reply)
    scene.service.stages[0].say("Hm.")
    await scene.server.journal.until(lambda: labels(asked) == [], timeout=5)
    assert (decisions, labels(asked)) == ([], [])


async def test_admins_choose_which_tools_ask(scene: Scene) -> None:
    listing = ToolListing(
        name="roll_dice", description="", enabled=True, why="", read_only=False, source="builtin"
    )
    scene.service.listings = [listing]

    async def said(user: User, tool: str, policy: str) -> str:
        return shown(await scene.slash("tool approval", user, tool=tool, policy=policy)).text

    async def stored() -> object:
        return (await scene.desk.policies.stored(scene.guild.id)).get(POLICIES)

    owner = scene.guild.owner
    assert "asks before each call" in await said(owner, "roll_dice", "asks")
    assert await stored() == {"roll_dice": "asks"}
    assert "follows the default" in await said(owner, "roll_dice", "default")
    assert await stored() is None
    assert "There is no tool `nope`" in await said(owner, "nope", "asks")
    assert await said(scene.alice, "roll_dice", "free") == NOT_ALLOWED
    assert await stored() is None


@pytest.mark.parametrize("effect", [LostAnswer(), Status(status=503), Status(status=500)])
async def test_a_question_stands_there_once_whatever_discord_loses(
    scene: Scene, effect: LostAnswer | Status
) -> None:
    decisions = asks(scene)
    scene.ask("forget it")
    # The answer's first words come behind it: the question is the first message.
    scene.server.faults.plant(MESSAGES, effect, method="POST")
    asked = await scene.server.wait_for_message(
        scene.channel, lambda m: "May `forget` run" in m.text
    )
    await pressed(scene, scene.alice, asked, "Allow once")
    await scene.turns_done()
    assert decisions == ["once"]
    assert [m for m in scene.answers() if "consent:" in str(m.components)] == []
    assert len([m for m in scene.answers() if "`forget`" in m.text]) == 1


async def test_a_question_that_discord_never_takes_is_no_members_no(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "PAUSES", (0.05, 0.05))
    decisions = asks(scene)
    scene.server.faults.plant(MESSAGES, Status(status=503), method="POST", times=3)
    scene.ask("forget it")
    await scene.turns_done()
    assert decisions == ["unasked"]
    assert [m for m in scene.answers() if "`forget`" in m.text] == []


async def test_a_question_that_is_stopped_says_so(scene: Scene) -> None:
    decisions = asks(scene)
    asked = await question(scene)
    reply = await scene.server.wait_for_message(scene.channel, lambda m: "Let me see" in m.text)
    await pressed(scene, scene.alice, reply, "Stop")
    await scene.server.journal.until(lambda: labels(asked) == [], timeout=5)
    assert decisions == []
    assert asked.text == "-# `forget`: stopped before it was answered, so it did not run"
