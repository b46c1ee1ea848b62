"""Kills the bot again and again in the middle of its work, and looks what is lost. Prints JSON.

    python -m benchmarks.crash --turns 200 --seed 1

The bot runs as a process of its own on a loopback Discord and a scripted endpoint. Members ask in
several channels at once; meanwhile an admin changes settings and adds documents, and reminders are
set and come due. At a random moment the process gets SIGKILL and is started again.

Invariant: what the bot acknowledged, to a member or to the model, is a promise. After every kill
the database must be sound and hold every promise; in the end every reply is complete or marked and
every reminder was told once. Exit status 1 if anything of that is not so. A question whose reply
had not begun when the bot was killed is told so, or stays as it is where it was not taken up yet;
both are counted.
"""

import argparse
import asyncio
import json
import os
import random
import signal
import sqlite3
import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from chat.tool_settings import TOOLS
from cogs.leftovers import INTERRUPTED, UNANSWERED
from data.migrate import MIGRATIONS, find_migrations
from data.store import DATABASE_NAME
from prompt.values import Json
from tests.cogs.scripted import labels
from tests.loopback.discord_server import (
    Channel,
    Interaction,
    InteractionState,
    LoopbackDiscord,
    Message,
    Upload,
    User,
)
from tests.loopback.endpoint import LoopbackEndpoint, Step
from tests.loopback.process import BotProcess

CHANNELS = 4
LONGEST_BURST = 6
"""Questions between two starts of the bot; at least one."""

LATEST_KILL = 6.0
"""Seconds after the first question of a burst."""

ERRANDS = 4
"""One question in so many asks for a reminder."""

DUE_IN = (10, 20)
"""Seconds until a reminder is due."""

SETTLING = 100.0
"""Seconds at the end: a reminder that was being sent at a kill is held back for a minute."""

ZONES = ("Europe/Oslo", "Asia/Tokyo", "America/Lima", "Africa/Nairobi")
TOOL = "roll_dice"
CONTEXT = "Notes"


@dataclass(kw_only=True)
class Register:
    """A value that is changed over and over: it must be the last acknowledged one, or one that was
    asked for since."""

    allowed: set[str | None]

    def asked(self, value: str) -> None:
        """A change was asked for; it may have been made."""
        self.allowed.add(value)

    def acknowledged(self, value: str) -> None:
        """The bot said that it was made."""
        self.allowed = {value}


@dataclass(kw_only=True)
class Promises:
    """What the bot has acknowledged."""

    zone: Register = field(default_factory=lambda: Register(allowed={None}))
    switch: Register = field(default_factory=lambda: Register(allowed={None}))
    documents: set[str] = field(default_factory=set[str])
    errands: set[str] = field(default_factory=set[str])
    count: int = 0


