"""Walks all commands that the bot has registered, and fills in what they and the tools ask for.

Invariant: what is filled in leads to the first guild wherever a name or number can.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from tests.cogs.town import Town
from tests.loopback.discord_server import Upload
from tests.loopback.discord_server.command_data import OptionValue
from tests.loopback.discord_server.model import Command
from tests.loopback.discord_server.wire import CommandKind, OptionKind

Declared = Mapping[str, Any]


def commands(registered: Iterable[Command]) -> Iterator[tuple[str, Declared]]:
    """Chat commands with their paths, subcommands one by one."""
    for command in registered:
        if command.kind is CommandKind.CHAT:
            yield from _leaves(command.name, command.declared)


def _leaves(path: str, declared: Declared) -> Iterator[tuple[str, Declared]]:
    below = [each for each in walked(declared) if each["type"] in _SUBCOMMANDS]
    if not below:
        yield path, declared
    for each in below:
        yield from _leaves(f"{path} {each['name']}", each)


_SUBCOMMANDS = (1, 2)


def walked(declared: Declared) -> list[Declared]:
    """The options of a command, or its subcommands."""
    return list(cast("Iterable[Declared]", declared.get("options") or ()))


def options_for(declared: Declared, here: Town, *, optional: bool) -> dict[str, OptionValue]:
    """A value for every option that must be given, with `optional` for the others too."""
    return {
        option["name"]: _value(option, here)
        for option in walked(declared)
        if optional or option.get("required")
    }


def _value(option: Declared, here: Town) -> OptionValue:
    choices = cast("list[Declared]", option.get("choices") or [])
    if choices:
        return choices[0]["value"]
    match OptionKind(option["type"]):
        case OptionKind.INTEGER:
            return max(1, int(option.get("min_value", 1)))
        case OptionKind.NUMBER:
            return float(option.get("min_value", 1))
        case OptionKind.BOOLEAN:
            return True
        case OptionKind.USER:
            return here.stranger
        case OptionKind.ROLE:
            return here.server.build.role(here.away, "walkers")
        case OptionKind.CHANNEL:
            return here.away_channel
        case OptionKind.ATTACHMENT:
            return Upload(filename="a.txt", data=b"nothing much")
        case _:
            return _word(str(option["name"]), here)[: option.get("max_length", 6000)]


def _word(name: str, here: Town) -> str:
    """The first guild's own, by the names that it may have."""
    if name in ("message", "link"):
        return f"https://discord.com/channels/{here.home.id}/{here.home_channel.id}/1"
    if name in ("server", "guild", "guild_id"):
        return str(here.home.id)
    return "Alpha" if name == "context" else "1" if name == "document" else "alpha"


def arguments_for(schema: Mapping[str, Any], here: Town) -> dict[str, Any]:
    """Arguments that satisfy a tool's schema, as far as it can be told from their types."""
    found: dict[str, Any] = {}
    properties = cast("Mapping[str, Mapping[str, Any]]", schema.get("properties") or {})
    for name, each in properties.items():
        kind = each.get("type")
        if name in ("channel", "channel_id", "channel_name"):
            found[name] = "general"
        elif "enum" in each:
            found[name] = each["enum"][0]
        elif kind == "integer":
            found[name] = 1
        elif kind == "boolean":
            found[name] = True
        elif kind == "array":
            found[name] = ["alpha", "beta"]
        elif kind == "string":
            found[name] = "alpha"
    return found
