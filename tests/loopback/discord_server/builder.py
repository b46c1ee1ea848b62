"""Adds guilds, channels, threads, members, roles and overwrites, before a bot connects or while
it is there.

Invariant: whatever is added while sessions exist is told to them as Discord would.
"""

import time

from tests.loopback.discord_server.errors import bad_length
from tests.loopback.discord_server.gateway import Gateway
from tests.loopback.discord_server.journal import Journal
from tests.loopback.discord_server.limits import Limits
from tests.loopback.discord_server.model import (
    Channel,
    Guild,
    Member,
    Overwrite,
    Role,
    ThreadState,
    User,
)
from tests.loopback.discord_server.objects import channel_payload, member_payload, role_payload
from tests.loopback.discord_server.payloads import Payloads
from tests.loopback.discord_server.wire import DEFAULT_PERMISSIONS, ChannelKind, Payload
from tests.loopback.discord_server.world import World


class Builder:
    """What an administrator, or a test's first lines, can do."""

    def __init__(
        self,
        *,
        world: World,
        limits: Limits,
        journal: Journal,
        gateway: Gateway,
        payloads: Payloads,
    ) -> None:
        self._world = world
        self._limits = limits
        self._journal = journal
        self._gateway = gateway
        self._payloads = payloads

    def guild(self, name: str = "Test guild", *, owner: User | None = None) -> Guild:
        """A guild with @everyone, an owner, and the bot with a role of its own."""
        guild = Guild(
            id=self._world.next_id(),
            name=name,
            owner=owner or self._world.owner,
            joined=time.time(),
        )
        everyone = Role(id=guild.id, name="@everyone", permissions=DEFAULT_PERMISSIONS, position=0)
        bot_role = Role(
            id=self._world.next_id(),
            name=self._world.bot.name,
            permissions=DEFAULT_PERMISSIONS,
            position=1,
            managed=True,
        )
        guild.roles = {everyone.id: everyone, bot_role.id: bot_role}
        self._join(guild, guild.owner)
        self._join(guild, self._world.bot, bot_role)
        self._world.guilds[guild.id] = guild
        payload = self._payloads.guild_create(guild)
        del payload["unavailable"]  # which is only there when a session begins
        self._gateway.dispatch("GUILD_CREATE", payload)
        return guild

    def removal(self, guild: Guild) -> None:
        """The bot's end in a guild, as when an admin of it removes the bot."""
        del self._world.guilds[guild.id]
        self._gateway.dispatch("GUILD_DELETE", {"id": str(guild.id)})

    def user(self, name: str, *guilds: Guild, bot: bool = False) -> User:
        """An account that is a member of these guilds."""
        user = self._world.add_user(name, bot=bot)
        for guild in guilds:
            self.member(guild, user)
        return user

    def member(self, guild: Guild, user: User, *roles: Role) -> Member:
        """A user's membership of a guild, with roles besides @everyone."""
        member = self._join(guild, user, *roles)
        payload = {**member_payload(member), "guild_id": str(guild.id)}
        self._gateway.dispatch("GUILD_MEMBER_ADD", payload)
        return member

    def role(self, guild: Guild, name: str, *, permissions: int = 0) -> Role:
        """A role that grants these permissions in the whole guild."""
        role = Role(
            id=self._world.next_id(),
            name=name,
            permissions=int(permissions),
            position=len(guild.roles),
        )
        guild.roles[role.id] = role
        payload: Payload = {"guild_id": str(guild.id), "role": role_payload(role, self._world.bot)}
        self._gateway.dispatch("GUILD_ROLE_CREATE", payload)
        return role

    def channel(
        self,
        guild: Guild,
        name: str,
        kind: ChannelKind = ChannelKind.TEXT,
        *,
        parent: Channel | None = None,
        topic: str | None = None,
        nsfw: bool = False,
    ) -> Channel:
        """A channel of a guild that is no thread; `parent` is its category."""
        channel = Channel(
            id=self._world.next_id(),
            kind=kind,
            name=name,
            guild=guild,
            parent=parent,
            position=len(self._world.channels),
            topic=topic,
            nsfw=nsfw,
        )
        self._world.channels[channel.id] = channel
        self._gateway.dispatch("CHANNEL_CREATE", channel_payload(channel), channel)
        return channel

    def direct_messages(self, user: User) -> Channel:
        """The bot's direct message channel with a user; there is one for each."""
        for channel in self._world.channels.values():
            if channel.recipient is user:
                return channel
        channel = Channel(id=self._world.next_id(), kind=ChannelKind.DM, recipient=user)
        self._world.channels[channel.id] = channel
        return channel

    def thread(
        self,
        parent: Channel,
        name: str,
        *,
        owner: User,
        kind: ChannelKind = ChannelKind.PUBLIC_THREAD,
        thread_id: int | None = None,
        tags: tuple[str, ...] = (),
    ) -> Channel:
        """A thread of a channel. One that hangs on a message shares that message's id."""
        if not 1 <= len(name) <= self._limits.channel_name:
            raise bad_length("name", self._limits.channel_name)
        thread = Channel(
            id=thread_id or self._world.next_id(),
            kind=kind,
            name=name,
            guild=parent.guild,
            parent=parent,
            thread=ThreadState(owner=owner, created=time.time(), tags=tags),
        )
        self._world.channels[thread.id] = thread
        self._journal.note("thread", id=thread.id, parent=parent.id, name=name)
        payload = {**channel_payload(thread), "newly_created": True}
        self._gateway.dispatch("THREAD_CREATE", payload, thread)
        return thread

    def overwrite(
        self, channel: Channel, target: User | Role | Guild, *, allow: int = 0, deny: int = 0
    ) -> None:
        """Grant and deny permissions in a channel, in place of what was set for that target.

        A guild as target stands for @everyone.
        """
        kept = [overwrite for overwrite in channel.overwrites if overwrite.target != target.id]
        new = Overwrite(
            target=target.id, for_member=isinstance(target, User), allow=int(allow), deny=int(deny)
        )
        channel.overwrites = [*kept, new]
        self.updated(channel)

    def updated(self, channel: Channel) -> None:
        """Tell all sessions that a channel or thread has changed."""
        event = "THREAD_UPDATE" if channel.is_thread else "CHANNEL_UPDATE"
        self._gateway.dispatch(event, channel_payload(channel), channel)

    def _join(self, guild: Guild, user: User, *roles: Role) -> Member:
        member = Member(user=user, joined=time.time(), roles=[role.id for role in roles])
        guild.members[user.id] = member
        return member
