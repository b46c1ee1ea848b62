"""A bot that is killed in the middle of a reply, and started again: real processes."""

import os
import signal
from pathlib import Path

from chat.again import going_on
from cogs.leftovers import INTERRUPTED
from cogs.rendering import SUBTEXT
from tests.cogs.scripted import labels
from tests.loopback.endpoint import LoopbackEndpoint, Step
from tests.loopback.process import BotProcess
from tests.main_job import scene


async def test_a_reply_that_a_killed_bot_left_is_marked_and_goes_on(tmp_path: Path) -> None:
    async with LoopbackEndpoint() as endpoint:
        settings = {
            "VERBATIM_BASE_URL": endpoint.base_url,
            "VERBATIM_MODEL": "scripted",
            "VERBATIM_PROBE": "off",
        }
        words = " ".join(str(number) for number in range(400))
        endpoint.add(Step(text=words, split=2, pause=0.01))
        async with scene(tmp_path, settings) as here:
            server = here.server
            said = server.driver.say(here.channel, here.member, f"{server.bot.mention} count")
            reply = await server.wait_for_message(
                here.channel, lambda m: m.author is server.bot and " 9 " in m.text, timeout=30
            )
            os.kill(here.bot.pid, signal.SIGKILL)
            assert await here.bot.wait() == -signal.SIGKILL
            half = reply.text
            assert labels(reply) == ["Stop"]
            async with BotProcess(server) as again:
                await again.start(["run"], {"VERBATIM_HOME": str(tmp_path), **settings})
                await server.journal.until(lambda: "Delete" in labels(reply), timeout=60)
                assert reply.text == f"{half}\n{SUBTEXT}{INTERRUPTED}"
                assert labels(reply) == ["Regenerate", "Continue", "Delete"]
                endpoint.add(Step(expects=[half[:100]], text="and so on."))
                await server.driver.acknowledged(
                    server.driver.press(here.member, reply, "Continue")
                )
                rest = await server.wait_for_message(
                    here.channel, lambda m: m.reply_to is reply and m.text == "and so on."
                )
                assert going_on(half) in endpoint.received[-1].body["messages"][-1]["content"]
                # Nothing was sent twice, and nothing of it is left for the next start.
                assert server.messages(here.channel) == [said, reply, rest]
                await server.journal.until(lambda: "Delete" in labels(rest), timeout=5)
                await again.stop()
            async with BotProcess(server) as third:
                before = len(server.journal)
                await third.start(["run"], {"VERBATIM_HOME": str(tmp_path), **settings})
                await server.wait_for(
                    lambda record: record.kind == "identify", since=before, timeout=60
                )
                assert "half-written" not in third.output
            assert server.violations() == []
