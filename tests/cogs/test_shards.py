"""The bot in two sessions with Discord: each has its servers, and each breaks off by itself."""

import asyncio

import discord
import pytest

from tests.cogs.conftest import CADENCE, Scene, heart
from tests.loopback.discord_server import Bucket, Channel, Record


class Halves:
    """A scene whose own server is in one session, `there`, and another server in the other."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.server = scene.server
        self.here = (scene.guild.id >> 22) % 2
        self.there = 1 - self.here
        while (guild := self.server.build.guild("Elsewhere")).id >> 22 & 1 != self.there:
            self.server.build.removal(guild)
        self.elsewhere = guild
        self.server.build.member(guild, scene.alice)
        self.channel = self.server.build.channel(guild, "elsewhere")

    def ask(self, channel: Channel, text: str) -> None:
        self.server.driver.say(channel, self.scene.alice, f"{self.server.bot.mention} {text}")

    @property
    def asked(self) -> list[str]:
        return [stage.request.message.text for stage in self.scene.service.stages]

    async def next(self, kind: str, since: int, *, timeout: float = 10.0) -> Record:
        return await self.server.wait_for(
            lambda record: record.kind == kind, since=since, timeout=timeout
        )


@pytest.fixture
async def halves(quiet_scene: Scene) -> Halves:
    limits = quiet_scene.server.limits
    limits.buckets.update(dict.fromkeys(limits.buckets, Bucket(requests=40, seconds=1.0)))
    limits.shards, limits.identify_window = 2, 0.0
    made = Halves(quiet_scene)
    await quiet_scene.start(cadence=CADENCE, identify_pause=0.0)
    return made


def bot_of(halves: Halves) -> "discord.AutoShardedClient":
    assert halves.scene.bot is not None
    return halves.scene.bot


async def test_each_server_is_answered_in_its_session_and_direct_messages_in_the_first(
    halves: Halves,
) -> None:
    scene, server = halves.scene, halves.server
    assert [record["shard"] for record in server.journal.of("identify")] == [0, 1]
    assert scene.bot is not None
    assert scene.bot.connected()
    assert {guild.id: guild.shard_id for guild in scene.bot.guilds} == {
        scene.guild.id: halves.here,
        halves.elsewhere.id: halves.there,
    }
    halves.ask(scene.channel, "one")
    halves.ask(halves.channel, "two")
    direct = server.build.direct_messages(scene.alice)
    server.driver.say(direct, scene.alice, "three")
    await scene.turns_done(3)
    assert sorted(halves.asked) == ["one", "three", "two"]
    for channel in (scene.channel, halves.channel, direct):
        assert [answer.text for answer in scene.answers(channel)] == ["Hello."]
    used = server.driver.slash(halves.channel, scene.alice, "help", {})
    assert (await server.driver.answered(used)).original is not None


async def test_direct_messages_need_the_first_session_alone(halves: Halves) -> None:
    scene, server = halves.scene, halves.server
    direct = server.build.direct_messages(scene.alice)
    server.gateway.turned_away = 99
    position = len(server.journal)
    server.gateway.cut(1)
    await halves.next("gateway_turned_away", position)
    server.driver.say(direct, scene.alice, "are you there?")
    await scene.turns_done()
    assert server.journal.of("resume") == []


@pytest.mark.parametrize("turned_away", [0, 1])
async def test_one_session_is_taken_up_again_while_the_other_goes_on(
    halves: Halves, turned_away: int
) -> None:
    scene, server = halves.scene, halves.server
    server.gateway.turned_away = turned_away
    position = len(server.journal)
    server.gateway.cut(halves.there)
    halves.ask(halves.channel, "lost for a moment")
    halves.ask(scene.channel, "still here")
    resumed = await halves.next("resume", position)
    await scene.turns_done(2)
    assert resumed["shard"] == halves.there
    assert sorted(halves.asked) == ["lost for a moment", "still here"]
    # No session began anew, and the other one was left alone.
    assert len(server.journal.of("identify")) == 2
    assert len(server.journal.of("gateway_close")) == 1


async def test_a_session_that_is_open_and_silent_is_given_up_alone(halves: Halves) -> None:
    scene, server = halves.scene, halves.server
    assert scene.bot is not None
    server.limits.heartbeat_ms = 200  # from the next connection on
    for shard in (0, 1):
        position = len(server.journal)
        server.gateway.ask_to_reconnect(shard)
        await halves.next("resume", position)
    heart(scene.bot, halves.there).heartbeat_timeout = 1.0  # a minute, for discord.py
    position = len(server.journal)
    server.gateway.mute(halves.there)
    halves.ask(halves.channel, "is anybody there?")
    halves.ask(scene.channel, "here?")
    await scene.turns_done()
    assert halves.asked == ["here?"]
    resumed = await halves.next("resume", position, timeout=20)
    assert resumed["shard"] == halves.there
    await scene.turns_done(2)
    assert halves.asked == ["here?", "is anybody there?"]


async def test_what_was_missed_before_a_new_session_is_answered_once(halves: Halves) -> None:
    scene, server = halves.scene, halves.server
    halves.ask(halves.channel, "before")
    halves.ask(scene.channel, "before, here")
    await scene.turns_done(2)
    position = len(server.journal)
    server.gateway.invalidate(shard=halves.there)
    halves.ask(halves.channel, "missed")
    halves.ask(scene.channel, "not missed")
    assert (await halves.next("identify", position))["shard"] == halves.there
    await scene.turns_done(4)
    assert sorted(halves.asked[2:]) == ["missed", "not missed"]


async def test_a_server_that_was_left_meanwhile_is_gone(halves: Halves) -> None:
    bot, server = bot_of(halves), halves.server
    kept = server.build.guild("Kept")
    while (kept.id >> 22) % 2 != halves.there:
        server.build.removal(kept)
        kept = server.build.guild("Kept")
    async with asyncio.timeout(5):
        while bot.get_guild(kept.id) is None:
            await asyncio.sleep(0.01)
    position = len(server.journal)
    server.gateway.invalidate(shard=halves.there)
    server.build.removal(halves.elsewhere)
    left = await bot.wait_for("guild_remove", timeout=10)
    assert left.id == halves.elsewhere.id
    assert {guild.id for guild in bot.guilds} == {halves.scene.guild.id, kept.id}
    await halves.next("identify", position)


async def test_requests_over_the_gateway_go_to_the_right_session(halves: Halves) -> None:
    bot, server = bot_of(halves), halves.server
    for guild in bot.guilds:
        found = await guild.query_members("alice", cache=False)
        assert [member.id for member in found] == [halves.scene.alice.id]
    await bot.change_presence(activity=discord.Game("two halves"))
    await server.journal.until(lambda: len(server.journal.of("presence")) == 2)


async def test_leaving_ends_both_sessions(halves: Halves) -> None:
    await halves.scene.stop()
    await halves.server.journal.until(lambda: not halves.server.gateway.connections)
    closed = halves.server.journal.of("gateway_close")
    assert [(record["code"], record["by_server"]) for record in closed] == [(1000, False)] * 2
    assert halves.server.gateway.sessions == {}
    assert halves.scene.bot is not None
    assert not halves.scene.bot.connected()


async def test_being_connected_takes_all_sessions(halves: Halves) -> None:
    scene, server = halves.scene, halves.server
    assert scene.bot is not None
    server.gateway.turned_away = 1
    position = len(server.journal)
    server.gateway.cut(halves.there)
    await halves.next("gateway_turned_away", position)
    latencies = scene.bot.latencies_by_shard()
    assert latencies[halves.there] is None
    assert latencies[halves.here] is not None
    assert not scene.bot.connected()
    await halves.next("resume", position)
    assert scene.bot.connected()
