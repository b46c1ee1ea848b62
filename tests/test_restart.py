"""A bot that is killed in the middle of a reply, and started again: real processes."""

import asyncio
import os
import signal
from pathlib import Path

from chat.again import going_on
from cogs.leftovers import INTERRUPTED, UNANSWERED
from cogs.sending import SUBTEXT
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
                endpoint.add(Step(text="Hi"))  # it has the prompt's head read beforehand
                await third.start(["run"], {"VERBATIM_HOME": str(tmp_path), **settings})
                await server.wait_for(
                    lambda record: record.kind == "identify", since=before, timeout=60
                )
                await asyncio.wait_for(_received(endpoint, 3), 30)
                assert endpoint.received[-1].body["max_tokens"] == 1
                assert "Left open" not in third.output
            assert server.violations() == []


async def test_a_question_of_which_nothing_was_said_is_told_so(tmp_path: Path) -> None:
    async with LoopbackEndpoint() as endpoint:
        settings = {
            "VERBATIM_BASE_URL": endpoint.base_url,
            "VERBATIM_MODEL": "scripted",
            "VERBATIM_PROBE": "off",
        }
        endpoint.add(Step(text="too late", pause=60))
        async with scene(tmp_path, settings) as here:
            server = here.server
            said = server.driver.say(here.channel, here.member, f"{server.bot.mention} hello?")
            await asyncio.wait_for(_received(endpoint, 1), 30)
            os.kill(here.bot.pid, signal.SIGKILL)
            await here.bot.wait()
            async with BotProcess(server) as again:
                await again.start(["run"], {"VERBATIM_HOME": str(tmp_path), **settings})
                told = await server.wait_for_message(
                    here.channel, lambda m: UNANSWERED in m.text, timeout=60
                )
                assert told.reply_to is said
                assert labels(told) == ["Regenerate", "Delete"]
                endpoint.add(Step(text="Hello to you."))
                await server.driver.acknowledged(
                    server.driver.press(here.member, told, "Regenerate")
                )
                await server.journal.until(lambda: told.text == "Hello to you.", timeout=15)
                assert server.messages(here.channel) == [said, told]
            assert server.violations() == []


async def _received(endpoint: LoopbackEndpoint, count: int) -> None:
    while len(endpoint.received) < count:
        await asyncio.sleep(0.02)
