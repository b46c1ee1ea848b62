"""What members may do and read, asked of a loopback Discord at the moment of the call."""

import asyncio
from collections.abc import Sequence

import discord
import pytest

from cogs.rights import MemberRights
from tests.cogs.conftest import Scene
from tests.loopback.discord_server import Channel, Permission, Role

READING = Permission.VIEW_CHANNEL | Permission.READ_MESSAGE_HISTORY


async def rights_of(scene: Scene, channel: Channel | None = None) -> MemberRights:
    """Those of alice, who asks something in a channel."""
    said = scene.server.driver.say(channel or scene.channel, scene.alice, "hello")
    assert scene.bot is not None
    bot, channel_id = scene.bot, said.channel.id
    async with asyncio.timeout(5):
        while (found := bot.get_channel(channel_id)) is None:
            await asyncio.sleep(0.01)
    assert isinstance(found, discord.TextChannel)
    return MemberRights(await found.fetch_message(said.id), said.author.id)


async def test_roles_are_looked_up_at_the_call(scene: Scene) -> None:
    rights = await rights_of(scene)
    assert not await rights.may("manage_channels")
    role = scene.server.build.role(scene.guild, "mods", permissions=Permission.MANAGE_CHANNELS)
    scene.guild.members[scene.alice.id].roles.append(role.id)
    assert await rights.may("manage_channels")
    assert not await rights.may("no_such_permission")


def private(scene: Scene, name: str, *roles: Role) -> Channel:
    """A channel that these roles alone can read, and the bot."""
    channel = scene.server.build.channel(scene.guild, name)
    for allowed in (scene.server.bot, *roles):  # the bot first, or it would lose sight of it
        scene.server.build.overwrite(channel, allowed, allow=READING)
    scene.server.build.overwrite(channel, scene.guild.roles[scene.guild.id], deny=READING)
    return channel


async def test_a_public_channel_is_open_and_a_private_one_is_not(scene: Scene) -> None:
    news = scene.server.build.channel(scene.guild, "news")
    mods = private(scene, "mods")
    rights = await rights_of(scene)
    assert [await rights.can_all_read(each.id) for each in (scene.channel, news, mods)] == [
        True,
        True,
        False,
    ]
    assert [await rights.can_read(each.id) for each in (news, mods)] == [True, False]
    assert not await rights.can_all_read(12345)
    assert not await rights.can_read(12345)


async def test_within_channels_of_the_same_readers_it_is_open(scene: Scene) -> None:
    role = scene.server.build.role(scene.guild, "mods")
    scene.guild.members[scene.alice.id].roles.append(role.id)
    mods, logs, admins = (
        private(scene, "mods", role),
        private(scene, "logs", role),
        private(scene, "admins"),
    )
    rights = await rights_of(scene, mods)
    assert await rights.can_all_read(logs.id)
    assert not await rights.can_all_read(admins.id)
    assert await rights.can_read(logs.id)


async def test_one_who_is_kept_out_makes_a_channel_private(scene: Scene) -> None:
    news = scene.server.build.channel(scene.guild, "news")
    scene.server.build.overwrite(news, scene.bob, deny=Permission.VIEW_CHANNEL)
    rights = await rights_of(scene)
    assert not await rights.can_all_read(news.id)
    assert await rights.can_read(news.id)


@pytest.mark.parametrize("permission", ["manage_channels", "send_messages"])
async def test_in_direct_messages_there_are_no_rights(scene: Scene, permission: str) -> None:
    direct = scene.server.build.direct_messages(scene.alice)
    scene.server.driver.say(direct, scene.alice, "hello")
    await scene.turns_done()
    held: Sequence[object] = [stage.request.rights for stage in scene.service.stages]
    (rights,) = held
    assert isinstance(rights, MemberRights)
    assert not await rights.may(permission)
    assert not await rights.can_all_read(scene.channel.id)
    assert not await rights.can_read(scene.channel.id)
