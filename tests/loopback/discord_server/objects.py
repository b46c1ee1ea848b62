"""The objects of the wire that need nothing but what they describe.

Invariant: ids and permission bits leave as strings, times as ISO 8601 in UTC, and every field
that a client library reads without asking first is there.
"""

from collections.abc import Sequence
from datetime import UTC, datetime

from tests.loopback.discord_server.model import (
    Channel,
    Command,
    Interaction,
    Member,
    Message,
    Overwrite,
    Role,
    User,
)
from tests.loopback.discord_server.wire import ChannelKind, InteractionKind, Payload


def timestamp(seconds: float) -> str:
    """Seconds since 1970 as ISO 8601 in UTC."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="microseconds")


def optional_id(value: int | None) -> str | None:
    """An id as a string, None as it is."""
    return None if value is None else str(value)


def user_payload(user: User) -> Payload:
    """A user object."""
    return {
        "id": str(user.id),
        "username": user.name,
        "discriminator": "0",
        "global_name": None if user.bot else user.name.title(),
        "avatar": None,
        "bot": user.bot,
        "system": False,
        "public_flags": 0,
        "flags": 0,
        "banner": None,
        "accent_color": None,
        "avatar_decoration_data": None,
        "collectibles": None,
        "primary_guild": None,
    }


def own_user_payload(user: User) -> Payload:
    """The bot's own user object."""
    own: Payload = {"verified": True, "mfa_enabled": False, "locale": "en-US", "email": None}
    return {**user_payload(user), **own, "premium_type": 0}


def role_payload(role: Role, bot: User) -> Payload:
    """A role object."""
    colors = {"primary_color": 0, "secondary_color": None, "tertiary_color": None}
    payload: Payload = {
        "id": str(role.id),
        "name": role.name,
        "color": 0,
        "colors": colors,
        "hoist": False,
        "icon": None,
        "unicode_emoji": None,
        "position": role.position,
        "permissions": str(role.permissions),
        "managed": role.managed,
        "mentionable": False,
        "flags": 0,
        "description": None,
    }
    if role.managed:
        payload["tags"] = {"bot_id": str(bot.id)}
    return payload


def partial_member_payload(member: Member) -> Payload:
    """A member object without its user, as it stands beside one."""
    return {
        "nick": member.nick,
        "avatar": None,
        "banner": None,
        "roles": [str(role) for role in member.roles],
        "joined_at": timestamp(member.joined),
        "premium_since": None,
        "deaf": False,
        "mute": False,
        "flags": 0,
        "pending": False,
        "communication_disabled_until": None,
    }


def member_payload(member: Member) -> Payload:
    """A member object."""
    return {"user": user_payload(member.user), **partial_member_payload(member)}


def channel_payload(channel: Channel) -> Payload:
    """A channel object: direct message, thread or guild channel."""
    payload: Payload = {
        "id": str(channel.id),
        "type": int(channel.kind),
        "last_message_id": optional_id(channel.last_message_id),
        "flags": 0,
    }
    if channel.recipient is not None:
        return {**payload, "recipients": [user_payload(channel.recipient)]}
    payload |= {
        "guild_id": optional_id(channel.guild.id if channel.guild else None),
        "parent_id": optional_id(channel.parent.id if channel.parent else None),
        "name": channel.name,
        "rate_limit_per_user": channel.slowmode,
    }
    if channel.thread is not None:
        return payload | _thread_fields(channel)
    payload |= {
        "position": channel.position,
        "permission_overwrites": [_overwrite_payload(o) for o in channel.overwrites],
        "topic": channel.topic,
        "nsfw": channel.nsfw,
    }
    if channel.kind is ChannelKind.FORUM:
        payload |= {
            "available_tags": [],
            "default_reaction_emoji": None,
            "default_sort_order": None,
            "default_forum_layout": 0,
        }
    return payload


