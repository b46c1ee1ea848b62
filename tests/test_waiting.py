"""Members who wait, as they see it: the bot as its own process, an endpoint in the house that takes
one request at a time, several members and channels."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from chat.ending import RESTARTING
from tests.loopback.discord_server import Channel, LoopbackDiscord, Message, User
from tests.loopback.endpoint import LoopbackEndpoint, Step
from tests.main_job import Scene, scene


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, and what stands below it."""

    server: LoopbackDiscord
    channel: Channel
    message: Message

    @property
    def answer(self) -> Message | None:
        return next(
            (one for one in self.server.messages(self.channel) if one.reply_to is self.message),
            None,
        )

    @property
    def versions(self) -> list[str]:
        """What the answer said, edit by edit."""
        return [] if self.answer is None else [version.text for version in self.answer.versions]

    async def says(self, text: str) -> None:
        """Wait until the answer is this."""
        deadline = asyncio.get_running_loop().time() + 15
        while self.versions[-1:] != [text]:
            assert asyncio.get_running_loop().time() < deadline, (text, self.versions)
            await asyncio.sleep(0.02)


def ask(here: Scene, channel: Channel, member: User, text: str) -> Asked:
    message = here.server.driver.say(channel, member, f"{here.server.bot.mention} {text}")
    return Asked(here.server, channel, message)


def settings(endpoint: LoopbackEndpoint) -> Mapping[str, str]:
    return {"VERBATIM_BASE_URL": endpoint.base_url, "VERBATIM_MODEL": "scripted"}


async def received(endpoint: LoopbackEndpoint, count: int) -> None:
    deadline = asyncio.get_running_loop().time() + 15
    while len(endpoint.received) < count:
        assert asyncio.get_running_loop().time() < deadline
        await asyncio.sleep(0.02)


async def test_three_members_in_two_channels_share_one_slot(tmp_path: Path) -> None:
    async with LoopbackEndpoint() as endpoint:
        endpoint.add(
            Step(when="one", text="The first.", split=1, pause=0.25),
            Step(when="two", text="The second.", split=1, pause=0.15),
            Step(when="three", text="The third."),
        )
        async with scene(tmp_path, settings(endpoint)) as here:
            general, guild = here.channel, here.channel.guild
            assert guild is not None
            garden = here.server.build.channel(guild, "garden")
            bob, cy = (here.server.build.user(name, guild) for name in ("bob", "cy"))
            first = ask(here, general, here.member, "one")
            await received(endpoint, 1)
            second = ask(here, garden, bob, "two")
            await second.says("-# you are next in line")
            third = ask(here, general, cy, "three")
            await first.says("The first.")
            # The channel is free, the endpoint is the other channel's.
            await received(endpoint, 2)
            await third.says("-# you are next in line")
            await second.says("The second.")
            await third.says("The third.")
            assert len(here.server.messages(general)) == 4
            assert len(here.server.messages(garden)) == 2
            assert here.server.violations() == []
        assert not any(b"in line" in request.raw for request in endpoint.received)


async def test_who_deletes_a_waiting_question_leaves_the_line(tmp_path: Path) -> None:
    async with LoopbackEndpoint() as endpoint:
        endpoint.add(
            Step(when="one", text="The first.", split=1, pause=0.25),
            Step(when="three", text="The third."),
        )
        async with scene(tmp_path, settings(endpoint)) as here:
            guild = here.channel.guild
            assert guild is not None
            garden, pond = (here.server.build.channel(guild, name) for name in ("garden", "pond"))
            first = ask(here, here.channel, here.member, "one")
            await received(endpoint, 1)
            second = ask(here, garden, here.member, "two")
            await second.says("-# you are next in line")
            third = ask(here, pond, here.member, "three")
            await third.says("-# you are second in line")
            here.server.driver.delete(second.message)
            await third.says("-# you are next in line")
            await first.says("The first.")
            await third.says("The third.")
            (left,) = [one.text for one in here.server.messages(garden)]
            assert left == "-# Stopped."
            assert here.server.violations() == []


async def test_whoever_waits_is_told_when_the_bot_is_stopped(tmp_path: Path) -> None:
    async with LoopbackEndpoint() as endpoint:
        endpoint.add(Step(when="one", text="The first.", split=1, pause=0.2))
        async with scene(tmp_path, settings(endpoint)) as here:
            guild = here.channel.guild
            assert guild is not None
            garden = here.server.build.channel(guild, "garden")
            bob = here.server.build.user("bob", guild)
            running = ask(here, here.channel, here.member, "one")
            await received(endpoint, 1)
            in_line = ask(here, garden, here.member, "two")
            await in_line.says("-# you are next in line")
            in_channel = ask(here, here.channel, bob, "three")
            await asyncio.sleep(0.3)  # until the bot has taken it up; nothing of that shows
            await here.bot.stop()
            assert here.bot.returncode == 0
            assert running.versions[-1] == "The first."
            assert in_line.versions == ["-# you are next in line", f"-# {RESTARTING}"]
            assert in_channel.versions == [f"-# {RESTARTING}"]
            assert here.server.violations() == []
