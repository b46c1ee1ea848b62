"""What an application command may declare.

Invariant: pure. A rule either passes or raises the ApiError that Discord answers with.
"""

import unicodedata

from tests.loopback.discord_server.errors import (
    ApiError,
    Problem,
    bad_length,
    form_error,
    out_of_range,
    too_long,
)
from tests.loopback.discord_server.limits import Limits
from tests.loopback.discord_server.wire import (
    SUBCOMMAND_KINDS,
    CommandKind,
    OptionKind,
    Payload,
    objects,
)

NAME_PUNCTUATION = "-_'"
MARKED_SCRIPTS = ("DEVANAGARI", "THAI")
"""Scripts whose combining marks may stand in a name."""


def check_commands(commands: list[Payload], limits: Limits) -> None:
    """A whole set of commands, as one request registers it."""
    chat = [c for c in commands if command_kind(c) is CommandKind.CHAT]
    if len(chat) > limits.commands:
        raise ApiError(Problem.TOO_MANY_COMMANDS)
    keys = [(command_kind(c), c.get("name")) for c in commands]
    if len(set(keys)) != len(keys):
        message = "Application command names must be unique"
        raise form_error("", "APPLICATION_COMMANDS_DUPLICATE_NAME", message)
    for i, command in enumerate(commands):
        check_command(command, str(i), limits)


def command_kind(command: Payload) -> CommandKind:
    """A command without a type is a chat command."""
    return CommandKind(command.get("type") or CommandKind.CHAT)


def check_command(command: Payload, path: str, limits: Limits) -> None:
    """One command with all its options."""
    name = command.get("name")
    if not isinstance(name, str) or not 1 <= len(name) <= limits.command_name:
        raise bad_length(f"{path}.name", limits.command_name)
    if command_kind(command) is not CommandKind.CHAT:
        if command.get("description"):
            message = "Context menu commands cannot have description"
            raise form_error(
                f"{path}.description", "APPLICATION_COMMAND_DESCRIPTION_INVALID", message
            )
        return
    if _check_node(command, path, 0, limits) > limits.command_chars:
        message = f"Command exceeds maximum size ({limits.command_chars})"
        raise form_error(path, "APPLICATION_COMMAND_TOO_LARGE", message)


def is_valid_name(name: object, limits: Limits) -> bool:
    """Letters and numbers of any script and three marks; letters only in lower case."""
    return (
        isinstance(name, str)
        and 1 <= len(name) <= limits.command_name
        and all(_may_stand_in_name(character) for character in name)
    )


def _may_stand_in_name(character: str) -> bool:
    category = unicodedata.category(character)
    if category[0] == "L":
        return character == character.lower()
    return (
        character in NAME_PUNCTUATION
        or category[0] == "N"
        or unicodedata.name(character, "").startswith(MARKED_SCRIPTS)
    )


def _check_node(node: Payload, path: str, depth: int, limits: Limits) -> int:
    """Check a command, a group, a subcommand or an option; returns the characters that count."""
    if not is_valid_name(node.get("name"), limits):
        message = "Command name is invalid"
        raise form_error(f"{path}.name", "APPLICATION_COMMAND_INVALID_NAME", message)
    description = node.get("description") or ""
    if not 1 <= len(description) <= limits.command_description:
        raise bad_length(f"{path}.description", limits.command_description)
    options = objects(node.get("options"))
    _check_option_list(options, f"{path}.options", limits)
    chars = len(node["name"]) + len(description)
    for i, option in enumerate(options):
        where = f"{path}.options.{i}"
        if option.get("type") == OptionKind.SUBCOMMAND_GROUP and depth > 0:
            code = "APPLICATION_COMMAND_OPTIONS_TYPE_INVALID"
            raise form_error(where, code, "Sub-command groups cannot be nested")
        if option.get("type") not in SUBCOMMAND_KINDS:
            chars += _check_value_option(option, where, limits)
        chars += _check_node(option, where, depth + 1, limits)
    return chars


def _check_option_list(options: list[Payload], path: str, limits: Limits) -> None:
    if len(options) > limits.command_options:
        raise too_long(path, limits.command_options)
    names = [option.get("name") for option in options]
    if len(set(names)) != len(names):
        message = "Option name must be unique"
        raise form_error(path, "APPLICATION_COMMAND_OPTIONS_NAME_INVALID", message)
    optional_seen = False
    for i, option in enumerate(options):
        if option.get("type") in SUBCOMMAND_KINDS:
            continue
        if option.get("required") and optional_seen:
            message = "Required options must be placed before non-required options"
            code = "APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID"
            raise form_error(f"{path}.{i}", code, message)
        optional_seen = optional_seen or not option.get("required")


def _check_value_option(option: Payload, path: str, limits: Limits) -> int:
    """Check what only options with a value have; returns the characters of its choices."""
    choices = objects(option.get("choices"))
    if choices and option.get("autocomplete"):
        code = "APPLICATION_COMMAND_OPTION_AUTOCOMPLETE_CHOICES"
        raise form_error(f"{path}.autocomplete", code, "Autocomplete excludes choices")
    for key in ("min_length", "max_length"):
        length = option.get(key)
        if length is not None and not 0 <= length <= limits.string_option:
            raise out_of_range(f"{path}.{key}", 0, limits.string_option)
    return check_choices(choices, f"{path}.choices", limits)


def check_choices(choices: list[Payload], path: str, limits: Limits) -> int:
    """Choices of an option, declared or offered while typing; returns their characters."""
    if len(choices) > limits.command_choices:
        raise too_long(path, limits.command_choices)
    chars = 0
    for i, choice in enumerate(choices):
        name, value = str(choice.get("name", "")), choice.get("value")
        if not 1 <= len(name) <= limits.choice_name:
            raise bad_length(f"{path}.{i}.name", limits.choice_name)
        if isinstance(value, str) and not 1 <= len(value) <= limits.choice_value:
            raise bad_length(f"{path}.{i}.value", limits.choice_value)
        chars += len(name) + (len(value) if isinstance(value, str) else 0)
    return chars
