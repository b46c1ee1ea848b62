"""Everything goes wrong around the bot; each turn has to end all the same. Prints JSON.

    python -m benchmarks chaos
    python -m benchmarks.chaos --turns 1000 --seed 1

The bot runs as a process of its own, with short timeouts, on a loopback Discord. Members ask in
several channels at once. A seeded choice decides how the endpoint answers each question, what
Discord does to the requests meanwhile, and what becomes of the connection to it; one MCP server
dies whenever it is called. A last few questions go to an endpoint whose name does not resolve.

An endpoint that fails again and again is left alone by the bot for half a minute or more. Who asks
meanwhile is told so; that is counted as `resting`, and the storm waits until it is over.

Invariant: each question ends, within LONGEST seconds, in an answer, a part of one with a mark, or
words that say what went wrong. Exit status 1 if one does not, if the bot wrote a traceback or
ended, or if it took more memory than MOST_MEGABYTES beyond what it had at first.
"""

import argparse
import asyncio
import json
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.chaos_endpoint import WAYS, chaos_endpoint
from benchmarks.process_figures import figures
from cogs.rendering import SUBTEXT, without_remarks
from prompt.values import Json
from tests.cogs.scripted import labels
from tests.loopback.discord_server import (
    Channel,
    Delay,
    GatewayPage,
    Limits,
    LoopbackDiscord,
    LostAnswer,
    Message,
    Reset,
    Status,
    Throttle,
    User,
)
from tests.loopback.discord_server.faults import Effect
from tests.loopback.process import BotProcess

LONGEST = 45.0
"""Seconds that a turn may take: the timeouts below, five attempts at Discord with pauses of up to
eight seconds between them, and a new session with Discord."""

ZOMBIE = 70.0
"""Seconds after which discord.py gives up a connection that is open and silent."""

MOST_MEGABYTES = 150
FIRST_TOKEN, IDLE = 2, 2
"""Seconds that the bot waits for an endpoint."""

PLACES = 4
"""Channels, and questions at once."""

_POLL = 0.05
_UNRESOLVED = 4
"""Questions to an endpoint whose name does not resolve."""

_WELL = 0.7
"""Of the questions: the endpoint answers them well, so that it is not left alone too often."""

_RESTING = re.compile(r"has not answered lately\. It is tried again in (?:a|(\d+)) (\w+)")

_REQUESTS = r"/channels/\d+/(messages|typing)"
_EFFECTS: tuple[Effect, ...] = (
    Throttle(retry_after=0.3),
    Throttle(retry_after=0.3, scope="global", everywhere=True),
    Status(status=500),
    Status(status=503),
    GatewayPage(status=502),
    GatewayPage(status=504),
    Reset(),
    LostAnswer(),
    Delay(seconds=0.5),
)
_CONNECTION = ("cut", "reconnect", "resumable", "storm")
"""What becomes of the connection, but for what is rarer: a new session, of which Discord lets a bot
begin few, and a zombie, which takes a minute to be noticed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One turn: what was asked, where, and since when."""

    number: int
    way: str
    channel: Channel
    message: Message

    def answer(self) -> list[Message]:
        """The messages of the bot since, in this channel."""
        later = self.channel.messages.values()
        return [m for m in later if m.id > self.message.id and m.author.bot and not m.deleted]

    def outcome(self) -> str | None:
        """How it ended; None while it has not."""
        answer = self.answer()
        if not any("Delete" in labels(message) for message in answer):  # files come behind it
            return None
        spoken = "\n".join(without_remarks(message.text) for message in answer).strip()
        told = [line for m in answer for line in m.text.splitlines() if line.startswith(SUBTEXT)]
        if f"done-{self.number}" in spoken:
            return "answer"
        if spoken:
            return "marked" if told else "unmarked"
        if self.rests:
            return "resting"
        return "error" if told else "empty"

    @property
    def rests(self) -> float:
        """Seconds for which the endpoint is left alone, as the answer says."""
        said = "\n".join(message.text for message in self.answer())
        if (found := _RESTING.search(said)) is None:
            return 0.0
        return int(found[1] or 1) * (60.0 if found[2].startswith("minute") else 1.0)