def _thread_fields(channel: Channel) -> Payload:
    state = channel.thread
    assert state is not None
    fields: Payload = {
        "owner_id": str(state.owner.id),
        "message_count": state.message_count,
        "total_message_sent": state.message_count,
        "member_count": 1,
        "thread_metadata": {
            "archived": state.archived,
            "auto_archive_duration": state.auto_archive_minutes,
            "archive_timestamp": timestamp(state.created),
            "locked": state.locked,
            "create_timestamp": timestamp(state.created),
        },
    }
    if channel.parent is not None and channel.parent.kind is ChannelKind.FORUM:
        fields["applied_tags"] = list(state.tags)
    return fields


def _overwrite_payload(overwrite: Overwrite) -> Payload:
    return {
        "id": str(overwrite.target),
        "type": int(overwrite.for_member),
        "allow": str(overwrite.allow),
        "deny": str(overwrite.deny),
    }


def command_payload(command: Command, application_id: int) -> Payload:
    """A registered command, with what the application left out filled in."""
    declared = command.declared
    payload: Payload = {
        "id": str(command.id),
        "application_id": str(application_id),
        "version": str(command.version),
        "type": int(command.kind),
        "name": command.name,
        "name_localizations": declared.get("name_localizations"),
        "description": declared.get("description") or "",
        "description_localizations": declared.get("description_localizations"),
        "default_member_permissions": declared.get("default_member_permissions"),
        "dm_permission": declared.get("dm_permission", True),
        "nsfw": bool(declared.get("nsfw")),
        "contexts": declared.get("contexts"),
        "integration_types": declared.get("integration_types") or [0],
    }
    if declared.get("options"):
        payload["options"] = declared["options"]
    if command.guild_id is not None:
        payload["guild_id"] = str(command.guild_id)
    return payload


def installed_by(channel: Channel) -> Payload:
    """Whose installation of the application an interaction came through."""
    return {"0": str(channel.guild.id) if channel.guild else "0"}


def interaction_metadata(interaction: Interaction) -> Payload:
    """What a message tells about the interaction that it answers."""
    metadata: Payload = {
        "id": str(interaction.id),
        "type": int(interaction.kind),
        "user": user_payload(interaction.user),
        "authorizing_integration_owners": installed_by(interaction.channel),
    }
    if interaction.kind is InteractionKind.COMPONENT and interaction.message is not None:
        metadata["interacted_message_id"] = str(interaction.message.id)
    if interaction.kind is InteractionKind.MODAL and interaction.source is not None:
        metadata["triggering_interaction_metadata"] = interaction_metadata(interaction.source)
    return metadata


def message_reference(target: Message) -> Payload:
    """What a reply says about the message that it answers."""
    reference: Payload = {
        "type": 0,
        "channel_id": str(target.channel.id),
        "message_id": str(target.id),
    }
    if target.channel.guild is not None:
        reference["guild_id"] = str(target.channel.guild.id)
    return reference


def sticker_payloads(names: Sequence[str]) -> list[Payload]:
    """The sticker items of a message; format 1 is PNG."""
    return [{"id": str(900 + at), "name": name, "format_type": 1} for at, name in enumerate(names)]


def poll_lines(poll: Payload) -> tuple[str, ...]:
    """What `poll_payload` makes a poll of, from the one that a request holds."""
    answers = (answer["poll_media"]["text"] for answer in poll["answers"])
    return (poll["question"]["text"], *answers)


def poll_payload(lines: Sequence[str]) -> Payload:
    """A poll that is open: its question, then its answers."""
    question, *answers = lines
    return {
        "question": {"text": question},
        "answers": [
            {"answer_id": number, "poll_media": {"text": answer}}
            for number, answer in enumerate(answers, 1)
        ],
        "expiry": timestamp(4102444800.0),
        "allow_multiselect": False,
        "layout_type": 1,
    }


def without_content(payload: Payload, bot: User) -> Payload:
    """A message object as an application without the content intent gets it.

    Its own messages and those that mention it keep their content.
    """
    own = str(bot.id)
    if payload["author"]["id"] == own or own in [user["id"] for user in payload["mentions"]]:
        return payload
    withheld: Payload = {"content": "", "embeds": [], "attachments": [], "components": []}
    return payload | withheld
