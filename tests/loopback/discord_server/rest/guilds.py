"""Routes of guilds: what they are and who and what is in them."""

from tests.loopback.discord_server.core import Core
from tests.loopback.discord_server.errors import ApiError, Problem
from tests.loopback.discord_server.objects import channel_payload, member_payload, role_payload
from tests.loopback.discord_server.rest.request import Request, Route
from tests.loopback.discord_server.wire import Payload


async def get_guild(core: Core, request: Request) -> Payload:
    """A guild without its channels and members."""
    return core.payloads.guild(core.world.guild(request.id("guild")))


async def list_channels(core: Core, request: Request) -> list[Payload]:
    """A guild's channels, without threads."""
    guild = core.world.guild(request.id("guild"))
    return [channel_payload(channel) for channel in core.world.channels_of(guild)]


async def list_open_threads(core: Core, request: Request) -> Payload:
    """A guild's threads that are not archived."""
    guild = core.world.guild(request.id("guild"))
    threads = [channel_payload(thread) for thread in core.world.open_threads_of(guild)]
    return {"threads": threads, "members": []}


async def list_roles(core: Core, request: Request) -> list[Payload]:
    """A guild's roles."""
    guild = core.world.guild(request.id("guild"))
    return [role_payload(role, core.world.bot) for role in guild.roles.values()]


async def get_member(core: Core, request: Request) -> Payload:
    """A member of a guild."""
    member = core.world.guild(request.id("guild")).members.get(request.id("user"))
    if member is None:
        raise ApiError(Problem.UNKNOWN_MEMBER)
    return member_payload(member)


ROUTES = (
    Route("GET", "/guilds/{guild}", get_guild),
    Route("GET", "/guilds/{guild}/channels", list_channels),
    Route("GET", "/guilds/{guild}/threads/active", list_open_threads),
    Route("GET", "/guilds/{guild}/roles", list_roles),
    Route("GET", "/guilds/{guild}/members/{user}", get_member),
)
