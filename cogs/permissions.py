"""What the bot needs to be allowed, what it lacks in a channel, and what a refusal means.

Invariant: a permission is always named as Discord's own settings name it.
"""

from collections.abc import Sequence
from typing import TypeAlias

import discord

from tools.dispatch import in_words

Channel: TypeAlias = "discord.abc.MessageableChannel"

NEEDED = discord.Permissions(
    view_channel=True,
    send_messages=True,
    send_messages_in_threads=True,
    read_message_history=True,
    add_reactions=True,
    attach_files=True,
)
"""What an invitation asks for. Reactions tell where words are not allowed; tools make files."""

_TITLES = {
    "view_channel": "View Channel",
    "send_messages": "Send Messages",
    "send_messages_in_threads": "Send Messages in Threads",
    "read_message_history": "Read Message History",
    "add_reactions": "Add Reactions",
}

_EMBED_LINKS = "Embed Links"
_ASKED_OF_MEMBERS = {
    "manage_guild": "Manage Server",
    "manage_messages": "Manage Messages",
    "create_polls": "Create Polls",
}

_MISSING_ACCESS = 50001
_MISSING_PERMISSIONS = 50013
_REASONS = {
    50083: "the thread is archived",
    160005: "the thread is locked",
    200000: "the server's AutoMod blocked the message",
    200001: "the server's AutoMod blocked the message",
}


def invitation(application_id: int) -> str:
    """The link that invites the bot with its commands and just the permissions it needs."""
    return discord.utils.oauth_url(
        application_id, permissions=NEEDED, scopes=("bot", "applications.commands")
    )


def lacking(channel: Channel) -> list[str]:
    """Titles of the permissions that the bot needs in `channel` and does not have."""
    return [_TITLES[name] for name in _needed_in(channel) if not getattr(_own(channel), name)]


def lacking_to_speak(channel: Channel) -> list[str]:
    """Titles of those without which the bot cannot say anything in `channel`."""
    optional = {_TITLES["read_message_history"], _TITLES["add_reactions"]}
    return [title for title in lacking(channel) if title not in optional]


def lacking_to_log(channel: Channel) -> list[str]:
    """Titles of those without which no entry of a log can be written in `channel`."""
    speak = lacking_to_speak(channel)
    return speak if _own(channel).embed_links else [*speak, _EMBED_LINKS]


def _needed_in(channel: Channel) -> list[str]:
    other = "send_messages" if isinstance(channel, discord.Thread) else "send_messages_in_threads"
    return [name for name in _TITLES if name != other]


def _own(channel: Channel) -> discord.Permissions:
    guild = channel.guild
    if guild is None or isinstance(channel, discord.PartialMessageable):
        return discord.Permissions.all()
    return channel.permissions_for(guild.me)


def reason_of_refusal(error: discord.HTTPException, channel: Channel) -> str:
    """Why Discord does not take a message, in words for a member. A permission is named."""
    if error.code in (_MISSING_ACCESS, _MISSING_PERMISSIONS):
        titles = lacking_to_speak(channel)
        if not titles:
            titles = [_TITLES["view_channel" if error.code == _MISSING_ACCESS else "send_messages"]]
        return lack_of(titles)
    return _REASONS.get(error.code, f"Discord refused the message (code {error.code})")


def title_of(permission: str) -> str:
    """A permission that is asked of a member, by its title."""
    return _ASKED_OF_MEMBERS.get(permission) or in_words(permission)


def lack_of(titles: Sequence[str]) -> str:
    """That permissions are missing where somebody asked, in English."""
    return f"I lack the permission {', '.join(titles)} there"


def within(channel: Channel) -> set[int]:
    """Ids of a channel, and of the channel and category that it lies in."""
    parent = channel.parent if isinstance(channel, discord.Thread) else None
    category = getattr(parent or channel, "category_id", None)
    return {one for one in (channel.id, parent and parent.id, category) if one is not None}
