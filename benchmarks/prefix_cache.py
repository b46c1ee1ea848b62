"""Measures how much of each prompt a server finds in its prefix cache. Prints JSON.

    python -m benchmarks prefix_cache            on the embedded server and the small model
    python -m benchmarks.prefix_cache --model FILE --turns 30

`plain` is a conversation of three members with tool calls; the others change one thing: passages
of documents in the tail, a history that has to be trimmed, a new persona halfway. `native` sends
the `tools` field to a template that reads it, and no block. `naive` is a bot that writes the time
first and a tool's definition from the turn on that loads it. Two channels then take turns on a
server with two slots, with and without a slot of their own, and a first answer is timed with and
without a warm-up.

Invariant: a request falls short if less of it was cached than the request before it in its channel
had before the question that it answered, but for a few tokens. Exit status 1 if one of ours
does where nothing was changed, or if the plain run reuses less than it must.
"""

import argparse
import asyncio
import json
import logging
import os
import platform
import sys
import time
from collections.abc import AsyncGenerator, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias, cast

from rich.console import Console

from benchmarks.rehearsal import Growing, Rehearsal, rehearsal
from cli.embedded.catalogue import SMALL_MODEL
from cli.embedded.errors import EmbeddedError
from cli.embedded.gguf import LocalModel
from cli.embedded.offer import offer_model
from cli.embedded.process import EmbeddedEndpoint
from data.settings import REPOSITORY
from prompt.values import Json
from providers.openai.adapter import Limits, OpenAIProvider
from tests.cache.street import CLEO
from tests.chat.scripted import ADA, BOB, Step, call, say
from tools.builtin import builtin_registry

LEAST_PERCENT = 97.0
"""Of the prompts before, over the plain run."""

Runs: TypeAlias = dict[str, dict[str, Json]]
"""Figures by the name of the run."""

_UNCHANGED = ("plain", "grounded", "native", "two_channels_slot_hint_per_channel")

_SMALL_WINDOW = 2000
_MEMBERS = (ADA, BOB, CLEO)
_TOOLS = tuple(builtin_registry())

_SAID = (
    ("Has anyone seen the new map of the harbour?", "It hangs in the lobby, next to the door."),
    ("How long does the ferry take?", "About forty minutes, an hour when the sea is rough."),
    ("what should I cook tonight", "A lentil soup: onions, carrots, lentils, and some vinegar."),
    ("Is a tomato a fruit?", "To a botanist it is; to a cook it is a vegetable."),
)
_PAGES = (
    "The ferry leaves the harbour at seven, at noon and at six; tickets are sold on board. " * 6,
    "The kitchen is open to all until ten. Whoever cooks a soup tonight washes up as well. " * 6,
    "The map of the harbour shows three piers. The lobby has a second map of the island. " * 6,
)
_CHANGED = "Oak is your name now. Answer in one sentence, as a sailor would."


def _steps(number: int) -> Sequence[Step]:
    """What the model answers in the turn of this number: words, or a call and words."""
    match number % 6:
        case 2:
            return ([call("roll_dice", dice="2d6")], [say("There they lie.")])
        case 4:
            return (
                [say("One moment."), call("remember", fact=f"The ferry of day {number} was late.")],
                [call("recall")],
                [say("I have made a note of it, and it is not the first.")],
            )
        case _:
            return ([say(_SAID[number % 4][1])],)


async def _talk(run: Rehearsal, turns: int, *, start: int = 0, channel: int = 1) -> None:
    for number in range(start, start + turns):
        text = f"{_SAID[number % 4][0]} ({run.name} {channel}, {number})"
        await run.ask(_MEMBERS[number % 3], text, *_steps(number), channel=channel)


async def _plain(server: OpenAIProvider, turns: int) -> dict[str, Json]:
    async with rehearsal(server, "plain", tools=_TOOLS) as run:
        await _talk(run, turns)
        return run.report()


async def _grounded(server: OpenAIProvider, turns: int) -> dict[str, Json]:
    async with rehearsal(server, "grounded", tools=_TOOLS) as run:
        await run.ground_in(*_PAGES)
        await _talk(run, turns)
        return run.report()


async def _trimmed(server: OpenAIProvider, turns: int) -> dict[str, Json]:
    async with rehearsal(server, "trimmed", tools=_TOOLS, window=_SMALL_WINDOW) as run:
        await _talk(run, turns)
        cut = await run.store.channels.cut_point(1)
        return {**run.report(), "has_trimmed": cut is not None and cut > 100_010}


