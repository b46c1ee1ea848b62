"""Whom a message mentions, and whom it really notifies.

Invariant: pure, apart from the journal: the bot notifying everyone or a role is a violation,
whoever wrote the words that it repeated.
"""

import json
import re
from dataclasses import dataclass

from tests.loopback.discord_server.journal import Journal
from tests.loopback.discord_server.model import Message, Pings, User
from tests.loopback.discord_server.permissions import may
from tests.loopback.discord_server.wire import MessageFlag, MessageKind, Payload, Permission
from tests.loopback.discord_server.world import World, snowflake

USER_MENTION = re.compile(r"<@!?(\d+)>")
ROLE_MENTION = re.compile(r"<@&(\d+)>")
EVERYONE_MENTION = re.compile(r"@(?:everyone|here)")


@dataclass(frozen=True, slots=True, kw_only=True)
class AllowedMentions:
    """What the sender lets a message notify. `users` and `roles` name single ones."""

    parse: frozenset[str]
    users: frozenset[int] = frozenset()
    roles: frozenset[int] = frozenset()
    replied_user: bool = True

    @classmethod
    def read(cls, body: Payload, *, answers_interaction: bool) -> "AllowedMentions":
        """From a request; without a word about it messages notify all, interactions users only."""
        given = body.get("allowed_mentions")
        if given is None:
            default = {"users"} if answers_interaction else {"users", "roles", "everyone"}
            return cls(parse=frozenset(default))
        field = "allowed_mentions"
        return cls(
            parse=frozenset(given.get("parse") or ()),
            users=frozenset(snowflake(u, f"{field}.users") for u in given.get("users") or ()),
            roles=frozenset(snowflake(r, f"{field}.roles") for r in given.get("roles") or ()),
            replied_user=bool(given.get("replied_user")),
        )


def resolve_mentions(
    message: Message, allowed: AllowedMentions, sender: User, world: World, journal: Journal
) -> None:
    """Fill in a message's mentions and pings from its text, as the service does."""
    text = message.content
    if message.flags & MessageFlag.COMPONENTS_V2:
        text += json.dumps(message.components)
    users = [u for u in _ids(USER_MENTION, text) if u in world.users]
    roles = _ids(ROLE_MENTION, text)
    guild = message.channel.guild
    message.mentions = [world.users[user_id] for user_id in users]
    message.mention_roles = [role for role in roles if guild is not None and role in guild.roles]
    message.mention_everyone = (
        EVERYONE_MENTION.search(text) is not None
        and "everyone" in allowed.parse
        and may(sender, message.channel, Permission.MENTION_EVERYONE)
    )
    pinged = {u for u in users if "users" in allowed.parse or u in allowed.users}
    replied = message.reply_to
    if (
        message.kind is MessageKind.REPLY
        and replied is not None
        and not replied.deleted
        and allowed.replied_user
    ):
        pinged.add(replied.author.id)
        if replied.author.id not in users:
            message.mentions.append(replied.author)
    message.pings = Pings(
        users=frozenset(pinged),
        roles=frozenset(r for r in roles if "roles" in allowed.parse or r in allowed.roles),
        everyone=message.mention_everyone,
    )
    if sender is world.bot and (message.pings.everyone or message.pings.roles):
        journal.violation(
            "bot pinged everyone or a role",
            id=message.id,
            everyone=message.pings.everyone,
            roles=sorted(message.pings.roles),
        )


def _ids(pattern: re.Pattern[str], text: str) -> list[int]:
    """The ids that a pattern finds, each once, in order."""
    return list(dict.fromkeys(int(found) for found in pattern.findall(text)))
