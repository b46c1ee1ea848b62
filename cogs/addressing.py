"""Tells which messages are meant for the bot, and whether their authors may ask now.

Invariant: the bot's own messages, those of webhooks and of bots that nobody listed start nothing,
and bots that were listed never keep a conversation going among themselves.
"""

import logging
from collections.abc import Collection

import discord

from chat.answering import MOST_BOT_TURNS, Answering, AnsweringSettings, Heard, trigger
from chat.desk import Desk
from chat.endpoints import Routes
from chat.ports import History
from chat.quotas import Asker, Judged, Nearing, Quotas
from chat.scheduler import is_near
from cogs.aside import NETWORK_ERRORS
from cogs.history import ChannelHistory, ReplyChain, says_something, spoken
from cogs.in_words import mentions_in_body
from cogs.permissions import within
from cogs.sending import remark, send_once
from cogs.threads import standing_in, thread_for
from cogs.translations.figures import percent
from cogs.translations.saying import tr
from providers.base import EndpointError

log = logging.getLogger(__name__)

_ASKS = (discord.MessageType.default, discord.MessageType.reply)
_MOST_TOLD = 10_000
"""Channels that are remembered to have been told why there are no threads in them."""

IGNORED = "The admins of this server have me ignore you."
_NOBODY = 0
"""Stands for an author who is not known."""


