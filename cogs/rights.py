"""Looks up what a member may do and read, at the moment when it matters.

Invariant: what cannot be established counts as not allowed. Discord is asked anew for the member's
roles: the bot hears of their changes only by intents that it does not ask for.
"""

import logging
from typing import TypeAlias

import discord

from cogs.aside import NETWORK_ERRORS

log = logging.getLogger(__name__)

GuildPlace: TypeAlias = discord.abc.GuildChannel | discord.Thread

_READING = ("view_channel", "read_message_history")


class MemberRights:
    """tools.registry.Rights of the member who asks, where `question` stands."""

    def __init__(self, question: discord.Message, member_id: int) -> None:
        self._question = question
        self._member_id = member_id

    async def may(self, permission: str) -> bool:
        """See tools.registry.Rights. In direct messages there is nothing to have rights to."""
        channel, member = self._question.channel, await self._member()
        if member is None or not isinstance(channel, GuildPlace):
            return False
        return bool(getattr(channel.permissions_for(member), permission, False))

    async def can_read(self, channel_id: int) -> bool:
        """See tools.registry.Rights."""
        channel, member = self._channel(channel_id), await self._member()
        return channel is not None and member is not None and await may_read(member, channel)

    async def can_all_read(self, channel_id: int) -> bool:
        """See tools.registry.Rights."""
        here, there = self._question.channel, self._channel(channel_id)
        if there is None or not isinstance(here, GuildPlace):
            return False
        return here.id == there.id or is_as_open(there, here)

    def _channel(self, channel_id: int) -> GuildPlace | None:
        guild = self._question.guild
        return guild.get_channel_or_thread(channel_id) if guild else None

    async def _member(self) -> discord.Member | None:
        guild = self._question.guild
        if guild is None:
            return None
        try:
            return await guild.fetch_member(self._member_id)
        except (discord.HTTPException, *NETWORK_ERRORS) as error:
            log.warning("A member's rights could not be looked up: %s", error)
            return None


async def may_read(member: discord.Member, channel: GuildPlace) -> bool:
    """Whether a member can read the messages of a channel or thread."""
    allowed = channel.permissions_for(member)
    if not (allowed.view_channel and allowed.read_message_history):
        return False
    if not isinstance(channel, discord.Thread) or not channel.is_private():
        return True
    if allowed.manage_threads:
        return True
    try:
        await channel.fetch_member(member.id)
    except (discord.HTTPException, *NETWORK_ERRORS):
        return False
    return True


def is_as_open(there: GuildPlace, here: GuildPlace) -> bool:
    """Whether everyone who sees `here` can certainly read `there`.

    So it is where everyone on the server can, and where both grant and deny the same to the same
    roles and members. Who has which role is not known, so other cases count as no.
    """
    if isinstance(there, discord.Thread) and there.is_private():
        return False
    outer, inner = _permitting(there), _permitting(here)
    if outer is None:
        return False
    if _is_public(outer):
        return True
    return inner is not None and _reading_overwrites(outer) == _reading_overwrites(inner)


def _permitting(channel: GuildPlace) -> discord.abc.GuildChannel | None:
    """The channel whose overwrites decide who may read."""
    return channel.parent if isinstance(channel, discord.Thread) else channel


def _is_public(channel: discord.abc.GuildChannel) -> bool:
    everyone = channel.guild.default_role
    allowed = channel.permissions_for(everyone)
    if not all(getattr(allowed, name) for name in _READING):
        return False
    return all(
        getattr(overwrite, name) is not False
        for target, overwrite in channel.overwrites.items()
        if target != everyone
        for name in _READING
    )


def _reading_overwrites(channel: discord.abc.GuildChannel) -> dict[int, tuple[bool | None, ...]]:
    found = {
        target.id: tuple(getattr(overwrite, name) for name in _READING)
        for target, overwrite in channel.overwrites.items()
    }
    return {
        target: values for target, values in found.items() if any(v is not None for v in values)
    }