class Storm:
    """The server, its people, and the trouble."""

    def __init__(
        self,
        server: LoopbackDiscord,
        seed: int,
        ways: Sequence[str],
        places: int,
    ) -> None:
        self._server = server
        self.log: Callable[[], str] = str
        """What the bot has written."""
        self._random = random.Random(seed)
        self._ways = ways
        guild = server.build.guild()
        self._places: list[tuple[Channel, User]] = [
            (server.build.channel(guild, f"c{n}"), server.build.user(f"member{n}", guild))
            for n in range(places)
        ]
        self.outcomes: dict[str, Counter[str]] = {}
        self.trouble = Counter[str]()
        self.lost: list[str] = []
        self.slowest = self.rested = 0.0
        self._numb_until = 0.0

    async def run(self, first: int, turns: int, *, calm: bool = False) -> None:
        """Ask so many questions, some at once. Where it is `calm` only the endpoint is amiss."""
        rest = 0.0
        for start in range(first, first + turns, len(self._places)):
            stop = min(start + len(self._places), first + turns)
            # What follows a rest is a trial: if that failed, the rest would double.
            batch = [self._ask(number, well=rest > 0) for number in range(start, stop)]
            if not calm:
                self._trouble_requests()
                await asyncio.sleep(self._random.uniform(0.0, 0.3))
                await self._trouble_connection()
            await self._settle(batch)
            rest = max(question.rests for question in batch)
            self.rested += rest
            await asyncio.sleep(rest)

    def _ask(self, number: int, *, well: bool = False) -> Question:
        way = "well" if self._random.random() < _WELL else self._random.choice(self._ways)
        way = "well" if well else way
        channel, user = self._places[number % len(self._places)]
        words = f"{self._server.bot.mention} chaos-{number}-{way}"
        message = self._server.driver.say(channel, user, words)
        return Question(number=number, way=way, channel=channel, message=message)

    def _trouble_requests(self) -> None:
        for _ in range(self._random.randint(0, 2)):
            effect, times = self._random.choice(_EFFECTS), self._random.randint(1, 3)
            skip = self._random.randint(0, 4)
            self.trouble[type(effect).__name__] += 1
            self._server.faults.plant(_REQUESTS, effect, times=times, skip=skip)

    async def _trouble_connection(self) -> None:
        if self._random.random() > 0.3 or time.monotonic() < self._numb_until:
            return
        kind = self._random.choice(_CONNECTION)
        if kind == "resumable" and self._random.random() < 0.2:
            kind = "new session"
        if kind == "reconnect" and self._random.random() < 0.2:
            kind = "zombie"
        self.trouble[kind] += 1
        gateway = self._server.gateway
        match kind:
            case "cut":
                gateway.cut()
            case "reconnect":
                gateway.ask_to_reconnect()
            case "storm":
                for _ in range(3):
                    gateway.cut()
                    await asyncio.sleep(0.4)
            case "zombie":
                gateway.mute()
                self._numb_until = time.monotonic() + ZOMBIE
            case _:
                gateway.invalidate(resumable=kind == "resumable")

    async def _settle(self, batch: list[Question]) -> None:
        begun, left = time.monotonic(), list(batch)
        numb = max(0.0, self._numb_until - begun)
        longest = LONGEST + numb
        while left and time.monotonic() - begun < longest:
            await asyncio.sleep(_POLL)
            for question in list(left):
                if (outcome := question.outcome()) is not None:
                    left.remove(question)
                    self.outcomes.setdefault(question.way, Counter())[outcome] += 1
                    if outcome in {"unmarked", "empty"}:
                        self._lose(question, outcome)
        if not numb:
            self.slowest = max(self.slowest, time.monotonic() - begun)
        for question in left:
            self._lose(question, "never ended")

    def _lose(self, question: Question, why: str) -> None:
        shown = [message.text[:200] for message in question.answer()]
        ends = self.log()[-2000:]
        self.lost.append(
            f"{question.number} ({question.way}) {why}: {shown}; the log ends:\n{ends}"
        )


