"""Who may do what in a channel.

Invariant: pure. The order is Discord's: owner, @everyone, roles, administrator, then the
channel's overwrites for @everyone, for roles together, and for the member.
"""

from tests.loopback.discord_server.errors import ApiError, Problem
from tests.loopback.discord_server.journal import Journal
from tests.loopback.discord_server.model import Channel, Guild, User
from tests.loopback.discord_server.wire import ALL_PERMISSIONS, Permission


def permissions_of(user: User, channel: Channel) -> int:
    """Permission bits of a user in a channel; none at all without the right to view it.

    Threads take the overwrites of the channel that they hang on.
    """
    guild = channel.guild
    if guild is None:
        return ALL_PERMISSIONS
    member = guild.members.get(user.id)
    if member is None:
        return 0
    allowed = guild_permissions_of(user, guild)
    if allowed == ALL_PERMISSIONS:
        return allowed
    place = channel.parent if channel.is_thread and channel.parent else channel
    overwrites = {overwrite.target: overwrite for overwrite in place.overwrites}
    everyone = overwrites.get(guild.id)
    if everyone is not None:
        allowed = allowed & ~everyone.deny | everyone.allow
    deny = allow = 0
    for role in member.roles:
        if role in overwrites:
            deny |= overwrites[role].deny
            allow |= overwrites[role].allow
    allowed = allowed & ~deny | allow
    own = overwrites.get(user.id)
    if own is not None:
        allowed = allowed & ~own.deny | own.allow
    return allowed if allowed & Permission.VIEW_CHANNEL else 0


def guild_permissions_of(user: User, guild: Guild) -> int:
    """Permission bits of a member before any channel's overwrites."""
    if guild.owner is user:
        return ALL_PERMISSIONS
    allowed = guild.roles[guild.id].permissions
    for role in guild.members[user.id].roles:
        allowed |= guild.roles[role].permissions
    return ALL_PERMISSIONS if allowed & Permission.ADMINISTRATOR else allowed


def may(user: User, channel: Channel, permission: Permission) -> bool:
    """Whether a user has one permission in a channel."""
    return bool(permissions_of(user, channel) & permission)


def require(journal: Journal, user: User, channel: Channel, *needed: Permission) -> None:
    """Refuse with 50001 who cannot see the channel, with 50013 who lacks a permission in it."""
    allowed = permissions_of(user, channel)
    if not allowed & Permission.VIEW_CHANNEL:
        raise ApiError(Problem.MISSING_ACCESS)
    for permission in needed:
        if not allowed & permission:
            journal.note("missing_permission", channel=channel.id, permission=permission.name)
            raise ApiError(Problem.MISSING_PERMISSIONS)
