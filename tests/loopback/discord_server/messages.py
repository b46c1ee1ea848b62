"""A message's life: composed, published, edited, deleted.

Invariant: every change passes the rules first and is then recorded, kept as a version and told
to the gateway; a refused change leaves the message as it was.
"""

import time
from collections.abc import Sequence
from typing import Any

from tests.loopback.discord_server.cdn import ContentDelivery
from tests.loopback.discord_server.component_rules import check_components, number_components
from tests.loopback.discord_server.errors import ApiError, Problem, form_error
from tests.loopback.discord_server.gateway import Gateway
from tests.loopback.discord_server.journal import Journal
from tests.loopback.discord_server.limits import Limits
from tests.loopback.discord_server.mentions import AllowedMentions, resolve_mentions
from tests.loopback.discord_server.message_rules import (
    check_content,
    check_embeds,
    check_files,
    check_message,
)
from tests.loopback.discord_server.model import (
    Channel,
    Interaction,
    Message,
    StoredFile,
    Upload,
    User,
    Version,
)
from tests.loopback.discord_server.objects import poll_lines
from tests.loopback.discord_server.payloads import Payloads
from tests.loopback.discord_server.wire import REPLIABLE, MessageFlag, MessageKind, Payload, objects
from tests.loopback.discord_server.world import World, snowflake

EDITABLE_FLAGS = int(MessageFlag.COMPONENTS_V2 | MessageFlag.SUPPRESS_EMBEDS)
JOURNAL_EXCERPT = 200
"""Characters of a message that its record shows; all of it is in the message's versions."""