async def chaos(
    turns: int, seed: int, *, ways: Sequence[str] = WAYS, places: int = PLACES
) -> dict[str, Json]:
    """The figures of so many turns, in which the endpoint errs in these ways."""
    faults: list[str] = []
    megabytes = 0.0
    limits = Limits(heartbeat_ms=5000, identify_window=1.0)
    async with LoopbackDiscord(limits=limits) as server, chaos_endpoint() as base_url:
        storm = Storm(server, seed, ways, places)
        unresolved = min(_UNRESOLVED, turns // 40)
        parts = ((base_url, 0, turns - unresolved), ("http://llm.invalid/v1", turns, unresolved))
        for url, first, count in parts if unresolved else parts[:1]:
            with TemporaryDirectory(prefix="verbatim-chaos-") as home:
                async with BotProcess(server) as bot:
                    await _start(bot, Path(home), url)
                    storm.log = lambda bot=bot: bot.output
                    at_first = figures(bot.pid).resident_bytes
                    await storm.run(first, count, calm=url != base_url)
                    if bot.returncode is not None:
                        faults.append(f"the bot ended with {bot.returncode}")
                    else:
                        grown = (figures(bot.pid).resident_bytes - at_first) / 1e6
                        megabytes = max(megabytes, grown)
                    await bot.stop()
                    if "Traceback" in bot.output:
                        faults.append(bot.output[bot.output.index("Traceback") :][:3000])
        faults += storm.lost
        if megabytes > MOST_MEGABYTES:
            faults.append(f"memory grew by {megabytes:.0f} MB")
        violations = [str(record.to_json()) for record in server.violations()]
        return {
            "turns": turns,
            "seed": seed,
            "outcomes": {way: dict(found) for way, found in sorted(storm.outcomes.items())},
            "trouble": dict(storm.trouble),
            "slowest_batch_seconds": round(storm.slowest, 1),
            "endpoint_rested_seconds": round(storm.rested),
            "memory_grown_megabytes": round(megabytes, 1),
            "violations": violations[:10],
            "faults": [*faults, *violations[:10]],
        }


async def _start(bot: BotProcess, home: Path, base_url: str) -> None:
    program = str(Path(__file__).parents[1] / "tests" / "tools" / "mcp" / "unruly_program.py")
    entry = {"command": sys.executable, "args": [program, "dies"], "trusted": True}
    (home / "mcp.json").write_text(json.dumps({"mcpServers": {"unruly": entry}}))
    await bot.start(
        ["run"],
        {
            "VERBATIM_HOME": str(home),
            "VERBATIM_BASE_URL": base_url,
            "VERBATIM_MODEL": "chaos",
            "VERBATIM_PROBE": "off",
            "VERBATIM_APPROVED_GUILDS": "all",
            "VERBATIM_FIRST_TOKEN_TIMEOUT": str(FIRST_TOKEN),
            "VERBATIM_IDLE_TIMEOUT": str(IDLE),
        },
    )
    await bot.wait_for_output("Connected as", timeout=60)


def main() -> int:
    """Read the command line and run; 1 if anything was lost."""
    parser = argparse.ArgumentParser(prog="benchmarks.chaos", description=__doc__)
    parser.add_argument("--turns", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    told = asyncio.run(chaos(arguments.turns, arguments.seed))
    print(json.dumps(told, indent=2))
    return 1 if told["faults"] else 0


if __name__ == "__main__":
    sys.exit(main())
