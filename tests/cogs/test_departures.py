"""Servers that the bot has left are seen, once it knows which there are."""

import asyncio

import pytest

from cogs import departures
from data import departures as kept
from tests.cogs.conftest import Scene


async def test_a_left_server_is_forgotten_and_the_others_are_not(
    quiet_scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept, "GRACE", 0)
    facts = quiet_scene.desk.privacy.facts
    await facts.remember(quiet_scene.guild.id, 30, "of this server")
    await facts.remember(999, 30, "of another")
    await asyncio.sleep(0.05)
    assert await facts.recall(999, 30, None)  # nothing goes without a session
    await quiet_scene.start()
    async with asyncio.timeout(10):
        while await facts.recall(999, 30, None):
            await asyncio.sleep(0.01)
    assert await facts.recall(quiet_scene.guild.id, 30, None)
    assert departures.EVERY * 3 < 24 * 3600
