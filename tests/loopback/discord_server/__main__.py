"""Runs the server by itself, with a small guild, until it is terminated.

The first line of its output is a JSON object with port, token and ids; /_control/ACTION on
that port steers it.
"""

import argparse
import asyncio
import json
import signal

from tests.loopback.discord_server.server import LoopbackDiscord
from tests.loopback.discord_server.wire import PRIVILEGED_INTENTS, ChannelKind, Intent


async def serve(port: int, token: str | None, granted_intents: int) -> None:
    """Serve until SIGINT or SIGTERM."""
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    server = LoopbackDiscord(port=port, token=token, granted_intents=granted_intents)
    guild = server.build.guild()
    introduction = {
        "token": server.token,
        "bot": server.bot.id,
        "guild": guild.id,
        "channel": server.build.channel(guild, "general").id,
        "forum": server.build.channel(guild, "forum", ChannelKind.FORUM).id,
        "alice": server.build.user("alice", guild).id,
        "bob": server.build.user("bob", guild).id,
    }
    async with server:
        print(json.dumps({"port": server.address.port, **introduction}), flush=True)  # noqa: T201
        await stopped.wait()


def main() -> None:
    """Read the command line and serve."""
    parser = argparse.ArgumentParser(prog="tests.loopback.discord_server", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--token", help="the bot's token; made up if left out")
    parser.add_argument(
        "--no-content-intent",
        action="store_true",
        help="the application may not ask for message content",
    )
    arguments = parser.parse_args()
    granted = PRIVILEGED_INTENTS
    if arguments.no_content_intent:
        granted &= ~int(Intent.MESSAGE_CONTENT)
    asyncio.run(serve(arguments.port, arguments.token, granted))


if __name__ == "__main__":
    main()
