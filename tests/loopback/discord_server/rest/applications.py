"""Routes of the bot itself: where the gateway is, who it is, which commands it registers."""

from typing import Any, cast

from tests.loopback.discord_server.command_rules import check_command, check_commands, command_kind
from tests.loopback.discord_server.core import Core
from tests.loopback.discord_server.errors import ApiError, Problem, not_a_list
from tests.loopback.discord_server.model import Command
from tests.loopback.discord_server.objects import (
    channel_payload,
    command_payload,
    own_user_payload,
    user_payload,
)
from tests.loopback.discord_server.rest.request import Answer, Request, Route
from tests.loopback.discord_server.wire import Payload
from tests.loopback.discord_server.world import snowflake

SESSION_RESET_MS = 4 * 3600 * 1000


async def get_gateway(core: Core, request: Request) -> Payload:
    """Where gateway sockets connect."""
    return {"url": core.address.gateway}


async def get_gateway_for_bot(core: Core, request: Request) -> Payload:
    """Where gateway sockets connect, with how many sessions may still be started."""
    total = core.limits.identifies_per_day
    start_limit = {
        "total": total,
        "remaining": max(0, total - core.gateway.identifies),
        "reset_after": SESSION_RESET_MS,
        "max_concurrency": core.limits.identify_concurrency,
    }
    return {
        "url": core.address.gateway,
        "shards": core.limits.shards,
        "session_start_limit": start_limit,
    }


async def get_application(core: Core, request: Request) -> Payload:
    """The application with its owner; clients ask at login."""
    return core.payloads.application()


async def get_own_user(core: Core, request: Request) -> Payload:
    """The bot's user."""
    return own_user_payload(core.world.bot)


async def list_own_guilds(core: Core, request: Request) -> list[Payload]:
    """The guilds that the bot is in."""
    return [core.payloads.own_guild(guild) for guild in core.world.guilds.values()]


async def get_user(core: Core, request: Request) -> Payload:
    """Any user."""
    return user_payload(core.world.user(request.id("user")))


async def open_direct_messages(core: Core, request: Request) -> Payload:
    """The direct message channel with a user."""
    fields = (await request.form()).fields
    recipient = snowflake(fields.get("recipient_id"), "recipient_id")
    user = core.world.users.get(recipient)
    if user is None:
        raise ApiError(Problem.INVALID_RECIPIENT)
    return channel_payload(core.build.direct_messages(user))


async def list_commands(core: Core, request: Request) -> list[Payload]:
    """The commands of a guild, or the global ones."""
    commands, _ = _scope(core, request)
    return [_payload(core, command) for command in commands.values()]


async def replace_commands(core: Core, request: Request) -> list[Payload]:
    """Register a whole set; commands that keep kind and name keep their id."""
    commands, guild_id = _scope(core, request)
    declared: Any = await request.json()
    if not isinstance(declared, list):
        raise not_a_list("")
    wanted = cast("list[Payload]", declared)
    check_commands(wanted, core.limits)
    made = [_make(core, commands, guild_id, command) for command in wanted]
    commands.clear()
    commands.update({command.id: command for command in made})
    core.journal.note("commands", guild=guild_id, names=[command.name for command in made])
    return [_payload(core, command) for command in made]


async def register_command(core: Core, request: Request) -> Answer:
    """Register one command; one of the same kind and name is replaced."""
    commands, guild_id = _scope(core, request)
    declared = (await request.form()).fields
    check_command(declared, "0", core.limits)
    known = _named_alike(commands, declared) is not None
    command = _make(core, commands, guild_id, declared)
    commands[command.id] = command
    return Answer(status=200 if known else 201, body=_payload(core, command))


async def get_command(core: Core, request: Request) -> Payload:
    """One registered command."""
    return _payload(core, _command(core, request))


async def edit_command(core: Core, request: Request) -> Payload:
    """Change parts of a registered command."""
    command = _command(core, request)
    changes = (await request.form()).fields
    declared: Payload = {**command.declared, "type": int(command.kind), **changes}
    check_command(declared, "0", core.limits)
    command.declared, command.name = declared, declared["name"]
    command.version = core.world.next_id()
    return _payload(core, command)


async def delete_command(core: Core, request: Request) -> None:
    """Take a command back."""
    command = _command(core, request)
    del core.world.commands[command.guild_id][command.id]


def _scope(core: Core, request: Request) -> tuple[dict[int, Command], int | None]:
    """The commands that a request is about: a guild's or the global ones."""
    if request.id("application") != core.world.application_id:
        raise ApiError(Problem.FOREIGN_APPLICATION)
    guild_id = request.id("guild") if request.has("guild") else None
    if guild_id is not None and guild_id not in core.world.guilds:
        raise ApiError(Problem.MISSING_ACCESS)
    return core.world.commands[guild_id], guild_id


def _command(core: Core, request: Request) -> Command:
    commands, _ = _scope(core, request)
    command = commands.get(request.id("command"))
    if command is None:
        raise ApiError(Problem.UNKNOWN_COMMAND)
    return command


def _named_alike(commands: dict[int, Command], declared: Payload) -> Command | None:
    key = (command_kind(declared), declared["name"])
    return next((c for c in commands.values() if (c.kind, c.name) == key), None)


def _make(
    core: Core, commands: dict[int, Command], guild_id: int | None, declared: Payload
) -> Command:
    old = _named_alike(commands, declared)
    return Command(
        id=old.id if old else core.world.next_id(),
        version=core.world.next_id(),
        kind=command_kind(declared),
        name=declared["name"],
        declared=declared,
        guild_id=guild_id,
    )


def _payload(core: Core, command: Command) -> Payload:
    return command_payload(command, core.world.application_id)


COMMANDS = "/applications/{application}/commands"
GUILD_COMMANDS = "/applications/{application}/guilds/{guild}/commands"
ROUTES = (
    Route("GET", "/gateway", get_gateway, authorized=False),
    Route("GET", "/gateway/bot", get_gateway_for_bot),
    Route("GET", "/oauth2/applications/@me", get_application),
    Route("GET", "/applications/@me", get_application),
    Route("GET", "/users/@me", get_own_user),
    Route("GET", "/users/@me/guilds", list_own_guilds),
    Route("POST", "/users/@me/channels", open_direct_messages, "dm"),
    Route("GET", "/users/{user}", get_user),
    *(
        route
        for base in (COMMANDS, GUILD_COMMANDS)
        for route in (
            Route("GET", base, list_commands, "commands"),
            Route("PUT", base, replace_commands, "commands"),
            Route("POST", base, register_command, "commands"),
            Route("GET", base + "/{command}", get_command, "commands"),
            Route("PATCH", base + "/{command}", edit_command, "commands"),
            Route("DELETE", base + "/{command}", delete_command, "commands"),
        )
    ),
)
