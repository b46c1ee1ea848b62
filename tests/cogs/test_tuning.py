"""Tuning with /config tune, over real sockets to Discord and to an endpoint."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from chat.tuning.cases import read_cases
from chat.tuning.tuner import CASES, Tuning
from prompt.values import Json
from tests.cogs.test_setup import bring_endpoint
from tests.cogs.town import shown, town
from tests.loopback.endpoint import Step


def right_answers() -> list[Step]:
    """What a model would write that does everything right; contained texts are taken as values."""
    steps: list[Step] = []
    for case in read_cases(CASES):
        text = "Hello."
        for expected in case.expect:
            arguments: dict[str, Any] = {
                name: value["contains"] if isinstance(value, dict) else value
                for name, value in expected.arguments.items()
            }
            schema = next(t.parameters for t in case.tools if t.name == expected.name)
            for name in schema.get("required", []):
                wanted = schema["properties"][name]["type"]
                filler = {"string": "x", "integer": 1, "number": 1, "array": ["x", "y"]}
                arguments.setdefault(name, filler[wanted])
                if wanted == "array":
                    given = arguments[name]
                    arguments[name] = [given, "y"] if isinstance(given, str) else given
                elif isinstance(arguments[name], list):
                    arguments[name] = arguments[name][0]
            text = f"`{expected.name}({json.dumps(arguments)})`"
        steps.append(Step(text=text, split=1000))
    return steps


async def test_a_server_tunes_its_own_endpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with town(tmp_path, away=True, approved="all") as here:
        channel, driver = here.away_channel, here.server.driver
        refused = await here.said(channel, here.stranger, "config tune")
        assert "only the operator can run it" in refused
        await bring_endpoint(here, here.operator)
        panel = shown(await here.slash(channel, here.stranger, "config tune"))
        assert "about 240 requests" in panel.text
        by_bob = await driver.answered(driver.press(here.bob, panel, "Start"))
        assert shown(by_bob).text.startswith("You need")

        hello = Step(text="Hello.")
        here.theirs.add(*[hello] * 40, *right_answers(), *[hello] * 160)
        driver.press(here.stranger, panel, "Start")
        await here.until(lambda: "Testing:" in panel.text)
        await here.server.journal.until(lambda: "Best: nudge=off" in panel.text, timeout=60)
        assert "Best: nudge=off, 40 instead of 20 right." in panel.text
        (file,) = panel.attachments
        assert json.loads(file.data)["best"] == {"nudge": "off"}
        apply, twice = here.desk.tuner.apply, asyncio.Event()

        async def slowly(guild_id: int | None, tuning: Tuning) -> Mapping[str, Json]:
            before = await apply(guild_id, tuning)
            await twice.wait()
            return before

        monkeypatch.setattr(here.desk.tuner, "apply", slowly)
        driver.press(here.stranger, panel, "Apply")
        async with asyncio.timeout(5):
            while not await here.store.settings.values(here.away.id, "own-one"):
                await asyncio.sleep(0.01)
        second = driver.press(here.stranger, panel, "Apply")
        await here.until(lambda: second.answer is not None)
        await asyncio.sleep(0.1)  # for both to be under way
        twice.set()
        await here.until(lambda: "Set: nudge=off" in panel.text)
        assert await here.store.settings.values(here.away.id, "own-one") == {"nudge": "off"}
        driver.press(here.stranger, panel, "Revert")
        await here.until(lambda: "Best: nudge=off" in panel.text)
        assert await here.store.settings.values(here.away.id, "own-one") == {}


async def test_a_run_can_be_cancelled_and_asked_about(tmp_path: Path) -> None:
    async with town(tmp_path, away=True, approved="all") as here:
        channel, driver = here.away_channel, here.server.driver
        await bring_endpoint(here, here.operator)
        here.theirs.add(Step(text="Hello."), Step(text="…", hang=True))
        panel = shown(await here.slash(channel, here.stranger, "config tune"))
        driver.press(here.stranger, panel, "Start")
        await here.until(lambda: len(here.theirs.received) == 2)
        again = shown(await here.slash(channel, here.stranger, "config tune"))
        assert "Testing: 1 of about 240 requests" in again.text
        driver.press(here.stranger, again, "Cancel")
        await here.until(lambda: again.text.startswith("Cancelled."))