async def _changed(server: OpenAIProvider, turns: int) -> dict[str, Json]:
    async with rehearsal(server, "changed", tools=_TOOLS) as run:
        await _talk(run, turns // 2)
        await run.persona(_CHANGED)
        await _talk(run, turns - turns // 2, start=turns // 2)
        return run.report()


async def _native(server: OpenAIProvider, turns: int) -> dict[str, Json]:
    async with rehearsal(server, "native", tools=_TOOLS) as run:
        await run.set(tool_mode="native")
        await _talk(run, turns)
        return run.report()


async def _naive(server: OpenAIProvider, turns: int) -> dict[str, Json]:
    growing = Growing(_TOOLS, first=2)
    async with rehearsal(server, "naive", toolset=lambda: growing) as run:
        await run.persona("Elm is your name.")
        await run.set(time_in_prompt="head")
        for number in range(turns):
            await run.ask(_MEMBERS[number % 3], _SAID[number % 4][0], [say(_SAID[number % 4][1])])
            growing.load()
        return run.report()


async def _two_channels(server: OpenAIProvider, hint: str, turns: int) -> dict[str, Json]:
    async with rehearsal(server, f"slots {hint}", tools=_TOOLS) as run:
        await run.set(slot_hint=hint)
        for number in range(turns):
            for channel in (1, 2):
                await _talk(run, 1, start=number, channel=channel)
        return run.report()


async def _first_answers(server: OpenAIProvider) -> dict[str, Json]:
    """Seconds until the first token of the first answer."""
    found: dict[str, Json] = {}
    for name in ("cold", "warm"):
        async with rehearsal(server, name, tools=_TOOLS) as run:
            await run.persona(f"You are {name}.")
            if name == "warm":
                await run.set(warm_up="on")
                began = time.monotonic()
                await run.house.service.warm_up(run.house.place)
                found["warm_up_s"] = round(time.monotonic() - began, 2)
            await run.ask(ADA, "Hello there!", [say("Hello.")])
            read = run.provider.reads[0]
            found |= {
                f"{name}_first_token_s": round(read.seconds, 2),
                f"{name}_cached_tokens": read.cached,
                "prompt_tokens": read.tokens,
            }
    return found


@asynccontextmanager
async def _served(model: LocalModel, *, parallel: int = 1) -> AsyncGenerator[OpenAIProvider]:
    with TemporaryDirectory() as home:
        async with EmbeddedEndpoint(Path(home), model, parallel=parallel) as endpoint:
            provider = OpenAIProvider(
                base_url=endpoint.base_url,
                model=endpoint.model,
                limits=Limits(first_token=600, idle=600),
            )
            try:
                yield provider
            finally:
                await provider.close()


async def measured(model: LocalModel, turns: int, short: int) -> tuple[Runs, dict[str, Json]]:
    """Everything. `turns` is the length of the plain run, `short` that of runs that cost more."""
    runs: Runs = {}
    async with _served(replace(model, plain_template=True)) as server:
        for name, run, length in (
            ("plain", _plain, turns),
            ("grounded", _grounded, short),
            ("trimmed", _trimmed, 4 * short),
            ("changed", _changed, short),
            ("naive", _naive, short),
        ):
            runs[name] = await _timed(name, run(server, length))
        first = await _first_answers(server)
    async with _served(replace(model, plain_template=False)) as server:
        runs["native"] = await _timed("native", _native(server, 3 * short))
    async with _served(replace(model, plain_template=True), parallel=2) as server:
        for hint in ("off", "per_channel"):
            name = f"two_channels_slot_hint_{hint}"
            runs[name] = await _timed(name, _two_channels(server, hint, short))
    return runs, first


async def _timed(name: str, run: Coroutine[None, None, dict[str, Json]]) -> dict[str, Json]:
    began = time.monotonic()
    found = await run
    seconds = round(time.monotonic() - began, 1)
    print(
        f"{name}: {found['reused_percent']} % of the prompts before reused, "
        f"{found['worst_percent']} % at worst, in {seconds} s",
        file=sys.stderr,
        flush=True,
    )
    return {**found, "seconds": seconds}


def faults(runs: Runs) -> list[Json]:
    """What the runs show that must not be."""
    found: list[Json] = []
    for name, run in runs.items():
        if name in _UNCHANGED and run["fell_short"]:
            found.append(f"{name}: {run['fell_short']} requests read again what was cached")
    if cast("float", runs["plain"]["reused_percent"]) < LEAST_PERCENT:
        found.append(f"plain: less than {LEAST_PERCENT} % reused")
    return found


def _model(path: Path | None) -> LocalModel:
    """The model to run, fetched at the first time. Raises EmbeddedError."""
    return offer_model(
        REPOSITORY / "var",
        model_path=path,
        model=SMALL_MODEL,
        assume_yes=True,
        console=Console(stderr=True),
        stdin=sys.stdin,
    )


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.prefix_cache")
    given = os.environ.get("VERBATIM_MODEL_PATH")
    parser.add_argument(
        "--model",
        type=Path,
        default=Path(given) if given else None,
        help="a GGUF file of a model that speaks ChatML; default: the small pinned model",
    )
    parser.add_argument("--turns", type=int, default=30, help="of the plain run; default: 30")
    parser.add_argument("--short", type=int, default=4, help="of runs that cost more; default: 4")
    arguments = parser.parse_args()
    logging.disable(logging.WARNING)
    try:
        model = _model(arguments.model)
        runs, first = asyncio.run(measured(model, arguments.turns, arguments.short))
    except EmbeddedError as error:
        print(json.dumps({"skipped": str(error)}, indent=2))
        return 0
    wrong = faults(runs)
    machine: Json = {"cores": len(os.sched_getaffinity(0)), "python": platform.python_version()}
    found = {
        "model": model.name,
        "machine": machine,
        "runs": runs,
        "first_answer": first,
        "faults": wrong,
    }
    print(json.dumps(found, indent=2))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
