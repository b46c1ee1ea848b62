"""The gateway hears from the bot at all times, whatever it is busy with: a real process."""

import asyncio
import json
from pathlib import Path

from tests.loopback.discord_server import Interaction, LoopbackDiscord, Message, Upload
from tests.loopback.endpoint import LoopbackEndpoint, Step
from tests.loopback.process import BotProcess

HEARTBEAT = 1.0
"""Seconds between two; the server misses one after two and a half."""

BOOK = "\n\n".join(
    f"Chapter {number}. " + f"The keeper of light {number} counts ships. " * 60
    for number in range(800)
)
LONG = "\n\n".join(f"Paragraph {number}. " + "lorem ipsum " * 40 for number in range(150))
DEEP = json.dumps({"name": "roll_dice", "arguments": {"count": 1, "sides": 6}})


async def test_heavy_work_of_every_kind_blocks_no_heartbeat(tmp_path: Path) -> None:
    server = LoopbackDiscord()
    server.limits.heartbeat_ms = int(HEARTBEAT * 1000)
    async with LoopbackEndpoint() as endpoint, server, BotProcess(server) as bot:
        guild = server.build.guild()
        channel = server.build.channel(guild, "general")
        alice = server.build.user("alice", guild)
        await bot.start(
            ["run"],
            {
                "VERBATIM_HOME": str(tmp_path),
                "VERBATIM_PROBE": "off",
                "VERBATIM_BASE_URL": endpoint.base_url,
                "VERBATIM_MODEL": "scripted",
                "VERBATIM_CONTEXT_WINDOW": "131072",
            },
        )
        await bot.wait_for_output("Connected as", timeout=60)

        async def said(path: str, **options: str | Upload) -> Message:
            used = server.driver.slash(channel, guild.owner, path, options)
            answered: Interaction = await server.driver.answered(used)
            assert answered.original is not None
            return answered.original

        await said("knowledge create", name="book")
        adding = await said(
            "knowledge add", context="book", file=Upload(filename="book.txt", data=BOOK.encode())
        )
        endpoint.add(Step(text=LONG, split=400), Step(text=f"```\n{DEEP * 3000}\n``` is no call."))
        for text in ("write at length", "write a log"):
            asked = server.driver.say(channel, alice, f"{server.bot.mention} {text}")
            await server.journal.until(lambda asked=asked: _is_done(asked), timeout=60)
            reply = server.messages(channel)[-1]
            await said("tool prompt snapshot", message=str(reply.id), format="diff")
            await said("tool prompt snapshot")
        await said("config export")
        await server.journal.until(lambda: "book.txt" in adding.text, timeout=120)
        # Long enough for one to be missed after the last of the work.
        await asyncio.sleep(HEARTBEAT * 2.5 + 0.5)
        assert server.violations() == []
        assert "heartbeat blocked" not in bot.output


def _is_done(asked: Message) -> bool:
    """Whether buttons stand under a message that came after the question."""
    messages = asked.channel.messages.values()
    return any(
        "Regenerate" in json.dumps(each.components) for each in messages if each.id > asked.id
    )
