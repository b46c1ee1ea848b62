"""The objects of the wire that need more than themselves: links to files, the bot, a guild's rest.

Invariant: as in `objects`. Nothing here changes what it describes.
"""

from tests.loopback.discord_server.cdn import ContentDelivery
from tests.loopback.discord_server.model import Guild, Interaction, Message, StoredFile
from tests.loopback.discord_server.objects import (
    channel_payload,
    installed_by,
    interaction_metadata,
    member_payload,
    message_reference,
    partial_member_payload,
    poll_payload,
    role_payload,
    sticker_payloads,
    timestamp,
    user_payload,
)
from tests.loopback.discord_server.permissions import permissions_of
from tests.loopback.discord_server.wire import (
    APPLICATION_FLAGS,
    DEFAULT_PERMISSIONS,
    MessageKind,
    Payload,
)
from tests.loopback.discord_server.world import World

APPLICATION_CONSTANTS: Payload = {
    "icon": None,
    "description": "",
    "summary": "",
    "type": None,
    "bot_public": True,
    "bot_require_code_grant": False,
    "verify_key": "0" * 64,
    "flags": APPLICATION_FLAGS,
    "flags_new": str(APPLICATION_FLAGS),
    "rpc_origins": [],
    "hook": True,
    "redirect_uris": [],
    "interactions_endpoint_url": None,
    "role_connections_verification_url": None,
    "approximate_user_install_count": 0,
    "approximate_user_authorization_count": 0,
    "event_webhooks_status": 1,
    "eligible_oauth2_scopes": [],
    "explicit_content_filter": 0,
    "integration_types_config": {"0": {}},
    "tags": [],
}
GUILD_CONSTANTS: Payload = {
    "icon": None,
    "splash": None,
    "discovery_splash": None,
    "afk_channel_id": None,
    "afk_timeout": 300,
    "verification_level": 0,
    "default_message_notifications": 0,
    "explicit_content_filter": 0,
    "emojis": [],
    "stickers": [],
    "features": [],
    "mfa_level": 0,
    "application_id": None,
    "system_channel_id": None,
    "system_channel_flags": 0,
    "rules_channel_id": None,
    "vanity_url_code": None,
    "description": None,
    "banner": None,
    "premium_tier": 0,
    "premium_subscription_count": 0,
    "public_updates_channel_id": None,
    "safety_alerts_channel_id": None,
    "nsfw_level": 0,
    "nsfw": False,
    "premium_progress_bar_enabled": False,
    "max_members": 500000,
    "max_presences": None,
    "max_video_channel_users": 25,
    "max_stage_video_channel_users": 50,
    "region": "deprecated",
    "widget_enabled": False,
    "widget_channel_id": None,
    "home_header": None,
    "hub_type": None,
    "latest_onboarding_question_id": None,
    "incidents_data": None,
}


