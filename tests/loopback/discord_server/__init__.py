"""A small Discord for tests: real sockets on 127.0.0.1, and a judge of what a bot does.

It refuses what Discord refuses, with Discord's codes, and keeps a journal in which anything
that Discord punishes or that members would suffer from is a violation.

    async with LoopbackDiscord() as server:
        guild = server.build.guild()
        channel = server.build.channel(guild, "general")
        alice = server.build.user("alice", guild)
        with pointed_at(server):                      # from .pointing; starts no client itself
            ...
            asked = server.driver.say(channel, alice, f"{server.bot.mention} hello")
            answer = await server.wait_for_message(channel, lambda m: m.reply_to is asked)
            answer.versions                           # what members saw, edit by edit
            server.violations()                       # [] for a well-behaved bot

`python -m tests.loopback.discord_server` runs it by itself, steered over HTTP (see `control`).
"""

from tests.loopback.discord_server.faults import (
    Delay,
    GatewayPage,
    LostAnswer,
    Reset,
    Status,
    Throttle,
)
from tests.loopback.discord_server.journal import Record
from tests.loopback.discord_server.limits import Bucket, Limits
from tests.loopback.discord_server.model import (
    Channel,
    Guild,
    Interaction,
    InteractionState,
    Message,
    Role,
    Upload,
    User,
)
from tests.loopback.discord_server.server import Interval, LoopbackDiscord
from tests.loopback.discord_server.wire import (
    PRIVILEGED_INTENTS,
    ChannelKind,
    Intent,
    MessageFlag,
    Permission,
)

__all__ = [
    "PRIVILEGED_INTENTS",
    "Bucket",
    "Channel",
    "ChannelKind",
    "Delay",
    "GatewayPage",
    "Guild",
    "Intent",
    "Interaction",
    "InteractionState",
    "Interval",
    "Limits",
    "LoopbackDiscord",
    "LostAnswer",
    "Message",
    "MessageFlag",
    "Permission",
    "Record",
    "Reset",
    "Role",
    "Status",
    "Throttle",
    "Upload",
    "User",
]
