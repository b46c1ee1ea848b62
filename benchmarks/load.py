"""How much one process carries: many turns streaming at once, or very many turns in a row.

    python -m benchmarks load
    python -m benchmarks.load --streams 80 --rate 25 --tokens 500     a load
    python -m benchmarks.load --soak 20000                            a soak

The bot, the endpoint and, as the floor, the openai client alone run as processes of their own
beside a loopback Discord with 1,000 guilds. First the client reads all streams and does nothing
with them, then the bot answers with the same streams. CPU is counted from the first question to
the last word shown, everything that the bot does in between included. Where no number of streams
is given it is the one that costs the client A_THIRD of a core while all of them run, at least
FEWEST.

Questions come at most ASKED_A_SECOND a second: each takes three requests before its first word
is shown, besides those that show the other answers, and Discord's limit on all of them holds.

A lag is the time from the moment when a token left the endpoint to the edit request, or the new
message, that shows it; waiting for the next edit is part of it.

Prints JSON. Exit status 1 if anything was violated, lost, or over its `goals`; `--no-goals` leaves
the last out, for machines that do something else as well.
"""

import argparse
import asyncio
import json
import socket
import sys
import time
from collections import Counter
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import takewhile
from statistics import median
from tempfile import TemporaryDirectory
from typing import TypeVar

import aiohttp

from benchmarks.load_endpoint import tokens_of
from benchmarks.process_figures import Figures, figures
from cogs.delivery import CADENCE
from cogs.pacing import ALL_EDITS
from prompt.values import Json
from tests.cogs.scripted import labels
from tests.loopback.discord_server import Channel, LoopbackDiscord, Message, User
from tests.loopback.process import BotProcess, PythonProcess

_T = TypeVar("_T")

MOST_CPU_RATIO = 1.5
"""CPU beside the openai client's."""

MOST_LAG = 1.2
"""Seconds that 99 of 100 tokens may take beyond the cadence at which so many replies can grow."""

A_THIRD = 100 / 3
FEWEST = 40
ASKED_A_SECOND = 10.0

MOST_REQUESTS = 50
"""A second, over all of Discord's routes."""

MOST_GROWTH = 5.0
"""Percent that memory grows in a soak, after the warm-up."""

MOST_MORE_TASKS = 2.0
MOST_MORE_FILES = 20.0
"""That there are more of at a soak's end: tasks of the bot's event loop, and open files, sockets
among them. Those stay open for a while after use, as many as were used at once."""

_WARM_UP = 0.25
"""Of a soak, before which memory is not compared."""

_SAMPLES = 40
"""Of memory and open files, in a soak."""

_POLL = 0.1
_TELLING = 40
"""Characters at an end that tell where in a stream they stand."""

_MOST_PLACES = 400
"""Channels for a load; streams at most."""

_WINDOW = 8192
"""Tokens of a soak's context window, the default: it is full before the warm-up is over."""

_PLACES = 50
_SHORT = 24
"""Channels of a soak, and tokens of an answer in it."""

_REST_EVERY = 20
_REST = 4.0
"""Seconds, and batches between two such rests: what a turn leaves to do, such as taking buttons off
the reply before it, is over then, and tasks can be compared."""

_TRIED = 20
"""Streams by which it is found out what one costs the client."""