class Payloads:
    """Describes what the world holds."""

    def __init__(self, world: World, cdn: ContentDelivery) -> None:
        self._world = world
        self._cdn = cdn

    def application(self) -> Payload:
        """The application object of a bot's login."""
        return {
            **APPLICATION_CONSTANTS,
            "id": str(self._world.application_id),
            "name": self._world.bot.name,
            "bot": user_payload(self._world.bot),
            "owner": user_payload(self._world.owner),
            "team": self._team(),
            "approximate_guild_count": len(self._world.guilds),
        }

    def _team(self) -> Payload | None:
        if not self._world.team:
            return None
        team_id = str(self._world.application_id)
        return {
            "id": team_id,
            "name": "Team",
            "icon": None,
            "owner_user_id": str(self._world.team[0][0].id),
            "members": [
                {
                    "user": user_payload(user),
                    "team_id": team_id,
                    "role": role,
                    "membership_state": state,
                    "permissions": ["*"],
                }
                for user, role, state in self._world.team
            ],
        }

    def guild(self, guild: Guild) -> Payload:
        """A guild object as REST gives it."""
        return {
            **GUILD_CONSTANTS,
            "preferred_locale": guild.locale,
            "id": str(guild.id),
            "name": guild.name,
            "owner_id": str(guild.owner.id),
            "roles": [role_payload(role, self._world.bot) for role in guild.roles.values()],
        }

    def guild_create(self, guild: Guild) -> Payload:
        """A guild with channels, threads and members, as the gateway gives it."""
        channels = [channel_payload(c) for c in self._world.channels_of(guild)]
        for channel in channels:
            del channel["guild_id"]
        return {
            **self.guild(guild),
            "joined_at": timestamp(guild.joined),
            "large": False,
            "unavailable": False,
            "member_count": len(guild.members),
            "members": [member_payload(member) for member in guild.members.values()],
            "channels": channels,
            "threads": [channel_payload(t) for t in self._world.open_threads_of(guild)],
            "presences": [],
            "voice_states": [],
            "stage_instances": [],
            "guild_scheduled_events": [],
            "soundboard_sounds": [],
        }

    @staticmethod
    def own_guild(guild: Guild) -> Payload:
        """A guild in the list of those that the bot is in."""
        return {
            "id": str(guild.id),
            "name": guild.name,
            "icon": None,
            "banner": None,
            "owner": False,
            "permissions": str(DEFAULT_PERMISSIONS),
            "features": [],
        }

    def attachment(self, stored: StoredFile) -> Payload:
        """An attachment object with a fresh link."""
        link = self._cdn.link(stored)
        payload: Payload = {
            "id": str(stored.id),
            "filename": stored.name,
            "size": len(stored.data),
            "url": link,
            "proxy_url": link,
            "content_type": stored.content_type,
        }
        if stored.description:
            payload["description"] = stored.description
        if stored.size:
            payload["width"], payload["height"] = stored.size
        if stored.ephemeral:
            payload["ephemeral"] = True
        if stored.duration is not None:
            payload |= {"duration_secs": stored.duration, "waveform": "AAAA"}
        return payload

    def message(self, message: Message) -> Payload:
        """A message object as REST gives it, with the message that it replies to."""
        payload = self._bare_message(message)
        replied = message.reply_to
        if replied is not None and message.kind is MessageKind.REPLY:
            payload["referenced_message"] = None if replied.deleted else self._bare_message(replied)
        return payload

    def gateway_message(self, message: Message) -> Payload:
        """A message object as the gateway gives it, with the author's member object."""
        payload = self.message(message)
        payload["channel_type"] = int(message.channel.kind)
        guild = message.channel.guild
        if guild is None:
            return payload
        payload["guild_id"] = str(guild.id)
        author = guild.members.get(message.author.id)
        if author is not None and message.interaction is None:
            payload["member"] = partial_member_payload(author)
        for mention in payload["mentions"]:
            member = guild.members.get(int(mention["id"]))
            if member is not None:
                mention["member"] = partial_member_payload(member)
        return payload

    def interaction(self, interaction: Interaction, *, file_bytes: int) -> Payload:
        """The interaction object that the application receives."""
        channel, guild = interaction.channel, interaction.channel.guild
        payload: Payload = {
            "id": str(interaction.id),
            "application_id": str(self._world.application_id),
            "type": int(interaction.kind),
            "token": interaction.token,
            "version": 1,
            "data": interaction.data,
            "channel_id": str(channel.id),
            "channel": channel_payload(channel),
            "locale": interaction.user.locale,
            "entitlements": [],
            "entitlement_sku_ids": [],
            "app_permissions": str(permissions_of(self._world.bot, channel)),
            "attachment_size_limit": file_bytes,
            "authorizing_integration_owners": installed_by(channel),
            "context": 0 if guild else 1,
        }
        if guild is None:
            payload["user"] = user_payload(interaction.user)
        else:
            payload["guild_id"] = str(guild.id)
            payload["guild_locale"] = guild.locale
            payload["guild"] = {"id": str(guild.id), "locale": guild.locale, "features": []}
            member = guild.members[interaction.user.id]
            permissions = str(permissions_of(interaction.user, channel))
            payload["member"] = {**member_payload(member), "permissions": permissions}
        if interaction.message is not None:
            payload["message"] = self.message(interaction.message)
        return payload

    def _bare_message(self, message: Message) -> Payload:
        payload: Payload = {
            "id": str(message.id),
            "channel_id": str(message.channel.id),
            "type": int(message.kind),
            "content": message.content,
            "author": user_payload(message.author),
            "timestamp": timestamp(message.created),
            "edited_timestamp": None if message.edited is None else timestamp(message.edited),
            "tts": message.tts,
            "mention_everyone": message.mention_everyone,
            "mentions": [user_payload(user) for user in message.mentions],
            "mention_roles": [str(role) for role in message.mention_roles],
            "attachments": [self.attachment(stored) for stored in message.attachments],
            "embeds": message.embeds,
            "pinned": False,
            "flags": message.flags,
            "components": message.components,
        }
        if message.nonce is not None:
            payload["nonce"] = message.nonce
        if message.reply_to is not None:
            payload["message_reference"] = message_reference(message.reply_to)
        if message.forwards is not None:
            payload["message_reference"] = {**message_reference(message.forwards), "type": 1}
            payload["message_snapshots"] = [{"message": self._bare_message(message.forwards)}]
        if message.stickers:
            payload["sticker_items"] = sticker_payloads(message.stickers)
        if message.poll:
            payload["poll"] = poll_payload(message.poll)
        if message.interaction is not None:
            payload["application_id"] = str(self._world.application_id)
            payload["webhook_id"] = str(self._world.application_id)
            payload["interaction_metadata"] = interaction_metadata(message.interaction)
        return payload
