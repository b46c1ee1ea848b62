"""Routes of a channel or thread as such: reading it, changing it, typing in it."""

from collections.abc import Sequence

from tests.loopback.discord_server.core import Core
from tests.loopback.discord_server.errors import ApiError, Problem, bad_length
from tests.loopback.discord_server.model import Channel, Upload
from tests.loopback.discord_server.objects import channel_payload
from tests.loopback.discord_server.permissions import may, require
from tests.loopback.discord_server.rest.request import Request, Route
from tests.loopback.discord_server.wire import ChannelKind, Payload, Permission

WITHOUT_MESSAGES = frozenset({ChannelKind.FORUM, ChannelKind.MEDIA, ChannelKind.CATEGORY})


def require_sending(core: Core, channel: Channel, files: Sequence[Upload] = ()) -> None:
    """Refuse what the bot may not send: for want of permission, or in the wrong kind of place."""
    bot = core.world.bot
    if channel.thread is not None:
        require(core.journal, bot, channel, Permission.SEND_MESSAGES_IN_THREADS)
        if channel.thread.locked and not may(bot, channel, Permission.MANAGE_THREADS):
            raise ApiError(Problem.THREAD_LOCKED)
    elif channel.kind in WITHOUT_MESSAGES:
        raise ApiError(Problem.NOT_A_TEXT_CHANNEL)
    else:
        require(core.journal, bot, channel, Permission.SEND_MESSAGES)
    if files:
        require(core.journal, bot, channel, Permission.ATTACH_FILES)


async def get_channel(core: Core, request: Request) -> Payload:
    """A channel that the bot can see."""
    channel = core.world.channel(request.id("channel"))
    require(core.journal, core.world.bot, channel)
    return channel_payload(channel)


async def edit_channel(core: Core, request: Request) -> Payload:
    """Rename a channel, set its topic, archive or lock a thread."""
    channel = core.world.channel(request.id("channel"))
    fields = (await request.form()).fields
    bot, thread = core.world.bot, channel.thread
    if thread is None:
        require(core.journal, bot, channel, Permission.MANAGE_CHANNELS)
    elif thread.owner is bot:
        require(core.journal, bot, channel)
    else:
        require(core.journal, bot, channel, Permission.MANAGE_THREADS)
    name = fields.get("name", channel.name)
    if not 1 <= len(name) <= core.limits.channel_name:
        raise bad_length("name", core.limits.channel_name)
    channel.name = name
    channel.slowmode = fields.get("rate_limit_per_user", channel.slowmode)
    channel.topic = fields.get("topic", channel.topic)
    channel.nsfw = fields.get("nsfw", channel.nsfw)
    if thread is not None:
        thread.archived = fields.get("archived", thread.archived)
        thread.locked = fields.get("locked", thread.locked)
        thread.auto_archive_minutes = fields.get(
            "auto_archive_duration", thread.auto_archive_minutes
        )
    core.build.updated(channel)
    return channel_payload(channel)


async def type_in_channel(core: Core, request: Request) -> None:
    """Show the typing indicator."""
    channel = core.world.channel(request.id("channel"))
    require_sending(core, channel)
    core.journal.note("typing", channel=channel.id)


ROUTES = (
    Route("GET", "/channels/{channel}", get_channel),
    Route("PATCH", "/channels/{channel}", edit_channel, "channel"),
    Route("POST", "/channels/{channel}/typing", type_in_channel, "typing"),
)
