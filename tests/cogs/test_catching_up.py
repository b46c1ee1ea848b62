"""What was written while the bot had no session is answered, once, and in bounds."""

import asyncio
from datetime import timedelta

import pytest

from cogs import catching_up
from tests.cogs.conftest import Scene, heart
from tests.loopback.discord_server import Message, Reset, Status

SILENCE = 0.4


@pytest.fixture
def scene(scene: Scene) -> Scene:
    """The scene, in which a session may follow another at once."""
    scene.server.limits.identify_window = 0.0
    return scene


def asked(scene: Scene) -> list[str]:
    return [stage.request.message.text for stage in scene.service.stages]


def miss(scene: Scene, text: str) -> Message:
    """A question that no session hears of."""
    mention = scene.server.bot.mention
    return scene.server.driver.say(scene.channel, scene.alice, f"{mention} {text}")


async def test_what_was_missed_over_a_restart_is_answered_oldest_first(scene: Scene) -> None:
    scene.ask("before")
    await scene.turns_done()
    await scene.stop()
    scene.server.driver.say(scene.channel, scene.bob, "nobody asked")
    miss(scene, "one")
    miss(scene, "two")
    await scene.start()
    await scene.turns_done(3)
    await asyncio.sleep(SILENCE)
    assert asked(scene) == ["before", "one", "two"]


async def test_what_discord_fails_to_show_at_first_is_not_lost(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catching_up, "PAUSES", (0.05, 0.1))
    scene.ask("before")
    await scene.turns_done()
    await scene.stop()
    miss(scene, "one")
    for effect in (Reset(), Status(status=503)):
        scene.server.faults.plant(r"/channels/\d+/messages$", effect, method="GET")
    await scene.start()
    await scene.turns_done(2)
    assert asked(scene) == ["before", "one"]


async def test_a_channel_that_cannot_be_shown_at_all_stops_no_other(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(catching_up, "PAUSES", (0.05, 0.1))
    other = scene.server.build.channel(scene.guild, "other")
    scene.ask("before")
    mention = scene.server.bot.mention
    scene.server.driver.say(other, scene.alice, f"{mention} there too")
    await scene.turns_done(2)
    await scene.stop()
    miss(scene, "one")
    scene.server.driver.say(other, scene.alice, f"{mention} two")
    path = rf"/channels/{scene.channel.id}/messages$"
    scene.server.faults.plant(path, Status(status=503), method="GET", times=99)
    await scene.start()
    await scene.turns_done(3)
    assert asked(scene)[2:] == ["two"]
    async with asyncio.timeout(5):
        while f"missed in channel {scene.channel.id} cannot be read" not in caplog.text:
            await asyncio.sleep(0.01)


async def test_what_was_answered_is_not_answered_again(scene: Scene) -> None:
    scene.ask("before")
    await scene.turns_done()
    await scene.stop()
    question = miss(scene, "one")
    await scene.start()
    await scene.turns_done(2)
    scene.server.driver.redeliver(question)
    await scene.stop()
    await scene.start()
    await asyncio.sleep(SILENCE)
    assert asked(scene) == ["before", "one"]


async def test_a_channel_that_the_bot_never_took_part_in_is_left_alone(scene: Scene) -> None:
    await scene.stop()
    miss(scene, "one")
    await scene.start()
    await asyncio.sleep(SILENCE)
    assert asked(scene) == []


async def test_what_is_old_stays_unanswered(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    scene.ask("before")
    await scene.turns_done()
    await scene.stop()
    miss(scene, "one")
    monkeypatch.setattr(catching_up, "OLDEST", timedelta(seconds=-5))
    await scene.start()
    await asyncio.sleep(SILENCE)
    assert asked(scene) == ["before"]


async def test_a_session_that_cannot_be_resumed_misses_nothing(scene: Scene) -> None:
    quiet = scene.server.build.channel(scene.guild, "quiet")
    scene.server.driver.say(scene.channel, scene.bob, "something was heard")
    await asyncio.sleep(0.1)
    position = len(scene.server.journal)
    scene.server.gateway.invalidate(resumable=False)
    mention = scene.server.bot.mention
    scene.server.driver.say(quiet, scene.alice, f"{mention} in between")
    await scene.server.wait_for(
        lambda record: record.kind == "identify", since=position, timeout=15
    )
    await scene.turns_done()
    assert asked(scene) == ["in between"]


async def test_a_connection_that_is_open_and_silent_is_given_up(quiet_scene: Scene) -> None:
    quiet_scene.server.limits.heartbeat_ms = 200
    bot = await quiet_scene.start()
    beats = heart(bot)
    beats.heartbeat_timeout = 1.0  # a minute, for discord.py
    quiet_scene.server.gateway.mute()
    quiet_scene.ask("is anybody there?")
    await quiet_scene.turns_done(within=20)
    assert asked(quiet_scene) == ["is anybody there?"]
    assert len(quiet_scene.server.journal.of("resume")) == 1


async def test_channels_without_end_are_not_all_remembered(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catching_up, "MOST_SEEN", 3)
    assert scene.bot is not None
    cog = scene.bot.get_cog("CatchingUp")
    assert isinstance(cog, catching_up.CatchingUp)
    channels = [scene.server.build.channel(scene.guild, f"c{number}") for number in range(5)]
    seen = cog._seen[0]  # pyright: ignore[reportPrivateUsage]
    for channel in (*channels[:3], channels[0], *channels[3:]):
        said = scene.server.driver.say(channel, scene.bob, "by the way")
        async with asyncio.timeout(5):
            while seen.get(channel.id) != said.id:
                await asyncio.sleep(0.01)
    assert set(seen) == {channels[each].id for each in (0, 3, 4)}
