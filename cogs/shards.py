"""Several sessions with Discord, each with its share of the servers, in one client.

Invariant: as many sessions as Discord recommends, which is one for all but very large bots. A
session that breaks off leaves the others alone and is taken up where it broke off, as long as
Discord keeps it; what came to an end while there was none is seen when the next begins.
"""

import asyncio
from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any

import discord
import yarl
from discord.ext import commands
from discord.gateway import ReconnectWebSocket

IDENTIFY_PAUSE = 5.0
"""Seconds between the beginnings of two sessions, as Discord wants it."""


class ShardedBot(commands.AutoShardedBot):
    """A bot in several sessions. Servers belong to one of them by their id, direct messages to the
    first."""

    def __init__(self, *args: Any, identify_pause: float = IDENTIFY_PAUSE, **options: Any) -> None:
        super().__init__(*args, **options)
        self._identify_pause = identify_pause
        self._lost: dict[int, Collection[discord.Guild]] = {}

    def latencies_by_shard(self) -> Mapping[int, float | None]:
        """Seconds that Discord takes to answer a heartbeat, by session: None for one that is
        closed or has not begun, infinite before the first answer."""
        wanted: dict[int, float | None] = dict.fromkeys(range(self.shard_count or 1))
        for number, shard in self.shards.items():
            wanted[number] = None if shard.is_closed() else shard.latency
        return MappingProxyType(wanted)

    def connected(self) -> bool:
        """Whether it has all of its sessions at this moment."""
        return self.is_ready() and None not in self.latencies_by_shard().values()

    async def before_identify_hook(self, shard_id: int | None, *, initial: bool = False) -> None:
        """Called by discord.py before a session begins."""
        if not initial:
            await asyncio.sleep(self._identify_pause)

    async def launch_shard(
        self, gateway: yarl.URL, shard_id: int, *, initial: bool = False
    ) -> None:
        """Begin a session, which will be taken up again whatever it breaks off by.

        After an attempt that failed, discord.py's shards begin anew, unlike its plain client; what
        was sent meanwhile would be lost.
        """
        await super().launch_shard(gateway, shard_id, initial=initial)
        shard = self.shards[shard_id]._parent  # pyright: ignore[reportPrivateUsage]
        anew = shard.reconnect

        async def again() -> None:
            if shard.ws.session_id is None:
                await anew()
            else:
                await shard.reidentify(ReconnectWebSocket(shard_id, resume=True))

        shard.reconnect = again

    async def on_shard_disconnect(self, shard_id: int) -> None:
        """Note what there was, to compare it with what the next session knows."""
        self._lost[shard_id] = self._guilds_of(shard_id)

    async def on_shard_connect(self, shard_id: int) -> None:
        """Forget the servers that the bot was removed from while the session was lost: a new
        session makes all of its servers anew, and tells nothing of these."""
        present = {id(guild) for guild in self._guilds_of(shard_id)}
        for guild in self._lost.pop(shard_id, ()):
            if id(guild) in present:
                self._connection._remove_guild(guild)  # pyright: ignore[reportPrivateUsage]
                self.dispatch("guild_remove", guild)

    def _guilds_of(self, shard_id: int) -> list[discord.Guild]:
        return [guild for guild in self.guilds if guild.shard_id == shard_id]
