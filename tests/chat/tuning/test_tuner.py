"""Trials of settings, against a scripted model."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from chat.tuning.cases import Case, read_cases
from chat.tuning.tuner import CASES, Progress, Tuner
from data.store import Store
from prompt.demonstrations import demonstrations
from prompt.values import Json
from providers.base import EndpointError, Unavailable
from tests.chat.house import SoleEndpoint
from tests.chat.scripted import ScriptedModel, Step, call, say

TOOLS: list[dict[str, Any]] = [{"name": "skip", "parameters": {"type": "object", "properties": {}}}]
LINES = [{"user": f"skip {n}", "tools": TOOLS, "expect": {"name": "skip"}} for n in range(3)] + [
    {"user": "hi", "tools": TOOLS, "expect": None}
]
DOWN = Unavailable("It is down.", remedy="Start it.")


def cases(tmp_path: Path) -> list[Case]:
    path = tmp_path / "cases.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in LINES))
    return read_cases(path)


def tuner(store: Store, model: ScriptedModel, tmp_path: Path) -> Tuner:
    return Tuner(store=store, routes=SoleEndpoint(model), cases=cases(tmp_path))


def words(count: int = 4) -> list[Step]:
    return [[say("Hello.")] for _ in range(count)]


def right() -> list[Step]:
    return [*([call("skip")] for _ in range(3)), [say("Hi!")]]


async def test_the_best_setting_is_found_set_and_put_back(store: Store, tmp_path: Path) -> None:
    model = ScriptedModel()
    made = tuner(store, model, tmp_path)
    name, requests = await made.plan(None)
    assert (name, requests) == (model.model, 24)
    model.add(*words(), *right(), *words(16))
    heard: list[Progress] = []
    tuning = await made.run(None, heard.append)
    model.check()
    assert heard[-1] == Progress(done=24, of=24)
    assert [trial.name for trial in tuning.trials] == [
        "as it is",
        "nudge=off",
        "schema_level=names_only",
        "time_in_prompt=off",
        "tool_mode=verbatim_only",
        "tool_mode=native",
    ]
    first, best = tuning.trials[0], tuning.best
    assert (first.right_calls, first.right_silences, first.missed) == (0, 1, 3)
    assert (best.name, best.right_calls, best.right_silences) == ("nudge=off", 3, 1)
    assert "nudge=off" in tuning.table()
    assert {request.options.temperature for request in model.requests} == {0.0}

    exported: Any = tuning.as_json()
    assert exported["best"] == {"nudge": "off"}
    assert exported["trials"][1]["calls_right"] == 3
    assert model.endpoint not in json.dumps(exported)

    await store.settings.put(0, model.model, "schema_level", "full")
    before = await made.apply(None, tuning)
    assert await settings(store, model) == {"nudge": "off", "schema_level": "full"}
    await made.put_back(None, tuning, before)
    assert await settings(store, model) == {"schema_level": "full"}


async def settings(store: Store, model: ScriptedModel) -> dict[str, Json]:
    return dict(await store.settings.values(0, model.model))


async def test_one_case_more_is_luck(store: Store, tmp_path: Path) -> None:
    model = ScriptedModel(*words(), [call("skip")], *words(19))
    tuning = await tuner(store, model, tmp_path).run(None)
    assert tuning.trials[1].right == tuning.trials[0].right + 1
    assert tuning.best is tuning.trials[0]


async def test_a_variant_that_is_refused_costs_three_requests(store: Store, tmp_path: Path) -> None:
    model = ScriptedModel(*words(), *([DOWN] for _ in range(3)), *words(16))
    tuning = await tuner(store, model, tmp_path).run(None)
    model.check()
    assert (tuning.trials[1].failed, tuning.trials[1].right) == (4, 0)
    down = ScriptedModel(*([DOWN] for _ in range(3)))
    with pytest.raises(EndpointError, match="does not answer"):
        await tuner(store, down, tmp_path).run(None)
    down.check()


async def test_a_run_can_be_cancelled(store: Store, tmp_path: Path) -> None:
    held = asyncio.Event()
    model = ScriptedModel(*words(2), [held.wait])
    task = asyncio.create_task(tuner(store, model, tmp_path).run(None))
    while len(model.requests) < 3:
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert model.open == 0
    assert await settings(store, model) == {}


def test_the_shipped_requests_are_sound() -> None:
    found = read_cases(CASES)
    assert len(found) == 40
    assert sum(bool(case.expect) for case in found) == 20
    taught = " ".join(text for _, text in demonstrations(""))
    for case in found:
        tools = {tool.name: tool for tool in case.tools}
        assert not [name for name in tools if name in taught]
        for expected in case.expect:
            properties = tools[expected.name].parameters["properties"]
            assert expected.arguments.keys() <= properties.keys()
