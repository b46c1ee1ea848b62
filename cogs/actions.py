"""What tools do on a server: reading channels, describing it and its members, posting polls.

Invariant: everything is seen with the eyes of the member who asks, and what is listed of a server
is what everyone where they ask can see. A channel that the member may not read is, in words, one
that there is not.
"""

import logging
import re
import zlib
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import TypeAlias

import discord

from chat.privacy import Privacy
from cogs.aside import NETWORK_ERRORS
from cogs.in_words import member_of, message_in_words, one_line
from cogs.rights import GuildPlace, is_as_open, may_read
from tools.actions import ChannelText, NewPoll
from tools.registry import ToolContext, ToolFailure, ToolUnavailable

log = logging.getLogger(__name__)

_Readable: TypeAlias = (
    discord.TextChannel | discord.VoiceChannel | discord.StageChannel | discord.Thread
)

_LONGEST_TEXT = 8000
"""Characters of what is read of a channel; the latest messages count."""

_LONGEST_MESSAGE = 1000
_MOST_CHANNELS = 60
_MOST_ROLES = 25
_MOST_FOUND = 10
_SPOKEN = (discord.MessageType.default, discord.MessageType.reply)
_MENTION = re.compile(r"<(?:@!?|#)(\d{15,20})>|(\d{15,20})")
_AWAY = "Discord cannot be reached at the moment."


class ServerActions:
    """tools.actions.Actions through a connected client. What members who opted out have written
    is not read."""

    def __init__(self, client: discord.Client, privacy: Privacy) -> None:
        self._client = client
        self._privacy = privacy

    async def read_channel(self, context: ToolContext, channel: str, *, most: int) -> ChannelText:
        """See tools.actions.Actions."""
        guild, member = await self._asker(context)
        here = self._here(context, guild)
        there = await self._found(guild, member, channel, here)
        if not _may_be_read(there.permissions_for(guild.me)):
            raise ToolFailure(f"The bot itself may not read #{there.name}.")
        if _is_for_adults(there) and not _is_for_adults(here):
            raise ToolFailure(f"#{there.name} is age-restricted, and this channel is not.")
        me = guild.me
        opted_out = await self._privacy.opted_out(guild.id)
        lines: list[str] = []
        length = 0
        try:
            async for message in there.history(limit=most):
                words = one_line(message_in_words(message, me), _LONGEST_MESSAGE)
                if message.type not in _SPOKEN or not words or message.author.id in opted_out:
                    continue
                line = f"{_moment(message.created_at)}, {member_of(message.author).name}: {words}"
                length += len(line)
                if length > _LONGEST_TEXT:
                    break
                lines.append(line)
        except discord.Forbidden as error:
            raise ToolFailure(f"The bot itself may not read #{there.name}.") from error
        except (discord.HTTPException, *NETWORK_ERRORS) as error:
            raise ToolUnavailable(_AWAY) from error
        head = f"The latest messages of #{there.name}, times in UTC:"
        text = "\n".join([head, *reversed(lines)]) if lines else f"#{there.name} has no messages."
        return ChannelText(channel_id=there.id, text=text)

    async def describe_server(self, context: ToolContext) -> str:
        """See tools.actions.Actions."""
        guild, member = await self._asker(context)
        here = self._here(context, guild)
        lines = [f"Server: {guild.name}"]
        if guild.description:
            lines.append(f"Description: {guild.description}")
        lines.append(f"Created: {_day(guild.created_at)}")
        if guild.member_count:
            lines.append(f"Members: {guild.member_count}")
        if guild.premium_subscription_count:
            lines.append(f"Boosts: {guild.premium_subscription_count}, level {guild.premium_tier}")
        seen = [each for each in guild.channels if _is_seen(each, member, here)]
        if guild.rules_channel in seen:
            lines.append(f"Rules: #{guild.rules_channel}")
        for category, channels in guild.by_category():
            names = [f"#{each.name}" for each in channels if each in seen][:_MOST_CHANNELS]
            if names:
                lines.append(f"{category.name if category else 'Channels'}: {', '.join(names)}")
        return "\n".join(lines)

    async def describe_member(self, context: ToolContext, name: str) -> str:
        """See tools.actions.Actions."""
        guild, asker = await self._asker(context)
        found = asker if name.strip().lower() in {"", "me"} else await _member(guild, name)
        roles = [role.name for role in reversed(found.roles) if not role.is_default()]
        lines = [f"Name here: {found.display_name}", f"Account: {found.name}"]
        if found.bot:
            lines.append("A bot.")
        if guild.owner_id == found.id:
            lines.append("Owner of the server.")
        if found.joined_at:
            lines.append(f"Joined: {_day(found.joined_at)}")
        lines.append(f"Account created: {_day(found.created_at)}")
        if found.premium_since:
            lines.append(f"Boosting since: {_day(found.premium_since)}")
        more = f" and {len(roles) - _MOST_ROLES} more" if len(roles) > _MOST_ROLES else ""
        lines.append(f"Roles: {', '.join(roles[:_MOST_ROLES]) or 'none'}{more}")
        return "\n".join(lines)

    async def post_poll(self, context: ToolContext, poll: NewPoll) -> None:
        """See tools.actions.Actions. The member's permission is asked for by whoever calls."""
        guild, _ = await self._asker(context)
        here = self._here(context, guild)
        if not isinstance(here, _Readable):
            raise ToolFailure("There can be no poll in this channel.")
        if not here.permissions_for(guild.me).create_polls:
            raise ToolFailure(
                "The bot lacks the permission Create Polls here. An admin can grant it."
            )
        made = discord.Poll(
            poll.question, duration=timedelta(hours=poll.hours), multiple=poll.multiple
        )
        for answer in poll.answers:
            made.add_answer(text=answer)
        try:
            await here.send(poll=made, nonce=_nonce(context, poll))
        except discord.HTTPException as error:
            if error.status >= 500:
                raise ToolUnavailable(_AWAY) from error
            raise ToolFailure(f"Discord refused the poll (code {error.code}).") from error
        except NETWORK_ERRORS as error:
            raise ToolUnavailable(_AWAY) from error

    async def _asker(self, context: ToolContext) -> tuple[discord.Guild, discord.Member]:
        """The server, and the member who asks with the roles that they have now."""
        guild = self._client.get_guild(context.guild_id)
        if guild is None:
            raise ToolFailure("This works on a server only, not in direct messages.")
        try:
            return guild, await guild.fetch_member(context.member_id)
        except discord.NotFound as error:
            raise ToolFailure("The member who asks is no longer on this server.") from error
        except (discord.HTTPException, *NETWORK_ERRORS) as error:
            raise ToolUnavailable(_AWAY) from error

    def _here(self, context: ToolContext, guild: discord.Guild) -> GuildPlace:
        here = guild.get_channel_or_thread(context.channel_id)
        if here is None:
            raise ToolFailure("The channel of the question is gone.")
        return here

    async def _found(
        self, guild: discord.Guild, member: discord.Member, wanted: str, here: GuildPlace
    ) -> _Readable:
        """The channel or thread that a member means, if they may read it."""
        for each in _candidates(guild, wanted):
            if await may_read(member, each):
                if isinstance(each, _Readable):
                    return each
                raise ToolFailure(f"#{each.name} holds no messages itself. Name one of its posts.")
        known = [
            f"#{each.name}"
            for each in guild.channels
            if isinstance(each, _Readable) and _is_seen(each, member, here)
        ]
        raise ToolFailure(
            f"There is no channel {wanted!r} that the member may read. There are, among others: "
            f"{', '.join(known[:_MOST_CHANNELS])}."
        )


