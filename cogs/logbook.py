"""Writes entries into the channel that a server has chosen as its log.

Invariant: an entry names who, where and what was decided, never a message's words or a setting's
text. Entries go out in bundles with a pause between; what is too much is counted, not kept. Where
the channel does not take them, the server's owner is told once.
"""

import asyncio
import logging
import re
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, TypeAlias

import discord
from discord import app_commands
from discord.ext import commands

from chat.moderation import Moderation, ModerationSettings, moderation_of
from cogs.acting import ACTING
from cogs.aside import NETWORK_ERRORS
from cogs.permissions import lacking_to_log
from cogs.quoting import code
from cogs.sending import send_once
from cogs.translations.saying import Speaks, retold, tr
from data.errors import StoreError
from data.guild_settings import GuildSettings
from prompt.values import Json

log = logging.getLogger(__name__)

Kind: TypeAlias = Literal["configuration", "approval", "refusal"]

PAUSE = 5.0
"""Seconds between two bundles of a server."""
BUNDLE = 10
"""Entries in one message, as many embeds as Discord takes."""
MOST_WAITING = 50

_TITLES: Mapping[Kind, str] = {
    "configuration": "Configuration",
    "approval": "Approval",
    "refusal": "Refusal",
}
_COLOURS: Mapping[Kind, int] = {
    "configuration": 0x5865F2,
    "approval": 0x57F287,
    "refusal": 0xFEE75C,
}
_LONGEST = 1000
_ROOM = 6000
"""Characters that Discord takes in all embeds of a message together."""
_MOST_NAMES = 15
_PLAIN = re.compile(r"[\w.+-]{1,40}")
"""A value that can be shown: a switch's word or number, no text of anybody."""
_LOOKS_ONLY = frozenset({"list", "search", "info", "test"})
_FAMILIES = frozenset({"knowledge", "mcp"})
_OTHERS = ("config setup", "config endpoints", "config images", "config search", "config import")
"""Commands, by family or each, that change what no setting holds."""