def goals(streams: int) -> dict[str, float]:
    """The most that is right. Beyond 43 streams not CADENCE but Discord's limit on all requests
    decides how often each is shown: the edits of a second are shared among them."""
    cadence = max(CADENCE, streams / ALL_EDITS)
    return {"cpu_ratio": MOST_CPU_RATIO, "lag_p99": cadence + MOST_LAG}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question of a member: for the stream `name`, in a channel."""

    channel: Channel
    id: int
    name: str

    @property
    def answer(self) -> list[Message]:
        """The messages that the bot has posted since."""
        since = takewhile(lambda m: m.id > self.id, reversed(self.channel.messages.values()))
        return [message for message in since if message.author.bot][::-1]

    @property
    def has_ended(self) -> bool:
        """Whether the answer has the buttons of a finished one."""
        answer = self.answer
        return bool(answer) and "Delete" in labels(answer[-1])


class Stage:
    """A loopback Discord of many guilds, the endpoint, and the bot between them."""

    def __init__(self, server: LoopbackDiscord, bot: BotProcess, base_url: str) -> None:
        self.server = server
        self.bot = bot
        self.base_url = base_url
        self.places: list[tuple[Channel, User]] = []
        self.metrics_port = free_port()
        self._opened = time.monotonic() - server.journal.now()

    def ask(self, name: str, place: int) -> Asked:
        """The member of a place asks for a stream."""
        channel, user = self.places[place]
        said = self.server.driver.say(channel, user, f"{self.server.bot.mention} {name}")
        return Asked(channel=channel, id=said.id, name=name)

    async def ended(self, asked: Sequence[Asked], *, within: float) -> list[Asked]:
        """Wait until each question has its whole answer; those that have none in time."""
        left, deadline = list(asked), time.monotonic() + within
        while left and time.monotonic() < deadline:
            await asyncio.sleep(_POLL)
            left = [each for each in left if not each.has_ended]
        return left

    async def tasks(self) -> int:
        """Of the bot's event loop, as it tells them itself; what asks for them is one of them."""
        url = f"http://127.0.0.1:{self.metrics_port}/metrics"
        async with aiohttp.ClientSession() as http, http.get(url) as response:
            lines = (await response.text()).splitlines()
        (tasks,) = (int(line.split()[1]) for line in lines if line.startswith("verbatim_tasks "))
        return tasks

    async def written(self) -> dict[str, list[float]]:
        """When each token of each stream left the endpoint, since this was last asked."""
        async with aiohttp.ClientSession() as http, http.get(f"{self.base_url}/log") as response:
            return await response.json()

    def lags(self, asked: Asked, written: Sequence[float]) -> list[float]:
        """Seconds from each token to the first request that shows it; fewer than there are tokens
        where some are never shown."""
        tokens = tokens_of(asked.name, len(written))
        text = "".join(tokens)
        shown = [(0.0, 0)]
        for message in asked.answer:
            for version in message.versions:
                tail = version.text.rstrip()[-_TELLING:]
                place = text.find(tail) if len(tail) == _TELLING else -1
                if place >= 0:
                    shown.append((self._opened + version.at, place + len(tail)))
        shown.sort()
        lags: list[float] = []
        length, position = 0, 0
        for token, left_at in zip(tokens, written, strict=True):
            length += len(token)
            end = len(text[:length].rstrip(" \n-"))
            while position < len(shown) and shown[position][1] < end:
                position += 1
            if position == len(shown):
                break
            lags.append(shown[position][0] - left_at)
        return lags


