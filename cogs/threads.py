"""Opens a thread for a conversation, where a guild wants that.

Invariant: a message has one thread at most; one that is there already is used, and where none can
be opened the answer comes in the channel, and says why.
"""

import copy
import logging

import discord

from cogs.aside import NETWORK_ERRORS
from cogs.in_words import one_line

log = logging.getLogger(__name__)

_LONGEST_NAME = 80
_ARCHIVED_AFTER = 1440
"""Minutes without a message."""

_NEEDED = {
    "create_public_threads": "Create Public Threads",
    "send_messages_in_threads": "Send Messages in Threads",
}

_HAS_ONE = 160004
"""Discord's code for a message that has a thread already."""


async def thread_for(message: discord.Message, topic: str) -> tuple[discord.Thread | None, str]:
    """The thread in which to answer `message`, or why there is none; both empty where threads
    hang on no message."""
    channel, guild = message.channel, message.guild
    if guild is None or not isinstance(channel, discord.TextChannel):
        return None, ""
    if message.thread is not None:
        return message.thread, ""
    allowed = channel.permissions_for(guild.me)
    if missing := [title for name, title in _NEEDED.items() if not getattr(allowed, name)]:
        return None, f"I lack the permission {', '.join(missing)}, so I answer here."
    try:
        name = one_line(topic, _LONGEST_NAME) or "Conversation"
        return await message.create_thread(name=name, auto_archive_duration=_ARCHIVED_AFTER), ""
    except discord.HTTPException as error:
        if error.code == _HAS_ONE:
            return await _existing(guild, message.id)
        log.warning("No thread in channel %s: %s", channel.id, error)
    except NETWORK_ERRORS as error:
        log.warning("No thread in channel %s: %s", channel.id, error)
    return None, "I could not open a thread, so I answer here."


def standing_in(message: discord.Message, thread: discord.Thread) -> discord.Message:
    """`message`, on which `thread` hangs, as if it stood in there."""
    moved = copy.copy(message)
    moved.channel = thread
    return moved


async def _existing(guild: discord.Guild, message_id: int) -> tuple[discord.Thread | None, str]:
    """The thread of a message, which somebody has opened meanwhile and which bears its id."""
    try:
        found = guild.get_thread(message_id) or await guild.fetch_channel(message_id)
    except (discord.HTTPException, *NETWORK_ERRORS) as error:
        log.warning("A thread cannot be seen: %s", error)
        found = None
    if isinstance(found, discord.Thread):
        return found, ""
    return None, "I could not see the thread of your message, so I answer here."