class Messages:
    """Makes and changes messages for REST, interactions and members alike."""

    def __init__(
        self,
        *,
        world: World,
        limits: Limits,
        journal: Journal,
        gateway: Gateway,
        cdn: ContentDelivery,
        payloads: Payloads,
    ) -> None:
        self._world = world
        self._limits = limits
        self._journal = journal
        self._gateway = gateway
        self._cdn = cdn
        self._payloads = payloads

    def compose(
        self,
        channel: Channel,
        author: User,
        body: Payload,
        files: Sequence[Upload] = (),
        *,
        interaction: Interaction | None = None,
        kind: MessageKind = MessageKind.DEFAULT,
    ) -> Message:
        """A message from the body of a request, checked and not yet visible to anyone."""
        content = str(body.get("content") or "")
        embeds: list[Payload] = (
            [body["embed"]] if body.get("embed") else objects(body.get("embeds"))
        )
        components = objects(body.get("components"))
        flags = int(body.get("flags") or 0)
        check_message(content, embeds, components, flags, body, self._limits)
        check_files(files, self._limits)
        has_more = components or files or body.get("poll") or body.get("sticker_ids")
        if not content.strip() and not embeds and not has_more:
            raise ApiError(Problem.EMPTY_MESSAGE)
        message = Message(
            id=self._world.next_id(),
            channel=channel,
            author=author,
            created=time.time(),
            kind=kind,
            content=content.strip() if author is self._world.bot else content,
            flags=flags,
            embeds=_rich(embeds),
            components=number_components(components),
            tts=bool(body.get("tts")),
            nonce=body.get("nonce"),
            interaction=interaction,
            poll=poll_lines(body["poll"]) if body.get("poll") else (),
        )
        if body.get("message_reference"):
            self._refer(message, body["message_reference"])
        allowed = AllowedMentions.read(body, answers_interaction=interaction is not None)
        resolve_mentions(message, allowed, author, self._world, self._journal)
        message.attachments = self._store(channel, files, objects(body.get("attachments")))
        return message

    def placeholder(self, interaction: Interaction, *, kind: MessageKind, flags: int) -> Message:
        """The message that says that the application is thinking."""
        return Message(
            id=self._world.next_id(),
            channel=interaction.channel,
            author=self._world.bot,
            created=time.time(),
            kind=kind,
            flags=int(flags & MessageFlag.EPHEMERAL | MessageFlag.LOADING),
            interaction=interaction,
        )

    def publish(self, message: Message) -> None:
        """Make a composed message visible."""
        channel = message.channel
        self._world.messages[message.id] = message
        if not message.ephemeral:
            channel.messages[message.id] = message
            channel.last_message_id = message.id
            if channel.thread is not None:
                channel.thread.archived = False
                channel.thread.message_count += 1
        self._see(message)
        self._journal.note(
            "message",
            id=message.id,
            channel=channel.id,
            author=message.author.id,
            content=message.text[:JOURNAL_EXCERPT],
            flags=int(message.flags),
            reply_to=message.reply_to.id if message.reply_to else None,
            pings=sorted(message.pings.users),
            components=len(message.components),
        )
        if not message.ephemeral:
            self._announce("MESSAGE_CREATE", message)

    def edit(
        self,
        message: Message,
        body: Payload,
        files: Sequence[Upload] = (),
        *,
        by_interaction: bool = False,
    ) -> None:
        """Change what the body names and leave the rest."""
        channel = message.channel
        if channel.thread is not None and channel.thread.archived:
            raise ApiError(Problem.THREAD_ARCHIVED)
        flags = self._edited_flags(message, body)
        layout = bool(flags & MessageFlag.COMPONENTS_V2)
        content, embeds, components = message.content, message.embeds, message.components
        if "content" in body:
            content = (body["content"] or "").strip()
            check_content(content, self._limits)
        if "embeds" in body:
            embeds = _rich(objects(body["embeds"]))
            check_embeds(embeds, self._limits)
        if "components" in body:
            check_components(objects(body["components"]), self._limits, layout=layout)
            components = number_components(objects(body["components"]))
        if layout and (content or embeds):
            code = "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2"
            raise form_error("content", code, "The 'content' field cannot be used")
        check_files(files, self._limits)
        kept = message.attachments
        if "attachments" in body:
            named = {str(attachment.get("id")) for attachment in objects(body["attachments"])}
            kept = [stored for stored in message.attachments if str(stored.id) in named]
        if not (content or embeds or components or kept or files):
            raise ApiError(Problem.EMPTY_MESSAGE)
        allowed = AllowedMentions.read(body, answers_interaction=by_interaction)
        if not message.loading:
            message.edited = time.time()
        message.flags, message.content = flags, content
        message.embeds, message.components = embeds, components
        message.attachments = [
            *kept,
            *self._store(channel, files, objects(body.get("attachments"))),
        ]
        resolve_mentions(message, allowed, message.author, self._world, self._journal)
        self._see(message)
        self._journal.note(
            "edit",
            id=message.id,
            channel=channel.id,
            content=message.text[:JOURNAL_EXCERPT],
            length=len(message.text),
            flags=int(message.flags),
        )
        if not message.ephemeral:
            self._announce("MESSAGE_UPDATE", message)

    def delete(self, message: Message) -> None:
        """Take a message out of its channel; replies to it then refer to nothing."""
        channel = message.channel
        message.deleted = True
        channel.messages.pop(message.id, None)
        self._journal.note("delete", id=message.id, channel=channel.id)
        if message.ephemeral:
            return
        gone: Payload = {"id": str(message.id), "channel_id": str(channel.id)}
        if channel.guild is not None:
            gone["guild_id"] = str(channel.guild.id)
        self._gateway.dispatch("MESSAGE_DELETE", gone, channel)

    def _announce(self, event: str, message: Message) -> None:
        self._gateway.dispatch(event, self._payloads.gateway_message(message), message.channel)

    def _see(self, message: Message) -> None:
        seen = Version(
            at=self._journal.now(),
            text=message.text,
            embeds=tuple(message.embeds),
            components=tuple(message.components),
            files=tuple(message.attachments),
            loading=message.loading,
        )
        message.versions.append(seen)

    def _refer(self, message: Message, reference: Payload) -> None:
        channel_id = snowflake(
            reference.get("channel_id") or message.channel.id, "message_reference.channel_id"
        )
        message_id = snowflake(reference.get("message_id"), "message_reference.message_id")
        channel = self._world.channels.get(channel_id)
        target = channel.messages.get(message_id) if channel else None
        if target is None:
            if reference.get("fail_if_not_exists", True):
                raise form_error("message_reference", "REPLIES_UNKNOWN_MESSAGE", "Unknown message")
            return
        if target.kind not in REPLIABLE:
            code = "REPLIES_CANNOT_REPLY_TO_SYSTEM_MESSAGE"
            raise form_error("message_reference", code, "Cannot reply to a system message")
        message.kind, message.reply_to = MessageKind.REPLY, target

    def _store(
        self, channel: Channel, files: Sequence[Upload], attachments: Sequence[Any]
    ) -> list[StoredFile]:
        """Keep the uploads under the names that the body gives them by slot."""
        by_slot: dict[str, Payload] = {str(a.get("id")): a for a in attachments}
        stored: list[StoredFile] = []
        for file in files:
            named = by_slot.get(file.slot, {})
            upload = Upload(
                filename=named.get("filename") or file.filename,
                data=file.data,
                content_type=file.content_type,
                duration=file.duration,
            )
            stored.append(self._cdn.store(upload, channel, description=named.get("description")))
        return stored

    @staticmethod
    def _edited_flags(message: Message, body: Payload) -> int:
        flags = message.flags & ~int(MessageFlag.LOADING)
        if body.get("flags") is None:
            return flags
        wanted = int(body["flags"])
        if message.flags & MessageFlag.COMPONENTS_V2 and not wanted & MessageFlag.COMPONENTS_V2:
            code = "MESSAGE_FLAGS_CANNOT_REMOVE_COMPONENTS_V2"
            raise form_error("flags", code, "The IS_COMPONENTS_V2 flag cannot be removed")
        return (flags & ~EDITABLE_FLAGS) | (wanted & EDITABLE_FLAGS)


def _rich(embeds: list[Payload]) -> list[Payload]:
    return [{"type": "rich", **embed} for embed in embeds]
