"""Routes of threads: starting them in a channel, on a message or in a forum; their members."""

from tests.loopback.discord_server.core import Core
from tests.loopback.discord_server.errors import ApiError, Problem
from tests.loopback.discord_server.objects import channel_payload, timestamp
from tests.loopback.discord_server.permissions import require
from tests.loopback.discord_server.rest.request import Answer, Request, Route
from tests.loopback.discord_server.wire import ChannelKind, Payload, Permission


async def start_thread(core: Core, request: Request) -> Answer:
    """A thread without a message to hang on, or a forum post with its first message."""
    parent = core.world.channel(request.id("channel"))
    form = await request.form()
    fields, bot = form.fields, core.world.bot
    name = fields.get("name") or ""
    if parent.kind is not ChannelKind.FORUM:
        require(core.journal, bot, parent, Permission.CREATE_PUBLIC_THREADS)
        kind = ChannelKind(fields.get("type", ChannelKind.PRIVATE_THREAD))
        thread = core.build.thread(parent, name, owner=bot, kind=kind)
        return Answer(status=201, body=channel_payload(thread))
    require(core.journal, bot, parent, Permission.SEND_MESSAGES)
    tags = tuple(fields.get("applied_tags") or ())
    post = core.build.thread(parent, name, owner=bot, tags=tags)
    message = core.messages.compose(post, bot, fields.get("message") or {}, form.files)
    message.id = post.id
    core.messages.publish(message)
    body = {**channel_payload(post), "message": core.payloads.message(message)}
    return Answer(status=201, body=body)


async def start_thread_on_message(core: Core, request: Request) -> Answer:
    """A thread that hangs on a message; there is at most one."""
    parent = core.world.channel(request.id("channel"))
    fields = (await request.form()).fields
    require(core.journal, core.world.bot, parent, Permission.CREATE_PUBLIC_THREADS)
    message = core.world.message(parent, request.id("message"))
    if message.id in core.world.channels:
        raise ApiError(Problem.THREAD_EXISTS)
    thread = core.build.thread(
        parent, fields.get("name") or "", owner=core.world.bot, thread_id=message.id
    )
    return Answer(status=201, body=channel_payload(thread))


async def join_thread(core: Core, request: Request) -> None:
    """Become a member of a thread."""
    core.world.channel(request.id("channel"))


async def get_thread_member(core: Core, request: Request) -> Payload:
    """A member of a thread; of those who may be one, only its owner is known here."""
    thread = core.world.channel(request.id("channel"))
    require(core.journal, core.world.bot, thread)
    user = core.world.user(request.id("user"))
    if thread.thread is None or thread.thread.owner is not user:
        raise ApiError(Problem.UNKNOWN_MEMBER)
    return {
        "id": str(thread.id),
        "user_id": str(user.id),
        "join_timestamp": timestamp(thread.thread.created),
        "flags": 0,
    }


ROUTES = (
    Route("POST", "/channels/{channel}/threads", start_thread, "threads"),
    Route(
        "POST", "/channels/{channel}/messages/{message}/threads", start_thread_on_message, "threads"
    ),
    Route("PUT", "/channels/{channel}/thread-members/@me", join_thread, "threads"),
    Route("GET", "/channels/{channel}/thread-members/{user}", get_thread_member, "threads"),
)