class Rehearsal:
    """The server, its people, the endpoint, and what was asked and promised so far."""

    def __init__(
        self, server: LoopbackDiscord, endpoint: LoopbackEndpoint, home: Path, seed: int
    ) -> None:
        self._server = server
        self._endpoint = endpoint
        self._home = home
        self._random = random.Random(seed)
        self._guild = server.build.guild()
        self._channels = [server.build.channel(self._guild, f"c{n}") for n in range(CHANNELS)]
        self._members = [server.build.user(f"member{n}", self._guild) for n in range(CHANNELS)]
        self._promises = Promises()
        self._questions: dict[int, Message] = {}
        self._texts: dict[int, str] = {}
        self._pending: list[tuple[Interaction, str, str]] = []
        self._faults: list[str] = []
        self._starts: list[float] = []
        self._orphans: set[int] = set()
        self._kills: list[float] = []

    async def run(self, turns: int) -> dict[str, Json]:
        """Ask so many questions, then wait until nothing is left to be done."""
        number = 0
        while number < turns:
            async with BotProcess(self._server) as bot:
                await self._start(bot)
                if not number:
                    await self._prepare()
                begun = time.monotonic()
                kill_at = begun + self._random.uniform(0.0, LATEST_KILL)
                for _ in range(min(self._random.randint(1, LONGEST_BURST), turns - number)):
                    self._ask(number)
                    self._change(number)
                    number += 1
                    await asyncio.sleep(self._random.uniform(0.0, 0.4))
                while time.monotonic() < kill_at:
                    self._collect()
                    await asyncio.sleep(0.01)
                os.kill(bot.pid, signal.SIGKILL)
                self._kills.append(time.time())
                await bot.wait()
            self._look_after_kill(number)
        async with BotProcess(self._server) as bot:
            await self._start(bot)
            await self._settle()
            await bot.stop()
            if bot.returncode:
                self._faults.append(f"the last process ended with {bot.returncode}")
            if "Traceback" in bot.output:
                self._faults.append(f"a traceback:\n{bot.output}")
        self._look_after_kill(number)
        return self._found()

    async def _start(self, bot: BotProcess) -> None:
        since, begun = len(self._server.journal), time.monotonic()
        await bot.start(
            ["run"],
            {
                "VERBATIM_HOME": str(self._home),
                "VERBATIM_BASE_URL": self._endpoint.base_url,
                "VERBATIM_MODEL": "loopback-model",
                "VERBATIM_PROBE": "off",
                "VERBATIM_APPROVED_GUILDS": "all",
            },
        )
        try:
            await bot.wait_for_output("Connected as", timeout=60)
        except AssertionError as error:
            raise SystemExit(f"the bot does not start any more: {error}") from error
        await self._server.wait_for(lambda record: record.kind == "identify", since=since)
        self._starts.append(time.monotonic() - begun)

    async def _prepare(self) -> None:
        for path, options in (
            ("tool toggle", {"name": "set_reminder", "state": "on"}),
            ("knowledge create", {"name": CONTEXT}),
        ):
            used = self._server.driver.slash(
                self._channels[0], self._server.world.owner, path, options
            )
            await self._server.driver.answered(used)

    def _ask(self, number: int) -> None:
        """A member asks; every fourth one wants to be reminded of something soon."""
        place = number % CHANNELS
        words = f"Answer {number}: " + " ".join(
            self._random.choices(("fern", "moss", "reed", "sedge"), k=self._random.randint(3, 40))
        )
        self._texts[number] = f"{words}."
        # Behind the newest question stands the time, behind those that were not answered nothing.
        newest = f"question {number} please\\n[from Member{place}]\\n\\n["
        steps = [Step(when=newest, text=f"{words}.", split=5, pause=0.02)]
        if number % ERRANDS == 0:
            arguments = {
                "text": _errand(number),
                "when": f"in {self._random.randint(*DUE_IN)} seconds",
            }
            call = f"set_reminder({json.dumps(arguments)})"
            # The result of the call holds its words, the question does not.
            steps = [
                Step(when=f": {_errand(number)}", text=f"{words}.", split=5, pause=0.02),
                Step(when="[tool result] set_reminder: {", text="It did not work."),
                Step(when=newest, text=call, split=5, pause=0.01),
            ]
        # A process that is killed has used its step up; the next may ask again.
        self._endpoint.add(*steps * 4)
        self._questions[number] = self._server.driver.say(
            self._channels[place],
            self._members[place],
            f"{self._server.bot.mention} question {number} please",
        )

    def _change(self, number: int) -> None:
        """A member or an admin changes something, without waiting for the answer."""
        # One change of a value at a time: of two, either may be made last.
        busy = {kind for _, kind, _ in self._pending} & {"zone", "switch"}
        kind = self._random.choice(sorted({"zone", "switch", "document"} - busy))
        owner, channel = self._server.world.owner, self._channels[0]
        if kind == "zone":
            value = self._random.choice(ZONES)
            self._promises.zone.asked(value)
            used = self._slash(channel, self._members[0], "reminders timezone", zone=value)
        elif kind == "switch":
            value = self._random.choice(("on", "off"))
            self._promises.switch.asked(value)
            used = self._slash(channel, owner, "tool toggle", name=TOOL, state=value)
        else:
            value = f"note{number}.txt"
            note = f"Note {number}. The lamp of house {number} is lit at dusk. " * 20
            file = Upload(filename=value, data=note.encode())
            used = self._slash(channel, owner, "knowledge add", context=CONTEXT, file=file)
        self._pending.append((used, kind, value))

    def _slash(
        self, channel: Channel, user: User, path: str, **options: str | Upload
    ) -> Interaction:
        return self._server.driver.slash(channel, user, path, options)

    def _collect(self) -> None:
        """Note what has been acknowledged by now, in the order in which it was asked for."""
        left: list[tuple[Interaction, str, str]] = []
        for used, kind, value in self._pending:
            said = _said(used)
            if kind == "zone" and said.startswith("Saved:"):
                self._promises.zone.acknowledged(value)
            elif kind == "switch" and TOOL in said:
                self._promises.switch.acknowledged(value)
            elif kind == "document" and " now: " in said:
                self._promises.documents.add(value)
            else:
                left.append((used, kind, value))
                continue
            self._promises.count += 1
        self._pending = left
        for received in self._endpoint.received:
            last = json.dumps(received.messages[-1])
            if "[tool result] set_reminder: {" in last and last not in self._faults:
                self._faults.append(last)
            if ": errand " in last and "is set for" in last:
                number = last.partition(": errand ")[2]
                digits = number[: len(number) - len(number.lstrip("0123456789"))]
                self._promises.errands.add(f"errand {digits}")

    def _look_after_kill(self, number: int) -> None:
        """The database, while no process has it."""
        self._collect()
        self._orphans |= {
            used.id for used, _, _ in self._pending if used.state is InteractionState.PENDING
        }
        self._pending.clear()
        where = f"after question {number}"
        address = f"{(self._home / DATABASE_NAME).as_uri()}?mode=ro"
        with closing(sqlite3.connect(address, uri=True)) as database:
            query = database.execute
            health = query("PRAGMA integrity_check").fetchall()
            if health != [("ok",)] or query("PRAGMA foreign_key_check").fetchall():
                self._faults.append(f"the database is damaged {where}: {health}")
            if query("PRAGMA user_version").fetchone() != (len(find_migrations(MIGRATIONS)),):
                self._faults.append(f"the schema is not the newest {where}")
            zones = dict(query("SELECT member_id, zone FROM time_zones").fetchall())
            switches = dict(query("SELECT name, value FROM settings").fetchall())
            documents = {
                name
                for (name,) in query(
                    """SELECT name FROM knowledge_documents AS document WHERE ready AND chunks =
                    (SELECT count(*) FROM knowledge_chunks WHERE document_id = document.id)"""
                )
            }
            kept = {text for (text,) in query("SELECT text FROM reminders")}
        zone = zones.get(self._members[0].id)
        if zone not in self._promises.zone.allowed:
            self._faults.append(f"the zone is {zone} {where}, not {self._promises.zone.allowed}")
        switch = _state(switches)
        if switch not in self._promises.switch.allowed:
            allowed = self._promises.switch.allowed
            self._faults.append(f"{TOOL} is {switch} {where}, not {allowed}")
        if lost := self._promises.documents - documents:
            self._faults.append(f"documents are gone {where}: {sorted(lost)}")
        if lost := self._promises.errands - kept - set(self._told()):
            self._faults.append(f"reminders are gone {where}: {sorted(lost)}")

    def _own(self) -> list[Message]:
        return [
            message
            for channel in self._channels
            for message in self._server.messages(channel)
            if message.author is self._server.bot
        ]

    def _told(self) -> Counter[str]:
        """How often each reminder stands in a channel."""
        mark = "Reminder: "
        return Counter(
            message.text.partition(mark)[2].partition("\n")[0]
            for message in self._own()
            if message.text.startswith("<@") and mark in message.text
        )

    async def _settle(self) -> None:
        """Wait until replies have ended and reminders are told."""
        deadline = time.monotonic() + SETTLING
        while time.monotonic() < deadline:
            self._collect()
            writing = [message for message in self._own() if "Stop" in labels(message)]
            if not writing and not self._promises.errands - set(self._told()):
                break
            await asyncio.sleep(0.1)
        await asyncio.sleep(3.0)  # for what would be told twice

    def _found(self) -> dict[str, Json]:
        outcomes = Counter[str]()
        for number, question in self._questions.items():
            replies = [message for message in self._own() if message.reply_to is question]
            outcomes[self._outcome(number, replies)] += 1
        told = self._told()
        self._faults += [
            f"{errand} was told {told[errand]} times"
            for errand in sorted(self._promises.errands | set(told))
            if told[errand] != 1
        ]
        self._faults += self._endpoint.problems
        self._faults += [
            f"violation: {record.to_json()}"
            for record in self._server.violations()
            if record.get("interaction") not in self._orphans
        ]
        return {
            "kills": len(self._starts) - 1,
            "replies": dict(sorted(outcomes.items())),
            "acknowledged_changes": self._promises.count,
            "acknowledged_documents": len(self._promises.documents),
            "reminders_told": sum(told.values()),
            "start_seconds_median": round(sorted(self._starts)[len(self._starts) // 2], 2),
            "faults": self._faults,
        }

    def _outcome(self, number: int, replies: Sequence[Message]) -> str:
        if not replies:
            return "not begun"
        if len(replies) > 1:
            self._faults.append(f"question {number} has {len(replies)} replies")
        reply = replies[0]
        if "Stop" in labels(reply):
            left = min(at - reply.created for at in self._kills if at > reply.created)
            self._faults.append(
                f"the reply to question {number}, begun {left * 1000:.0f} ms before a kill, still "
                "says that it is being written"
            )
            return "left open"
        if INTERRUPTED in reply.text:
            return "marked"
        if UNANSWERED in reply.text:
            return "told that there is none"
        if self._texts[number] not in reply.text:
            self._faults.append(f"question {number} was answered with {reply.text[:80]!r}")
            return "wrong"
        return "complete"


def _errand(number: int) -> str:
    """What a reminder is about; none is the beginning of another."""
    return f"errand {number:04}"


def _said(used: Interaction) -> str:
    if used.state is InteractionState.PENDING or used.original is None:
        return ""
    return " ".join(message.text for message in (used.original, *used.followups))


def _state(settings: dict[str, str]) -> str | None:
    """Whether the tool is switched on, as the settings say; None if they say nothing."""
    switched: dict[str, bool] = json.loads(settings.get(TOOLS, "{}"))
    return {None: None, True: "on", False: "off"}[switched.get(TOOL)]


async def measured(turns: int, seed: int) -> dict[str, Json]:
    """One run."""
    with TemporaryDirectory(prefix="verbatim-crash-") as folder:
        warm_ups = [Step(when="Hello", text="Hi.")] * turns
        endpoint = LoopbackEndpoint(warm_ups, properties={"total_slots": CHANNELS})
        await endpoint.start()
        try:
            async with LoopbackDiscord() as server:
                return await Rehearsal(server, endpoint, Path(folder), seed).run(turns)
        finally:
            await endpoint.stop()


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.crash")
    parser.add_argument("--turns", type=int, default=200, help="questions; default: 200")
    parser.add_argument("--seed", type=int, default=1, help="of what is random; default: 1")
    arguments = parser.parse_args()
    found = asyncio.run(measured(arguments.turns, arguments.seed))
    print(json.dumps({"turns": arguments.turns, "seed": arguments.seed, **found}, indent=2))
    return 1 if found["faults"] else 0


if __name__ == "__main__":
    sys.exit(main())
