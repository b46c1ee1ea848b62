"""What Discord's own client sends when a member runs a command.

Invariant: pure but for kept uploads. A value that the official client would not let a member
enter raises ValueError here, and never reaches the application.
"""

from collections.abc import Mapping
from typing import Any, TypeAlias

from tests.loopback.discord_server.cdn import ContentDelivery
from tests.loopback.discord_server.limits import Limits
from tests.loopback.discord_server.model import Channel, Command, Guild, Role, Upload, User
from tests.loopback.discord_server.objects import (
    channel_payload,
    partial_member_payload,
    role_payload,
    user_payload,
)
from tests.loopback.discord_server.payloads import Payloads
from tests.loopback.discord_server.permissions import permissions_of
from tests.loopback.discord_server.wire import (
    SUBCOMMAND_KINDS,
    CommandKind,
    OptionKind,
    Payload,
    objects,
)
from tests.loopback.discord_server.world import World

OptionValue: TypeAlias = str | int | float | bool | User | Channel | Role | Upload
"""What a member enters: text, a number, a switch, something picked from a list, or a file."""


def find_command(world: World, guild: Guild | None, name: str, kind: CommandKind) -> Command:
    """The command that is offered under that name; LookupError if the bot registered none."""
    for command in world.commands_in(guild):
        if command.name == name and command.kind is kind:
            return command
    offered = sorted(command.name for command in world.commands_in(guild))
    raise LookupError(f"no command {name!r} of kind {kind.name} is registered, only {offered}")


class CommandForm:
    """One member filling in one chat command."""

    def __init__(
        self,
        *,
        channel: Channel,
        user: User,
        world: World,
        limits: Limits,
        cdn: ContentDelivery,
        payloads: Payloads,
    ) -> None:
        self._channel = channel
        self._user = user
        self._world = world
        self._limits = limits
        self._cdn = cdn
        self._payloads = payloads
        self._resolved: dict[str, Payload] = {}

    def fill(
        self, path: str, values: Mapping[str, OptionValue], *, focused: str | None = None
    ) -> Payload:
        """The interaction's data for a command path such as "config set".

        With `focused` the member is still typing in that option.
        """
        name, *subcommands = path.split()
        command = find_command(self._world, self._channel.guild, name, CommandKind.CHAT)
        node, chain = command.declared, list[Payload]()
        for subcommand in subcommands:
            node = _child(node, subcommand)
            chain.append(node)
        options = self._options(node, values, focused)
        for parent in reversed(chain):
            options = [{"name": parent["name"], "type": parent["type"], "options": options}]
        data: Payload = {
            "id": str(command.id),
            "name": command.name,
            "type": int(CommandKind.CHAT),
            "options": options,
        }
        if command.guild_id is not None:
            data["guild_id"] = str(command.guild_id)
        if self._resolved:
            data["resolved"] = self._resolved
        return data

    def _options(
        self, node: Payload, values: Mapping[str, OptionValue], focused: str | None
    ) -> list[Payload]:
        declared = objects(node.get("options"))
        if any(option["type"] in SUBCOMMAND_KINDS for option in declared):
            names = [option["name"] for option in declared]
            raise ValueError(f"{node['name']!r} needs one of its subcommands: {names}")
        unknown = set(values) - {option["name"] for option in declared}
        if unknown:
            raise ValueError(f"{node['name']!r} has no such options: {sorted(unknown)}")
        filled: list[Payload] = []
        for option in declared:
            name = option["name"]
            if name not in values:
                if option.get("required") and focused is None:
                    raise ValueError(f"option {name!r} is required")
                continue
            entry: Payload = {"name": name, "type": option["type"]}
            if name == focused:
                entry |= {"value": values[name], "focused": True}
            else:
                entry["value"] = self._value(option, values[name])
            filled.append(entry)
        return filled

    def _value(self, option: Payload, value: OptionValue) -> Any:
        match value:
            case User():
                return self._resolve_user(value)
            case Channel():
                return self._resolve_channel(value)
            case Role():
                payload = role_payload(value, self._world.bot)
                return self._resolve("roles", value.id, payload)
            case Upload():
                stored = self._cdn.store(value, None)
                return self._resolve("attachments", stored.id, self._payloads.attachment(stored))
            case _:
                self._check_plain(option, value)
                return value

    def _check_plain(self, option: Payload, value: str | int | float) -> None:
        name = option["name"]
        size = value if not isinstance(value, str) else len(value)
        bounds = ("min_value", "max_value")
        if option["type"] == OptionKind.STRING:
            if not isinstance(value, str):
                raise ValueError(f"option {name!r} takes text")
            bounds = ("min_length", "max_length")
            if len(value) > self._limits.string_option:
                raise ValueError(f"option {name!r} takes {self._limits.string_option} characters")
        low, high = (option.get(bound) for bound in bounds)
        if (low is not None and size < low) or (high is not None and size > high):
            raise ValueError(f"option {name!r} takes {low} to {high}, not {size}")
        choices = [choice["value"] for choice in objects(option.get("choices"))]
        if choices and value not in choices:
            raise ValueError(f"option {name!r} takes one of {choices}")

    def _resolve(self, kind: str, object_id: int, payload: Payload) -> str:
        self._resolved.setdefault(kind, {})[str(object_id)] = payload
        return str(object_id)

    def _resolve_user(self, user: User) -> str:
        guild = self._channel.guild
        if guild is not None and user.id in guild.members:
            member = partial_member_payload(guild.members[user.id])
            permissions = str(permissions_of(user, self._channel))
            self._resolve("members", user.id, {**member, "permissions": permissions})
        return self._resolve("users", user.id, user_payload(user))

    def _resolve_channel(self, channel: Channel) -> str:
        permissions = str(permissions_of(self._user, channel))
        payload = {**channel_payload(channel), "permissions": permissions}
        return self._resolve("channels", channel.id, payload)


def _child(node: Payload, name: str) -> Payload:
    children = objects(node.get("options"))
    for child in children:
        if child["name"] == name and child["type"] in SUBCOMMAND_KINDS:
            return child
    raise LookupError(f"{node['name']!r} has no subcommand {name!r}")
