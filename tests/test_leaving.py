"""The bot leaves in ten seconds whatever hangs around it: real processes."""

import asyncio
import os
import signal
import time
from pathlib import Path

import pytest

from tests.loopback.discord_server import LoopbackDiscord
from tests.loopback.discord_server.faults import Delay
from tests.loopback.endpoint import LoopbackEndpoint, Step
from tests.main_job import scene

WORDS = " ".join(str(number) for number in range(400))


def deafen(server: LoopbackDiscord) -> None:
    """From now on nobody reads what the bot says on the gateway, its goodbye included."""
    for connection in server.gateway.connections:
        transport = connection._request.transport  # pyright: ignore[reportPrivateUsage]
        assert isinstance(transport, asyncio.ReadTransport)
        transport.pause_reading()


@pytest.mark.parametrize("hangs", ["endpoint", "discord", "gateway", "all"])
async def test_it_leaves_within_ten_seconds(tmp_path: Path, hangs: str) -> None:
    async with LoopbackEndpoint() as endpoint:
        settings = {"VERBATIM_BASE_URL": endpoint.base_url, "VERBATIM_MODEL": "scripted"}
        slow = hangs in {"endpoint", "all"}
        endpoint.add(Step(text=WORDS, split=2, pause=0.05 if slow else 0.01))
        async with scene(tmp_path, settings) as here:
            server = here.server
            server.driver.say(here.channel, here.member, f"{server.bot.mention} count")
            await server.wait_for_message(
                here.channel, lambda m: m.author is server.bot and " 9 " in m.text, timeout=30
            )
            if hangs in {"discord", "all"}:
                server.faults.plant(r"/messages", Delay(seconds=60), times=100)
            if hangs in {"gateway", "all"}:
                deafen(server)
            began = time.monotonic()
            os.kill(here.bot.pid, signal.SIGTERM)
            assert await here.bot.wait() == 0, here.bot.output
            assert time.monotonic() - began < 10
            assert "Not everything had ended" not in here.bot.output
            assert "Traceback" not in here.bot.output