def _candidates(guild: discord.Guild, wanted: str) -> Iterator[GuildPlace]:
    """Channels and threads of that mention, id or name, the best match first."""
    wanted = wanted.strip()
    if found := _MENTION.fullmatch(wanted):
        by_id = guild.get_channel_or_thread(int(found[1] or found[2]))
        if by_id is not None:
            yield by_id
    name = _plain(wanted)
    places: Sequence[GuildPlace] = [*guild.channels, *guild.threads]
    yield from (
        each
        for each in places
        if _plain(each.name) == name and not isinstance(each, discord.CategoryChannel)
    )


def _plain(name: str) -> str:
    """A channel's name as people write it."""
    return name.strip().lstrip("#").strip().replace(" ", "-").casefold()


def _is_seen(channel: discord.abc.GuildChannel, member: discord.Member, here: GuildPlace) -> bool:
    """Whether the member and everyone where they ask can see a channel."""
    if isinstance(channel, discord.CategoryChannel):
        return False
    if not channel.permissions_for(member).view_channel:
        return False
    return channel.id == here.id or is_as_open(channel, here)


def _may_be_read(permissions: discord.Permissions) -> bool:
    return permissions.view_channel and permissions.read_message_history


def _is_for_adults(channel: GuildPlace) -> bool:
    parent = channel.parent if isinstance(channel, discord.Thread) else channel
    return bool(getattr(parent, "nsfw", False))


async def _member(guild: discord.Guild, wanted: str) -> discord.Member:
    """The member of that mention, id or name. Discord looks for names that begin with it."""
    try:
        if found := _MENTION.fullmatch(wanted.strip()):
            return await guild.fetch_member(int(found[1] or found[2]))
        name = wanted.strip().lstrip("@").strip()
        if not name:
            raise ToolFailure("Name a member.")
        found = await guild.query_members(name, limit=_MOST_FOUND, cache=False)
    except discord.NotFound as error:
        raise ToolFailure(f"{wanted!r} is not a member of this server.") from error
    except (TimeoutError, discord.HTTPException, *NETWORK_ERRORS) as error:
        raise ToolUnavailable(_AWAY) from error
    exact = [
        each
        for each in found
        if name.casefold() in {one.casefold() for one in (each.display_name, each.name)}
        or (each.global_name or "").casefold() == name.casefold()
    ]
    match exact or found:
        case []:
            raise ToolFailure(f"No member's name here begins with {name!r}.")
        case [only]:
            return only
        case several:
            names = ", ".join(f"{each.display_name} (@{each.name})" for each in several)
            raise ToolFailure(f"{name!r} may be several members: {names}. Ask which one is meant.")


def _nonce(context: ToolContext, poll: NewPoll) -> str:
    """The same for a call that is made again because its answer was lost; 25 characters at most."""
    return f"{context.message_id}-{zlib.crc32(repr(poll).encode()) & 0xFFFFF:05x}"


def _moment(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M}"


def _day(at: datetime) -> str:
    return f"{at.day} {at:%B %Y}"
