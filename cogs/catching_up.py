"""Looks at what was written while the bot had no session with Discord.

Invariant: a message goes the way of any other, through the same claim, so that none is answered
twice. It is bounded: what is old, or more than a channel's share, stays unanswered. A session that
is resumed needs nothing of this, for Discord then sends what was missed.
"""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

import discord
from discord.ext import commands

from cogs.aside import NETWORK_ERRORS
from data.channels import Channels
from data.errors import StoreError

log = logging.getLogger(__name__)

OLDEST = timedelta(minutes=15)
"""An answer to what was asked before would puzzle more than it helps."""

MOST_SEEN = 10_000
"""Channels of a session of which it is known up to where they were listened to: those that spoke
last."""

MOST_CHANNELS = 25
MOST_MESSAGES = 50
"""A channel."""

PAUSES = (1.0, 2.0, 4.0, 8.0)
"""Seconds before further attempts where Discord fails: it often does while a session begins."""

_Channel: TypeAlias = discord.TextChannel | discord.VoiceChannel | discord.Thread


class CatchingUp(commands.Cog):
    """Hands missed messages to `take`, oldest first."""

    def __init__(
        self,
        client: discord.Client,
        channels: Channels,
        take: Callable[[discord.Message], Awaitable[None]],
    ) -> None:
        self._client = client
        self._channels = channels
        self._take = take
        self._seen: defaultdict[int, dict[int, int]] = defaultdict(dict)
        """The last message by channel, by session: others go on while one is lost."""
        self._before: dict[int, Mapping[int, int]] = {}

    @commands.Cog.listener()
    async def on_message(self, message: discord.Message) -> None:
        """Note up to where a channel was listened to, for good where the bot takes part."""
        seen = self._seen[0 if message.guild is None else message.guild.shard_id]
        seen.pop(message.channel.id, None)
        seen[message.channel.id] = message.id
        if len(seen) > MOST_SEEN:
            del seen[next(iter(seen))]
        me = self._client.user
        if message.guild is None or me is None or message.author.id != me.id:
            return
        try:
            await self._channels.raise_watermark(message.guild.id, message.channel.id, message.id)
        except StoreError as error:
            log.error("A watermark was not kept: %s", error)

    @commands.Cog.listener()
    async def on_shard_connect(self, shard_id: int) -> None:
        """A new session begins: what was seen until now is what counts."""
        self._before[shard_id] = dict(self._seen[shard_id])

    @commands.Cog.listener()
    async def on_shard_ready(self, shard_id: int) -> None:
        """Look through the session's channels in which there is more than was seen."""
        before, missed = self._before.pop(shard_id, {}), list[tuple[_Channel, int]]()
        everywhere = max(before.values(), default=None)
        oldest = discord.utils.time_snowflake(datetime.now(UTC) - OLDEST)
        for guild in self._client.guilds:
            if guild.shard_id != shard_id:
                continue
            try:
                kept = await self._channels.watermarks(guild.id)
            except StoreError as error:
                log.error("Missed messages are not looked for: %s", error)
                return
            for channel in (*guild.text_channels, *guild.voice_channels, *guild.threads):
                known = [mark.get(channel.id) for mark in (before, kept)]
                # A channel in which nobody had written may have been written in since.
                mark = max((one for one in known if one), default=everywhere)
                if mark is None or (channel.last_message_id or 0) <= max(mark, oldest):
                    continue
                missed.append((channel, max(mark, oldest)))
        if len(missed) > MOST_CHANNELS:
            log.warning("Messages were missed in more than %d channels.", MOST_CHANNELS)
        # One that Discord fails to show keeps none of the others waiting.
        await asyncio.gather(
            *(self._look_through(each, after=after) for each, after in missed[:MOST_CHANNELS])
        )

    async def _look_through(self, channel: _Channel, *, after: int) -> None:
        for pause in (*PAUSES, None):
            try:
                missed = [
                    message
                    async for message in channel.history(
                        limit=MOST_MESSAGES, after=discord.Object(after), oldest_first=False
                    )
                ]
                break
            except (discord.HTTPException, *NETWORK_ERRORS) as error:
                if pause is None or isinstance(error, discord.NotFound | discord.Forbidden):
                    log.warning(
                        "What was missed in channel %s cannot be read: %s", channel.id, error
                    )
                    return
                await asyncio.sleep(pause)
        else:
            return
        log.info("%d messages were missed in channel %s.", len(missed), channel.id)
        for message in reversed(missed):
            await self._take(message)
