"""Tells where a conversation happens.

Invariant: of a thread its parent is told as well, since what is chosen for a channel holds in its
threads.
"""

import discord

from chat.ports import Place


def place_of(guild_id: int | None, channel: object, channel_id: int) -> Place:
    """The place of a channel, of which Discord may have told nothing but its id."""
    parent_id = channel.parent_id if isinstance(channel, discord.Thread) else None
    return Place(guild_id=guild_id, channel_id=channel_id, parent_id=parent_id)