class Addressing:
    """What Discord shows of a message, put to a guild's settings."""

    def __init__(
        self,
        client: discord.Client,
        me: discord.abc.User,
        settings: AnsweringSettings,
        quotas: Quotas,
        routes: Routes,
        *,
        operators: Collection[int],
    ) -> None:
        self._client = client
        self._me = me
        self._settings = settings
        self._quotas = quotas
        self._routes = routes
        self._operators = operators
        self._bot_turns: dict[int, int] = {}
        self._told_threads: set[int] = set()

    async def takes(self, message: discord.Message) -> bool:
        """Whether a message is meant for the bot. Raises StoreError."""
        author, channel = message.author, message.channel
        if author.id == self._me.id or message.webhook_id or message.type not in _ASKS:
            return False
        if message.guild is None:
            return not author.bot
        if not author.bot:
            self._bot_turns.pop(channel.id, None)
        settings = await self._settings.of(message.guild.id)
        heard = Heard(
            author_id=author.id,
            is_bot=author.bot,
            role_ids=await _roles_of(message.guild, author) if settings.roles else (),
            channel_ids=within(channel),
            text=message.content,
            mentions=mentions_in_body(message, self._me),
            answers=_answers(message),
            in_own_thread=isinstance(channel, discord.Thread) and channel.owner_id == self._me.id,
        )
        why = trigger(settings, heard, me=self._me.id)
        if why in {"thread", "channel"} and not says_something(spoken(message, self._me)):
            return False  # its words are withheld, or there are none: nobody asked
        if why is not None and author.bot:
            turns = self._bot_turns.get(channel.id, 0)
            if turns >= MOST_BOT_TURNS:
                log.info("Bots had %d turns in a row in channel %s.", turns, channel.id)
                return False
            self._bot_turns[channel.id] = turns + 1
        return why is not None

    async def judge(
        self, message: discord.Message, member_id: int, *, asker: discord.abc.User | None = None
    ) -> Judged:
        """Count the question of a member, who need not be the author of `message`, and say whether
        it may be asked now; admins are told of budgets that near their end. `asker` is the member
        with their roles, where the caller knows them. Raises StoreError."""
        guild, author = message.guild, message.author
        known = asker or (author if author.id == member_id else None)
        member = await _member(guild, known, member_id) if guild else None
        if guild is not None:
            settings = await self._settings.of(guild.id)
            roles = {role.id for role in member.roles} if member else set[int]()
            if member_id in settings.members or not roles.isdisjoint(settings.roles):
                return Judged(refusal=IGNORED)
        judged = await self._quotas.judge(
            Asker(
                guild_id=guild.id if guild else 0,
                channel_id=message.channel.id,
                member_id=member_id,
                role_ids=[role.id for role in member.roles] if member else (),
                manages=member is not None and member.guild_permissions.manage_guild,
            )
        )
        for warning in judged.warnings:
            await self._warn(warning)
        return judged

    async def history(self, message: discord.Message, *, included: bool = False) -> History:
        """The past of a conversation that goes on with `message`, as the guild wants it read. With
        `included` that is part of it: what is answered is something else. Raises StoreError."""
        channel, guild = message.channel, message.guild
        if guild is None:
            return ChannelHistory(channel, self._me)
        if (whole := await self.whole_history(channel, guild.id)) is not None:
            return whole
        settings = await self._settings.of(guild.id)
        return ReplyChain(message, self._me, included=included, bots=settings.bots)

    async def whole_history(
        self, channel: discord.abc.Messageable, guild_id: int
    ) -> ChannelHistory | None:
        """The past of a guild's channel; None where only chains of replies are read. Raises
        StoreError."""
        settings = await self._settings.of(guild_id)
        own_thread = isinstance(channel, discord.Thread) and channel.owner_id == self._me.id
        if own_thread or await self._reads_all(guild_id, settings):
            return ChannelHistory(channel, self._me, bots=settings.bots)
        return None

    async def place(self, message: discord.Message, topic: str) -> discord.Message:
        """`message` as if it stood where it is to be answered: in a thread of its own, where the
        guild wants that of new conversations. Raises StoreError."""
        guild, channel = message.guild, message.channel
        if guild is None or message.type is discord.MessageType.reply:
            return message
        if not (await self._settings.of(guild.id)).in_thread:
            return message
        thread, why_not = await thread_for(message, topic)
        if thread is not None:
            return standing_in(message, thread)
        if why_not and channel.id not in self._told_threads:
            if len(self._told_threads) >= _MOST_TOLD:
                self._told_threads.clear()
            self._told_threads.add(channel.id)
            await remark(message, why_not)
        return message

    async def _reads_all(self, guild_id: int, settings: Answering) -> bool:
        """Whether the past is all of a channel. Unless a guild decides it is where the endpoint is
        near: what members say to each other does not leave the house then."""
        if settings.history != "auto":
            return settings.history == "channel"
        try:
            async with self._routes.serving(guild_id) as route:
                return is_near(route.provider.endpoint)
        except EndpointError:
            return False  # the turn itself tells what is wrong

    async def _warn(self, warning: Nearing) -> None:
        """Tell whoever can change a budget that it nears its end."""
        guild = self._client.get_guild(warning.guild_id) if warning.guild_id else None
        if guild is not None and guild.owner_id is not None:
            whom, locale = [guild.owner_id], guild.preferred_locale
            part = percent(locale, min(warning.part, 1.0))
            line = tr(
                locale,
                "Today's budget of the server {name} is used up by {part}.",
                name=guild.name,
                part=part,
            )
        else:
            whom, locale = list(self._operators), None
            part = percent(locale, min(warning.part, 1.0))
            line = tr(locale, "Today's budget for your endpoint is used up by {part}.", part=part)
        then = tr(
            locale,
            "At 100 % I stop answering until tomorrow (UTC). `/config budget` shows and changes "
            "it, `/usage` tells what used it.",
        )
        for user_id in whom:
            try:
                user = self._client.get_user(user_id) or await self._client.fetch_user(user_id)
                await send_once(user, f"{line} {then}")
            except (discord.HTTPException, *NETWORK_ERRORS) as error:
                log.warning("A budget nears its end, and an admin was not told: %s", error)


def addressing_for(client: discord.Client, me: discord.abc.User, desk: Desk) -> Addressing:
    """The addressing of a bot that is served from `desk`."""
    return Addressing(
        client,
        me,
        desk.answering,
        desk.quotas,
        desk.endpoints,
        operators=desk.admission.operators,
    )


async def _roles_of(guild: discord.Guild, author: discord.abc.User) -> Collection[int]:
    """Ids of the author's roles, none where Discord does not tell."""
    member = await _member(guild, author, author.id)
    return [role.id for role in member.roles] if member else ()


async def _member(
    guild: discord.Guild, known: discord.abc.User | None, member_id: int
) -> discord.Member | None:
    """A member with their roles: what history hands out comes without them."""
    member = known if isinstance(known, discord.Member) else guild.get_member(member_id)
    if member is None:
        try:
            member = await guild.fetch_member(member_id)
        except (discord.HTTPException, *NETWORK_ERRORS) as error:
            log.info("A member's roles are not known: %s", error)
    return member


def _answers(message: discord.Message) -> int | None:
    """The id of whom a message replies to; None where it is no reply."""
    if message.type is not discord.MessageType.reply or message.reference is None:
        return None
    answered = message.reference.cached_message or message.reference.resolved
    return answered.author.id if isinstance(answered, discord.Message) else _NOBODY
