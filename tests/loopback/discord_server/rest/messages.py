"""Routes of a channel's messages: history, sending, editing, deleting, reactions."""

import time

from tests.loopback.discord_server.core import Core
from tests.loopback.discord_server.errors import (
    ApiError,
    Problem,
    form_error,
    out_of_range,
    too_long,
)
from tests.loopback.discord_server.model import Channel, Message
from tests.loopback.discord_server.objects import without_content
from tests.loopback.discord_server.permissions import may, require
from tests.loopback.discord_server.rest.channels import require_sending
from tests.loopback.discord_server.rest.request import Request, Route
from tests.loopback.discord_server.wire import Intent, MessageFlag, Payload, Permission
from tests.loopback.discord_server.world import snowflake

DEFAULT_PAGE = 50


async def list_messages(core: Core, request: Request) -> list[Payload]:
    """A page of a channel's history, newest first."""
    channel = core.world.channel(request.id("channel"))
    require(core.journal, core.world.bot, channel)
    if not may(core.world.bot, channel, Permission.READ_MESSAGE_HISTORY):
        return []
    limit = int(request.query.get("limit", DEFAULT_PAGE))
    if not 1 <= limit <= core.limits.history_page:
        raise out_of_range("limit", 1, core.limits.history_page)
    page = _page(channel, request, limit)
    return [_as_seen(core, message) for message in reversed(page)]


def _page(channel: Channel, request: Request, limit: int) -> list[Message]:
    """At most `limit` messages around the one that the query names, oldest first."""
    messages = list(channel.messages.values())
    anchors = {
        name: snowflake(request.query[name], name)
        for name in ("before", "after", "around")
        if request.query.get(name)
    }
    if "before" in anchors:
        return [m for m in messages if m.id < anchors["before"]][-limit:]
    if "after" in anchors:
        return [m for m in messages if m.id > anchors["after"]][:limit]
    if "around" in anchors:
        older = [m for m in messages if m.id < anchors["around"]]
        older = older[-(limit // 2) :] if limit > 1 else []
        newer = [m for m in messages if m.id >= anchors["around"]]
        return [*older, *newer[: limit - len(older)]]
    return messages[-limit:]


async def get_message(core: Core, request: Request) -> Payload:
    """One message of a channel."""
    channel = core.world.channel(request.id("channel"))
    require(core.journal, core.world.bot, channel, Permission.READ_MESSAGE_HISTORY)
    return _as_seen(core, core.world.message(channel, request.id("message")))


def _as_seen(core: Core, message: Message) -> Payload:
    payload = core.payloads.message(message)
    if core.granted & Intent.MESSAGE_CONTENT or message.channel.is_dm:
        return payload
    return without_content(payload, core.world.bot)


async def send_message(core: Core, request: Request) -> Payload:
    """Send a message; a nonce that was enforced before gives the message of then."""
    channel = core.world.channel(request.id("channel"))
    form = await request.form()
    fields = form.fields
    require_sending(core, channel, form.files)
    if fields.get("poll"):
        require(core.journal, core.world.bot, channel, Permission.SEND_POLLS)
    if fields.get("message_reference") and not may(
        core.world.bot, channel, Permission.READ_MESSAGE_HISTORY
    ):
        code = "REPLIES_CANNOT_REPLY_WITHOUT_READ_MESSAGE_HISTORY"
        message = "Cannot reply without permission to read message history"
        raise form_error("message_reference", code, message)
    nonce = fields.get("nonce")
    if nonce is not None and len(str(nonce)) > core.limits.nonce:
        raise too_long("nonce", core.limits.nonce)
    if nonce is not None and fields.get("enforce_nonce"):
        known = _with_nonce(core, channel, str(nonce))
        if known is not None:
            core.journal.note("nonce_dedupe", id=known.id)
            return core.payloads.message(known)
    flags = int(fields.get("flags") or 0) & ~int(MessageFlag.EPHEMERAL)
    sent = core.messages.compose(channel, core.world.bot, {**fields, "flags": flags}, form.files)
    core.messages.publish(sent)
    return core.payloads.message(sent)


def _with_nonce(core: Core, channel: Channel, nonce: str) -> Message | None:
    """The bot's message that carried this nonce, if that was not too long ago."""
    since = time.time() - core.limits.nonce_memory
    for message in reversed(core.world.messages.values()):
        if message.created < since:
            return None
        if (
            message.channel is channel
            and message.author is core.world.bot
            and message.nonce is not None
            and str(message.nonce) == nonce
        ):
            return message
    return None


async def edit_message(core: Core, request: Request) -> Payload:
    """Edit one of the bot's own messages."""
    channel = core.world.channel(request.id("channel"))
    require(core.journal, core.world.bot, channel)
    message = core.world.message(channel, request.id("message"))
    form = await request.form()
    if message.author is not core.world.bot:
        raise ApiError(Problem.FOREIGN_MESSAGE)
    core.messages.edit(message, form.fields, form.files)
    return core.payloads.message(message)


async def delete_message(core: Core, request: Request) -> None:
    """Delete a message; others' need the permission to manage messages."""
    channel = core.world.channel(request.id("channel"))
    message = core.world.message(channel, request.id("message"))
    if message.author is not core.world.bot:
        require(core.journal, core.world.bot, channel, Permission.MANAGE_MESSAGES)
    core.messages.delete(message)


async def add_reaction(core: Core, request: Request) -> None:
    """React to a message."""
    channel = core.world.channel(request.id("channel"))
    needed = (Permission.READ_MESSAGE_HISTORY, Permission.ADD_REACTIONS)
    require(core.journal, core.world.bot, channel, *needed)
    message = core.world.message(channel, request.id("message"))
    core.journal.note("reaction", id=message.id, emoji=request.text("emoji"))


async def remove_reaction(core: Core, request: Request) -> None:
    """Take a reaction back."""
    channel = core.world.channel(request.id("channel"))
    message = core.world.message(channel, request.id("message"))
    core.journal.note("reaction_removed", id=message.id, emoji=request.text("emoji"))


MESSAGES = "/channels/{channel}/messages"
MESSAGE = MESSAGES + "/{message}"
REACTION = MESSAGE + "/reactions/{emoji}/@me"
ROUTES = (
    Route("GET", MESSAGES, list_messages, "messages_get"),
    Route("POST", MESSAGES, send_message, "message_post"),
    Route("GET", MESSAGE, get_message, "messages_get"),
    Route("PATCH", MESSAGE, edit_message, "message_patch"),
    Route("DELETE", MESSAGE, delete_message, "message_delete"),
    Route("PUT", REACTION, add_reaction, "reaction"),
    Route("DELETE", REACTION, remove_reaction, "reaction"),
)
