"""Replays a scene over the loopback Discord and prints what a member saw, as it came.

    python -m tests.loopback.show tool            one scene; --list names them all
    python -m tests.loopback.show tool --whole    every edit with all of its text

The bot runs in this process, over real sockets, with an endpoint that says its lines. Each line
has the seconds since the first, who, and what: `+` and `-` tell what an edit changed. Exit status
1 if the bot did what Discord would not stand.
"""

import argparse
import asyncio
import sys
import tempfile
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from tests.cogs.town import Town, town
from tests.loopback.discord_server import LoopbackDiscord
from tests.loopback.scenarios import MODEL, SCENARIOS, Scenario
from tests.loopback.timeline import timeline, told
from tools.builtin import ON_BY_DEFAULT, builtin_registry
from tools.builtin.calculating import calculating_tools
from tools.toolset import FixedTools, offering
from tools.worker.process import Worker


@asynccontextmanager
async def played(scenario: Scenario, home: Path) -> AsyncGenerator[Town]:
    """The town after the scene; the bot is still connected."""
    worker = Worker(processes=1)
    tools = (*builtin_registry(), *calculating_tools(worker))
    try:
        toolset = FixedTools(offering(tools, on=ON_BY_DEFAULT))
        async with town(home, toolset=toolset, model=MODEL, before=_name_the_bot) as here:
            await scenario.play(here)
            yield here
    finally:
        await worker.close()


def _name_the_bot(server: LoopbackDiscord) -> None:
    server.bot.name = "verbatim"


async def shown(scenario: Scenario, home: Path, *, whole: bool = False) -> list[str]:
    """The lines of a scene."""
    async with played(scenario, home) as here:
        return told(here.server, timeline(here.server), whole=whole)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("scene", nargs="?", choices=SCENARIOS, help="which one; see --list")
    parser.add_argument("--list", action="store_true", help="name the scenes and stop")
    parser.add_argument("--whole", action="store_true", help="print all of the text at each edit")
    chosen = parser.parse_args(arguments)
    if chosen.list or chosen.scene is None:
        for scenario in SCENARIOS.values():
            sys.stdout.write(f"{scenario.name:<12} {scenario.about}\n")
        return 0 if chosen.list else 2
    with tempfile.TemporaryDirectory() as home:
        try:
            lines = asyncio.run(shown(SCENARIOS[chosen.scene], Path(home), whole=chosen.whole))
        except AssertionError as error:
            sys.stderr.write(f"The scene did not go as written: {error}\n")
            return 1
    sys.stdout.write("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