@asynccontextmanager
async def stage(
    *, guilds: int, places: int, rate: float, tokens: int, window: int = 32768
) -> AsyncGenerator[Stage]:
    """Everything started, and the bot has answered once: later answers share what that opened."""
    async with (
        LoopbackDiscord() as server,
        PythonProcess("-m", "benchmarks.load_endpoint") as endpoint,
        BotProcess(server) as bot,
    ):
        build = server.build
        known = [build.guild(f"Guild {number}") for number in range(max(guilds, places))]
        await endpoint.start(["--rate", str(rate), "--tokens", str(tokens)])
        told = json.loads((await endpoint.wait_for_output(r"^\{.*\}$")).group())
        made = Stage(server, bot, f"http://127.0.0.1:{told['port']}/v1")
        made.places = [
            (build.channel(guild, "general"), build.user(f"member{number}", guild))
            for number, guild in enumerate(known[:places])
        ]
        with TemporaryDirectory(prefix="verbatim-load-") as home:
            await bot.start(
                ["run"],
                {
                    "VERBATIM_HOME": home,
                    "VERBATIM_BASE_URL": made.base_url,
                    "VERBATIM_MODEL": "load",
                    "VERBATIM_PROBE": "off",
                    "VERBATIM_METRICS_PORT": str(made.metrics_port),
                    "VERBATIM_APPROVED_GUILDS": "all",
                    "VERBATIM_MAX_REPLY_TOKENS": str(window // 8),
                    "VERBATIM_CONTEXT_WINDOW": str(window),
                },
            )
            await bot.wait_for_output("Connected as", timeout=120)
            if await made.ended([made.ask("stream-0", 0)], within=60 + tokens / rate):
                raise SystemExit(f"the bot does not answer:\n{bot.output}")
            yield made
            await bot.stop()


async def load(streams: int | None, rate: float, tokens: int, guilds: int) -> dict[str, Json]:
    """The floor, then the bot, with the same streams."""
    lasts = tokens / rate
    async with stage(guilds=guilds, places=_MOST_PLACES, rate=rate, tokens=tokens) as at:
        if streams is None:
            tried = await _floor(at.base_url, _TRIED, within=60 + 3 * lasts)
            streams = max(FEWEST, int(_TRIED * A_THIRD / _percent(tried["cpu_seconds"], lasts)))
            streams = min(streams, _MOST_PLACES)
        spread = streams / ASKED_A_SECOND
        floor = await _floor(at.base_url, streams, within=60 + spread + 3 * lasts)
        await at.written()
        since, before = len(at.server.journal), figures(at.bot.pid)
        begun = time.monotonic()
        asked: list[Asked] = []
        for number in range(streams):
            await asyncio.sleep(max(0.0, begun + number / ASKED_A_SECOND - time.monotonic()))
            asked.append(at.ask(f"stream-{number + 1}", number))
        highest, left = figures(at.bot.pid).resident_bytes, asked
        deadline = begun + 60 + spread + 3 * lasts
        while left and time.monotonic() < deadline:
            left = await at.ended(left, within=1.0)
            highest = max(highest, figures(at.bot.pid).resident_bytes)
        after, took = figures(at.bot.pid), time.monotonic() - begun
        written = await at.written()
        lags: list[float] = []
        unshown = 0
        for each in asked:
            seen = at.lags(each, written[each.name])
            lags += seen
            unshown += tokens - len(seen)
        cpu = after.cpu_seconds - before.cpu_seconds
        rest = [record for record in at.server.journal.since(since) if record.kind == "rest"]
        busiest = Counter(int(record.at) for record in rest)
        edits = sum(record["method"] == "PATCH" for record in rest)
        return {
            "streams": streams,
            "tokens_a_second_and_stream": rate,
            "tokens_a_stream": tokens,
            "guilds": guilds,
            "wall_seconds": round(took, 1),
            "unfinished_turns": len(left),
            "tokens_never_shown": unshown,
            "violations": [str(record.to_json()) for record in at.server.violations()[:10]],
            "edits_a_second": round(edits / took, 1),
            "most_requests_in_a_second": max(busiest.values(), default=0),
            "lag_p50": round(_percentile(lags, 50), 3),
            "lag_p99": round(_percentile(lags, 99), 3),
            "client": _of_process(floor["cpu_seconds"], streams, lasts)
            | {
                "megabytes_a_turn": _megabytes(
                    floor["resident_bytes"] - floor["idle_bytes"], streams
                )
            },
            "bot": _of_process(cpu, streams, lasts)
            | {
                "megabytes_a_turn": _megabytes(highest - before.resident_bytes, streams),
                "resident_megabytes": round(before.resident_bytes / 1e6),
            },
            "cpu_ratio": round(cpu / floor["cpu_seconds"], 2),
            "goals": dict(goals(streams)),
        }


async def _floor(base_url: str, streams: int, *, within: float) -> dict[str, float]:
    async with PythonProcess("-m", "benchmarks.load_client") as client:
        spread = str(streams / ASKED_A_SECOND)
        await client.start(["--base-url", base_url, "--streams", str(streams), "--spread", spread])
        if await client.wait(timeout=within):
            raise SystemExit(f"the client failed:\n{client.output}")
        return json.loads(client.output)


def _of_process(cpu: float, streams: int, lasts: float) -> dict[str, Json]:
    return {
        "cpu_seconds": round(cpu, 2),
        "cpu_seconds_a_turn": round(cpu / streams, 4),
        "percent_of_a_core_while_all_stream": round(_percent(cpu, lasts), 1),
    }


def _percent(cpu: float, lasts: float) -> float:
    """Of a core that streams take while all of them run: what one takes is spread over its time,
    and where they overlap it adds up."""
    return 100 * cpu / lasts


def _megabytes(size: float, turns: int) -> float:
    return round(size / 1e6 / turns, 2)


def _percentile(values: Sequence[float], percent: int) -> float:
    """0 for no values."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, len(ordered) * percent // 100)] if ordered else 0.0


def free_port() -> int:
    """One that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def soak(turns: int, guilds: int) -> dict[str, Json]:
    """Short answers, one after the other in many channels; what the process holds meanwhile."""
    async with stage(
        guilds=guilds, places=_PLACES, rate=1000.0, tokens=_SHORT, window=_WINDOW
    ) as at:
        samples: list[Figures] = []
        tasks: list[int] = []
        lost = 0
        begun = time.monotonic()
        for first in range(0, turns, _PLACES):
            batch = range(first, min(first + _PLACES, turns))
            asked = [at.ask(f"stream-{number}", number % _PLACES) for number in batch]
            lost += len(await at.ended(asked, within=60))
            samples.append(figures(at.bot.pid))
            if len(samples) % _REST_EVERY == 0 or batch.stop == turns:
                await asyncio.sleep(_REST)
                tasks.append(await at.tasks())
                print(f"{batch.stop} turns, {samples[-1]}, {tasks[-1]} tasks", file=sys.stderr)
        early, late = _early_and_late([each.resident_bytes for each in samples])
        few_files, many_files = _early_and_late([each.open_files for each in samples])
        few_tasks, many_tasks = _early_and_late(tasks)
        return {
            "turns": turns,
            "wall_seconds": round(time.monotonic() - begun, 1),
            "unfinished_turns": lost,
            "violations": [str(record.to_json()) for record in at.server.violations()[:10]],
            "resident_megabytes": [round(s.resident_bytes / 1e6, 1) for s in _spread(samples)],
            "open_files": [s.open_files for s in _spread(samples)],
            "tasks_at_rest": tasks,
            "growth_percent": round(100 * (late / early - 1), 2),
            "more_open_files": many_files - few_files,
            "more_tasks": many_tasks - few_tasks,
        }


def _early_and_late(values: Sequence[float]) -> tuple[float, float]:
    """What is usual after the warm-up, and at the end."""
    warm = values[int(len(values) * _WARM_UP) :]
    third = max(1, len(warm) // 3)
    return median(warm[:third]), median(warm[-third:])


def _spread(samples: Sequence[_T]) -> Sequence[_T]:
    return samples[:: max(1, len(samples) // _SAMPLES)]


def faults(told: Mapping[str, Json], goals: Mapping[str, float]) -> list[str]:
    """What is not as it should be."""
    found = [f"{name}: {told[name]}" for name in ("unfinished_turns", "violations") if told[name]]
    if told.get("tokens_never_shown"):
        found.append(f"tokens never shown: {told['tokens_never_shown']}")
    most = {**goals, "most_requests_in_a_second": MOST_REQUESTS, "growth_percent": MOST_GROWTH}
    most |= {"more_open_files": MOST_MORE_FILES, "more_tasks": MOST_MORE_TASKS}
    for name, limit in most.items():
        value = told.get(name)
        if isinstance(value, int | float) and value > limit:
            found.append(f"{name} is {value}, over {limit}")
    return found


def main() -> int:
    """Read the command line and measure; 1 if something is not as it should be."""
    parser = argparse.ArgumentParser(prog="benchmarks.load", description=__doc__)
    parser.add_argument("--streams", type=int, help="turns at once")
    parser.add_argument("--rate", type=float, default=25.0, help="tokens a second and stream")
    parser.add_argument("--tokens", type=int, default=500, help="in a stream")
    parser.add_argument("--guilds", type=int, default=1000, help="that the bot is in")
    parser.add_argument("--soak", type=int, metavar="TURNS", help="so many turns in a row instead")
    parser.add_argument("--no-goals", action="store_true", help="only measure speed, do not judge")
    arguments = parser.parse_args()
    run = (
        load(arguments.streams, arguments.rate, arguments.tokens, arguments.guilds)
        if arguments.soak is None
        else soak(arguments.soak, arguments.guilds)
    )
    told = asyncio.run(run)
    judged = arguments.soak is None and not arguments.no_goals
    told["faults"] = found = faults(told, goals(int(told["streams"])) if judged else {})
    print(json.dumps(told, indent=2))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