_Command: TypeAlias = "app_commands.Command[commands.Cog, ..., object] | app_commands.ContextMenu"
_Settings: TypeAlias = Mapping[str, Mapping[str, Json]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One line, in English, about something that happened at a time."""

    kind: Kind
    line: str
    at: datetime = field(default_factory=discord.utils.utcnow)


@dataclass(slots=True)
class _Page:
    """What waits to be written for one server."""

    waiting: deque[Entry] = field(default_factory=deque[Entry])
    dropped: int = 0
    writing: asyncio.Task[None] | None = None
    told: int | None = None
    """The channel that was found closed, of which the owner knows."""


class Logbook(commands.Cog):
    """The logs of all servers."""

    def __init__(
        self, bot: discord.Client, moderation: ModerationSettings, settings: GuildSettings
    ) -> None:
        self._bot = bot
        self._moderation = moderation
        self._settings = settings
        self._known: dict[int, _Settings] = {}
        self._pages: dict[int, _Page] = {}
        self._looking: set[asyncio.Task[Any]] = set()
        self._closed = False
        settings.watched_by(self._changed)

    async def cog_unload(self) -> None:
        """Write no more."""
        self._closed = True
        tasks = [page.writing for page in self._pages.values() if page.writing is not None]
        for task in (*tasks, *self._looking):
            task.cancel()
        if waiting := [*tasks, *self._looking]:
            await asyncio.wait(waiting)

    @commands.Cog.listener()
    async def on_ready(self) -> None:
        """Learn what is set on servers with a log, so that changes can be told."""
        try:
            for guild in self._bot.guilds:
                if guild.id not in self._known:
                    everything = await self._settings.everything(guild.id)
                    if _moderation_in(everything).log is not None:
                        self._known.setdefault(guild.id, everything)
        except StoreError as error:
            log.error("The logs of servers begin without what is set: %s", error)

    @commands.Cog.listener()
    async def on_guild_remove(self, guild: discord.Guild) -> None:
        """Forget a server that the bot has left."""
        self._known.pop(guild.id, None)
        page = self._pages.pop(guild.id, None)
        if page is not None and page.writing is not None:
            page.writing.cancel()

    @commands.Cog.listener()
    async def on_app_command_completion(
        self, interaction: discord.Interaction, command: _Command
    ) -> None:
        """Note commands that change what is no setting."""
        path = command.qualified_name
        family, _, own = path.partition(" ")
        changes = path in _OTHERS or (family in _FAMILIES and own and own not in _LOOKS_ONLY)
        if interaction.guild_id is not None and changes:
            line = f"<@{interaction.user.id}> used {code(f'/{path}')}."
            self.note(interaction.guild_id, Entry(kind="configuration", line=line))

    def note(self, guild_id: int | None, entry: Entry) -> None:
        """Write an entry soon, where the server keeps a log."""
        if guild_id is None or self._closed:
            return
        page = self._pages.setdefault(guild_id, _Page())
        if len(page.waiting) >= MOST_WAITING:
            page.dropped += 1
        else:
            page.waiting.append(entry)
        if page.writing is None or page.writing.done():
            page.writing = asyncio.create_task(self._write(guild_id, page))

    def _changed(self, guild_id: int) -> None:
        """A setting of a server has changed; told by the store, in the work of whoever acts."""
        if self._closed or not guild_id:
            return
        try:
            looking = asyncio.get_running_loop().create_task(self._compare(guild_id, ACTING.get()))
        except RuntimeError:
            return  # no loop: a command of the terminal
        self._looking.add(looking)
        looking.add_done_callback(self._looking.discard)

    async def _compare(self, guild_id: int, actor: int | None) -> None:
        try:
            now = await self._settings.everything(guild_id)
        except StoreError as error:
            log.error("A change of settings is not in a server's log: %s", error)
            return
        before = self._known.get(guild_id)
        if _moderation_in(now).log is None:
            # Where the log was on until now, its own end is the last entry.
            self._known.pop(guild_id, None)
            if before is not None:
                old = _moderation_in(before).log
                self._note_last(guild_id, old, actor)
            return
        self._known[guild_id] = now
        what = ["the log begins"] if before is None else list(_differences(before, now))
        if not what:
            return
        named = ", ".join([*what[:_MOST_NAMES], *(["…"] if len(what) > _MOST_NAMES else [])])
        line = f"<@{actor}> changed: {named}" if actor else f"Changed: {named}"
        self.note(guild_id, Entry(kind="configuration", line=line))

    def _note_last(self, guild_id: int, channel_id: int | None, actor: int | None) -> None:
        """Write in a channel that is the log no longer that it ends there."""
        guild = self._bot.get_guild(guild_id)
        channel = guild.get_channel(channel_id) if guild and channel_id else None
        if guild is None or not isinstance(channel, discord.abc.Messageable):
            return
        line = f"<@{actor}> ended the log." if actor else "The log ends."
        locale = guild.preferred_locale
        embed = _embed(Entry(kind="configuration", line=line), locale)
        ending = asyncio.create_task(self._send(channel, [embed], 0, locale))
        self._looking.add(ending)
        ending.add_done_callback(self._looking.discard)

    async def _write(self, guild_id: int, page: _Page) -> None:
        while page.waiting or page.dropped:
            guild = self._bot.get_guild(guild_id)
            try:
                channel_id = (await self._moderation.of(guild_id)).log
            except StoreError as error:
                log.error("Entries of a server's log are lost: %s", error)
                channel_id = None
            locale = None if guild is None else guild.preferred_locale
            embeds = _bundle(page.waiting, locale)
            dropped = 0 if page.waiting else page.dropped
            page.dropped -= dropped
            if guild is None or channel_id is None:
                page.waiting.clear()
                page.dropped = 0
                return
            channel = guild.get_channel_or_thread(channel_id)
            if isinstance(channel, discord.TextChannel | discord.Thread | discord.VoiceChannel):
                missing = lacking_to_log(channel)
                if not missing and await self._send(channel, embeds, dropped, locale):
                    page.told = None
                    await asyncio.sleep(PAUSE)
                    continue
            else:
                missing = ["View Channel"]
            await self._tell_owner(guild, page, channel_id, missing)
            await asyncio.sleep(PAUSE)

    async def _send(
        self,
        channel: discord.abc.Messageable,
        embeds: Sequence[discord.Embed],
        dropped: int,
        locale: Speaks,
    ) -> bool:
        """Whether Discord took it, or may take the next."""
        content = ""
        if dropped:
            content = tr(locale, "{count} more entries were left out.", count=dropped)
        try:
            await send_once(channel, content, embeds=embeds)
        except discord.Forbidden:
            return False
        except (discord.HTTPException, *NETWORK_ERRORS) as error:
            log.warning("Entries of a server's log were not written: %s", error)
        return True

    async def _tell_owner(
        self, guild: discord.Guild, page: _Page, channel_id: int, missing: Sequence[str]
    ) -> None:
        if page.told == channel_id or guild.owner_id is None:
            return
        page.told = channel_id
        locale = guild.preferred_locale
        line = tr(
            locale,
            "I cannot write the log of {name} into {channel}: I lack {permissions}. `/config "
            "moderation` chooses another channel.",
            name=guild.name,
            channel=f"<#{channel_id}>",
            permissions=", ".join(retold(locale, each) for each in missing or ["Send Messages"]),
        )
        try:
            owner = self._bot.get_user(guild.owner_id) or await self._bot.fetch_user(guild.owner_id)
            await send_once(owner, line)
        except (discord.HTTPException, *NETWORK_ERRORS) as error:
            log.warning("The log of a server takes no entries, and nobody was told: %s", error)


def _bundle(waiting: deque[Entry], locale: Speaks) -> list[discord.Embed]:
    """The next entries of those that wait, as many as Discord takes in one message."""
    embeds: list[discord.Embed] = []
    room = _ROOM
    while waiting and len(embeds) < BUNDLE:
        embed = _embed(waiting[0], locale)
        room -= len(embed)
        if room < 0:
            break
        embeds.append(embed)
        waiting.popleft()
    return embeds


def _embed(entry: Entry, locale: Speaks) -> discord.Embed:
    return discord.Embed(
        title=retold(locale, _TITLES[entry.kind]),
        description=retold(locale, entry.line)[:_LONGEST],
        colour=_COLOURS[entry.kind],
        timestamp=entry.at,
    )


def _moderation_in(everything: _Settings) -> Moderation:
    return moderation_of(everything.get("", {}))


def _differences(before: _Settings, now: _Settings) -> Sequence[str]:
    """What was set, changed or taken back, by name; of plain values what they are now."""
    told: list[str] = []
    for model in sorted({*before, *now}):
        old, new = before.get(model, {}), now.get(model, {})
        told += [
            _difference(model, name, new.get(name))
            for name in sorted({*old, *new})
            if old.get(name) != new.get(name)
        ]
    return told


def _difference(model: str, name: str, value: Json) -> str:
    what = f"`{name}`" + (f" (`{model[:60]}`)" if model else "")
    if value is None:
        return f"{what} = default"
    if isinstance(value, bool | int | float) or (
        isinstance(value, str) and model and _PLAIN.fullmatch(value)
    ):
        return f"{what} = `{value}`"
    return what
