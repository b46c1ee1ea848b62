"""Takes a document from Discord into a server's knowledge, and tells how far it is.

Invariant: a message is taken only if whoever adds it can read it at that moment, and only from the
same server. What takes longer than Discord lets a command answer goes on in the background.
"""

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable
from typing import TypeAlias

import discord

from chat.knowledge_admin import LARGEST_FILE, File, KnowledgeAdmin, KnowledgeRefused, Written
from cogs.aside import NETWORK_ERRORS
from cogs.in_words import member_of, message_in_words
from cogs.knowledge_words import characters_in_words, pieces_in_words, quoted
from cogs.rights import GuildPlace, may_read
from cogs.translations.figures import number
from cogs.translations.saying import Speaks, retold, tr
from cogs.tree import BROKEN
from data.errors import StoreError
from data.knowledge import Context, Document

log = logging.getLogger(__name__)

Progress: TypeAlias = Callable[[int, int], None]
Keep: TypeAlias = Callable[[Progress], Awaitable[Document]]

EVERY = 2.0
"""Seconds between two accounts of how far it is."""

HAND_OVER = 14 * 60.0
"""Seconds after which the rest happens unseen; Discord's token holds for fifteen minutes."""

_JUMP = re.compile(
    r"https://(?:ptb\.|canary\.)?discord(?:app)?\.com/channels/(\d{1,20})/(\d{1,20})/(\d{1,20})/?"
)
_UNREADABLE = (
    "There is no such message here that you and I can read. Right-click it, choose Copy Message "
    "Link and try that."
)
_STORE_TROUBLE = "Nothing was added: the bot's database has a problem. Its operator is told how."
_HANDED_OVER = (
    "This takes longer than Discord lets me answer. It goes on; `/knowledge list` shows the "
    "document once it is there."
)


async def file_of(attachment: discord.Attachment) -> File:
    """The file of a command's option. Raises KnowledgeRefused."""
    if attachment.size > LARGEST_FILE:
        raise KnowledgeRefused(
            f"That file has {attachment.size / 1024 / 1024:.1f} MiB; at most "
            f"{LARGEST_FILE // 1024 // 1024} MiB are read. Split it, or save it as text."
        )
    try:
        data = await attachment.read()
    except (discord.HTTPException, *NETWORK_ERRORS) as error:
        raise KnowledgeRefused("Discord did not hand out the file. Try again.") from error
    return File(name=attachment.filename, content_type=attachment.content_type or "", data=data)


async def linked(guild: discord.Guild, member: discord.Member, link: str) -> discord.Message:
    """The message that a link leads to, as far as `member` may read it. Raises
    KnowledgeRefused."""
    found = _JUMP.fullmatch(link.strip())
    if found is None or int(found[1]) != guild.id:
        raise KnowledgeRefused(_UNREADABLE)
    channel_id, message_id = int(found[2]), int(found[3])
    channel = guild.get_channel_or_thread(channel_id)
    try:
        if channel is None:  # an archived thread, perhaps
            fetched = await guild.fetch_channel(channel_id)
            channel = fetched if isinstance(fetched, discord.Thread) else None
        if not isinstance(channel, discord.abc.Messageable) or not await may_read(member, channel):
            raise KnowledgeRefused(_UNREADABLE)
        return await channel.fetch_message(message_id)
    except (discord.DiscordException, *NETWORK_ERRORS) as error:
        raise KnowledgeRefused(_UNREADABLE) from error


async def written(
    message: discord.Message, member: discord.Member, me: discord.abc.User
) -> Written:
    """A message as a document. Raises KnowledgeRefused where `member` may not read it."""
    if not isinstance(message.channel, GuildPlace) or not await may_read(member, message.channel):
        raise KnowledgeRefused(_UNREADABLE)
    author = member_of(message.author)
    day = f"{message.created_at:%Y-%m-%d}"
    return Written(
        name=f"{author.name} in #{message.channel.name}, {day}",
        text=message_in_words(message, me),
        url=message.jump_url,
        author_id=author.id,
    )


class Adding:
    """Runs what adds documents, and tells the admin how far each is.

    `every` and `hand_over` are in seconds.
    """

    def __init__(
        self, admin: KnowledgeAdmin, *, every: float = EVERY, hand_over: float = HAND_OVER
    ) -> None:
        self._admin = admin
        self._every = every
        self._hand_over = hand_over
        self._running: set[asyncio.Task[str]] = set()

    async def add(self, interaction: discord.Interaction, context: Context, keep: Keep) -> None:
        """Run `keep`, and tell in the answer to `interaction`, which was deferred, what becomes of
        it."""
        stored, total = 0, 0

        def progress(done: int, of: int) -> None:
            nonlocal stored, total
            stored, total = done, of

        locale = interaction.locale
        task = asyncio.create_task(self._outcome(context, keep, progress, locale))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        clock = asyncio.get_running_loop().time
        until, told = clock() + self._hand_over, ""
        while not (await asyncio.wait({task}, timeout=self._every))[0]:
            words = _far(stored, total, locale)
            if clock() >= until:
                await _tell(interaction, retold(locale, _HANDED_OVER))
                return
            if words != told:
                told = words
                await _tell(interaction, words)
        await _tell(interaction, task.result())

    async def close(self) -> None:
        """Give up what is under way; of that nothing is kept."""
        for task in self._running:
            task.cancel()
        if self._running:
            await asyncio.wait(self._running)

    async def _outcome(
        self, context: Context, keep: Keep, progress: Progress, locale: Speaks
    ) -> str:
        try:
            document = await keep(progress)
            nearly = await self._admin.nearly_full(context.guild_id)
        except KnowledgeRefused as error:
            return retold(locale, str(error))
        except StoreError as error:
            log.error("A document was not added: %s", error)
            return retold(locale, _STORE_TROUBLE)
        except Exception:
            log.exception("A document could not be added.")
            return retold(locale, BROKEN)
        said = tr(
            locale,
            "{document} is in {context} now: {characters} in {pieces}.",
            document=quoted(document.name, locale),
            context=quoted(context.name, locale),
            characters=characters_in_words(document.characters, locale),
            pieces=pieces_in_words(document.chunks, locale),
        )
        return f"{said} {retold(locale, nearly)}".strip()


def _far(stored: int, total: int, locale: Speaks) -> str:
    """How far it is."""
    if not total:
        return tr(locale, "Reading it.")
    return tr(
        locale,
        "Storing: {stored} of {total} pieces.",
        stored=number(locale, stored),
        total=number(locale, total),
    )


async def _tell(interaction: discord.Interaction, words: str) -> None:
    try:
        await interaction.edit_original_response(content=words, view=None)
    except (discord.HTTPException, *NETWORK_ERRORS) as error:
        log.warning("An account of what was added could not be shown: %s", error)
