"""Who may do what: Discord's order of owner, roles, administrator and overwrites."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from tests.loopback.discord_server import Channel, Guild, LoopbackDiscord, Permission, Role, User
from tests.loopback.discord_server.builder import Builder
from tests.loopback.discord_server.permissions import permissions_of
from tests.loopback.discord_server.wire import ALL_PERMISSIONS, DEFAULT_PERMISSIONS

SEND, MANAGE, VIEW = Permission.SEND_MESSAGES, Permission.MANAGE_MESSAGES, Permission.VIEW_CHANNEL


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A member with a role that may manage messages, in a guild that denies nothing yet."""

    build: Builder
    guild: Guild
    channel: Channel
    role: Role
    user: User


def nothing(case: Case) -> None:
    """Leave all as it is."""


def deny_everyone(case: Case) -> None:
    case.build.overwrite(case.channel, case.guild, deny=SEND)


def role_over_everyone(case: Case) -> None:
    case.build.overwrite(case.channel, case.guild, deny=SEND)
    case.build.overwrite(case.channel, case.role, allow=SEND)


def one_role_denies_what_another_allows(case: Case) -> None:
    second = case.build.role(case.guild, "second")
    case.guild.members[case.user.id].roles.append(second.id)
    case.build.overwrite(case.channel, case.role, deny=SEND)
    case.build.overwrite(case.channel, second, allow=SEND)


def member_over_role(case: Case) -> None:
    case.build.overwrite(case.channel, case.role, allow=SEND)
    case.build.overwrite(case.channel, case.user, deny=SEND)


def unseen(case: Case) -> None:
    case.build.overwrite(case.channel, case.guild, deny=VIEW)


def administrator(case: Case) -> None:
    case.role.permissions |= int(Permission.ADMINISTRATOR)
    case.build.overwrite(case.channel, case.user, deny=SEND)


def owner(case: Case) -> None:
    case.guild.owner = case.user
    case.build.overwrite(case.channel, case.user, deny=SEND)


def stranger(case: Case) -> None:
    del case.guild.members[case.user.id]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (nothing, DEFAULT_PERMISSIONS | MANAGE),
        (deny_everyone, (DEFAULT_PERMISSIONS | MANAGE) ^ SEND),
        (role_over_everyone, DEFAULT_PERMISSIONS | MANAGE),
        (one_role_denies_what_another_allows, DEFAULT_PERMISSIONS | MANAGE),
        (member_over_role, (DEFAULT_PERMISSIONS | MANAGE) ^ SEND),
        (unseen, 0),
        (administrator, ALL_PERMISSIONS),
        (owner, ALL_PERMISSIONS),
        (stranger, 0),
    ],
)
def test_permissions_in_a_channel_and_in_its_threads(
    change: Callable[[Case], None], expected: int
) -> None:
    server = LoopbackDiscord()
    guild = server.build.guild()
    channel = server.build.channel(guild, "general")
    thread = server.build.thread(channel, "thread", owner=server.bot)
    role = server.build.role(guild, "mods", permissions=MANAGE)
    user = server.build.user("alice")
    server.build.member(guild, user, role)
    change(Case(build=server.build, guild=guild, channel=channel, role=role, user=user))
    assert permissions_of(user, channel) == expected
    assert permissions_of(user, thread) == expected


def test_everything_is_allowed_in_direct_messages() -> None:
    server = LoopbackDiscord()
    private = server.build.direct_messages(server.build.user("alice"))
    assert permissions_of(server.bot, private) == ALL_PERMISSIONS
