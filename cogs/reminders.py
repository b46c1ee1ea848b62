"""Tells members what they wanted to be reminded of, and lets them see and cancel it.

Invariant: a reminder goes where it was asked for, pings its member and nobody else; where that
place is gone, closed to the bot, or no longer theirs to read, it goes to them alone. A send that
may have arrived carries the nonce of before and is looked for first.
"""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from zoneinfo import ZoneInfo, available_timezones

import discord
from discord import app_commands
from discord.ext import commands

from chat.admission import Admission
from chat.moderation import ModerationSettings
from chat.reminding import Reminding, Told
from cogs.aside import NETWORK_ERRORS
from cogs.choices import choices
from cogs.permissions import lacking_to_speak, within
from cogs.quoting import code, subtext
from cogs.rights import may_read
from cogs.splitting import split
from cogs.translations.saying import Speaks, tr, tr_count
from cogs.tree import answer_privately
from data.reminders import MAX_CHARS, Reminder
from tools.builtin.reminders import zone_named

log = logging.getLogger(__name__)

_MOST_SUGGESTIONS = 25
_LOOKED_AT = 50
"""Messages in which a reminder is looked for that may have been sent already."""

_Place = discord.TextChannel | discord.VoiceChannel | discord.StageChannel | discord.Thread


class Reminders(commands.Cog):
    """The /reminders family, and chat.reminding.ReminderSink."""

    reminders = app_commands.Group(
        name="reminders", description="What you wanted to be reminded of here"
    )

    def __init__(
        self,
        bot: commands.AutoShardedBot,
        reminding: Reminding,
        admission: Admission,
        moderation: ModerationSettings,
    ) -> None:
        self._bot = bot
        self._reminding = reminding
        self._kept = reminding.reminders
        self._admission = admission
        self._moderation = moderation
        self._zones: list[str] = []
        self._sending: asyncio.Task[None] | None = None

    async def cog_load(self) -> None:
        """Begin to send what is due, as soon as the servers are known."""
        self._sending = asyncio.create_task(self._send())

    async def cog_unload(self) -> None:
        """Stop. What was being sent is looked for at the next start."""
        if self._sending is not None:
            self._sending.cancel()
            await asyncio.wait([self._sending])

    async def tell(self, reminder: Reminder, *, late: timedelta | None) -> Told:
        """See chat.reminding.ReminderSink."""
        try:
            # Words may have been listed since it was set.
            screen = (await self._moderation.of(reminder.guild_id)).screen
            reminder = replace(reminder, text=screen.masked(reminder.text))
            guild = self._bot.get_guild(reminder.guild_id)
            if guild is not None and guild.unavailable:
                return "later"
            if guild is not None:
                try:
                    member = await guild.fetch_member(reminder.member_id)
                except discord.NotFound:
                    return "gone"  # what was said on a server is not for who has left it
                place = await self._place(guild, member, reminder)
                if place is not None and await self._send_to(place, reminder, late):
                    return "told"
            user = await self._bot.fetch_user(reminder.member_id)
            return "told" if await self._send_to(await user.create_dm(), reminder, late) else "gone"
        except discord.NotFound:
            return "gone"
        except (discord.HTTPException, *NETWORK_ERRORS) as error:
            log.info("Reminder %d is sent later: %s", reminder.id, error)
            return "later"

    @reminders.command(name="list", description="Your reminders here, for you alone")
    async def list_reminders(self, interaction: discord.Interaction) -> None:
        """Show the member's reminders and time zone."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        guild_id, member_id = interaction.guild_id or 0, interaction.user.id
        zone = await self._kept.zone(guild_id, member_id)
        lines = [
            f"{kept.id}. {discord.utils.format_dt(kept.due, 'F')} in <#{kept.channel_id}>: "
            f"{code(kept.text, MAX_CHARS)}"
            for kept in await self._kept.of_member(guild_id, member_id)
        ]
        locale = interaction.locale
        lines = lines or [tr(locale, "You have no reminders here.")]
        lines.append(
            tr(
                locale,
                "I read times that you say in {zone}. `/reminders timezone` changes that.",
                zone=code(zone or "UTC"),
            )
        )
        for content in split("\n".join(lines)):
            await interaction.followup.send(content, ephemeral=True)

    @reminders.command(name="cancel", description="Cancel one of your reminders")
    @app_commands.describe(number="Its number, as /reminders list shows it")
    async def cancel(self, interaction: discord.Interaction, number: int) -> None:
        """Remove a reminder of the member's own."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        gone = await self._kept.cancel(interaction.guild_id or 0, interaction.user.id, number)
        if gone is None:
            line = tr(
                interaction.locale,
                "You have no reminder {number} here. `/reminders list` shows them.",
                number=number,
            )
        else:
            self._reminding.changed()
            line = tr(interaction.locale, "Cancelled: {text}", text=code(gone.text, MAX_CHARS))
        await answer_privately(interaction, line)

    @cancel.autocomplete("number")
    async def _numbers(
        self, interaction: discord.Interaction, current: int | str
    ) -> list[app_commands.Choice[int]]:
        kept = await self._kept.of_member(interaction.guild_id or 0, interaction.user.id)
        found = [each for each in kept if str(current) in f"{each.id} {each.text}"]
        return [
            app_commands.Choice(name=f"{each.id}: {each.text}"[:100], value=each.id)
            for each in found[:_MOST_SUGGESTIONS]
        ]

    @reminders.command(name="timezone", description="The time zone in which you say times here")
    @app_commands.describe(zone="A city's name, such as Europe/Oslo")
    async def timezone(self, interaction: discord.Interaction, zone: str) -> None:
        """Keep the member's time zone."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        found = zone_named(zone.strip()) or await self._of_city(zone)
        if found is None:
            line = tr(
                interaction.locale,
                "There is no time zone {zone}. Choose one of those suggested as you type.",
                zone=code(zone),
            )
        else:
            await self._kept.choose_zone(interaction.guild_id or 0, interaction.user.id, found.key)
            now = discord.utils.utcnow().astimezone(found)
            line = tr(
                interaction.locale,
                "Saved: {zone}, where it is {time} now. Reminders that are set already stay at "
                "their moment.",
                zone=code(found.key),
                time=f"{now:%H:%M}",
            )
        await answer_privately(interaction, line)

    @timezone.autocomplete("zone")
    async def _zone_names(
        self, interaction: discord.Interaction, current: str
    ) -> list[app_commands.Choice[str]]:
        return choices(await self._all_zones(), _as_in_zones(current))

    async def _of_city(self, city: str) -> ZoneInfo | None:
        """The zone of a city that was typed and not chosen, if one alone is called so."""
        end = f"/{_as_in_zones(city)}"
        found = [name for name in await self._all_zones() if name.lower().endswith(end)]
        return zone_named(found[0]) if len(found) == 1 else None

    async def _all_zones(self) -> Sequence[str]:
        if not self._zones:
            self._zones = sorted(await asyncio.to_thread(available_timezones))
        return self._zones

    async def _send(self) -> None:
        await self._bot.wait_until_ready()
        try:
            await self._reminding.run(self)
        except Exception:
            log.exception("Reminders are not sent until the bot is started again.")

    async def _place(
        self, guild: discord.Guild, member: discord.Member, reminder: Reminder
    ) -> _Place | None:
        """Where it was asked for, if the bot may speak and the member may read there still."""
        channel = guild.get_channel_or_thread(reminder.channel_id)
        if channel is None:  # archived threads are not in memory
            try:
                channel = await guild.fetch_channel(reminder.channel_id)
            except (discord.NotFound, discord.Forbidden, discord.InvalidData):
                return None
        if not isinstance(channel, _Place) or lacking_to_speak(channel):
            return None
        takes = await self._admission.takes_channel(guild.id, within(channel))
        return channel if takes and await may_read(member, channel) else None

    async def _send_to(
        self, place: _Place | discord.DMChannel, reminder: Reminder, late: timedelta | None
    ) -> bool:
        """Whether the reminder stands there now. Sending into an archived thread opens it."""
        locale = None if place.guild is None else place.guild.preferred_locale
        words = _words(locale, reminder)
        if reminder.attempts > 1 and await self._stands_in(place, reminder, words):
            return True
        if place.guild is not None:
            words = f"<@{reminder.member_id}> {words}"
        if late is not None:
            words += "\n" + subtext(_lateness(locale, late))
        try:
            await place.send(
                words,
                nonce=f"reminder-{reminder.id}",
                allowed_mentions=discord.AllowedMentions(
                    everyone=False, roles=False, users=[discord.Object(reminder.member_id)]
                ),
            )
        except discord.HTTPException as error:
            if error.status == 429 or error.status >= 500:
                raise
            log.info("Reminder %d cannot be told in %d: %s", reminder.id, place.id, error.code)
            return False
        return True

    async def _stands_in(
        self, place: _Place | discord.DMChannel, reminder: Reminder, words: str
    ) -> bool:
        since = discord.Object(discord.utils.time_snowflake(reminder.due))
        me = self._bot.user
        try:
            async for message in place.history(limit=_LOOKED_AT, after=since):
                first, _, _ = message.content.partition("\n")
                if (
                    message.author == me
                    and first.removeprefix(f"<@{reminder.member_id}> ") == words
                ):
                    return True
        except discord.Forbidden:
            pass
        return False


def _as_in_zones(typed: str) -> str:
    return typed.strip().replace(" ", "_").lower()


def _words(locale: Speaks, reminder: Reminder) -> str:
    """What is told; alone, and so without a locale, also where it comes from."""
    if locale is None and reminder.guild_id:
        return tr(
            locale,
            "Reminder from {channel}: {text}",
            channel=f"<#{reminder.channel_id}>",
            text=reminder.text,
        )
    return tr(locale, "Reminder: {text}", text=reminder.text)


def _lateness(locale: Speaks, late: timedelta) -> str:
    """How late it is, in the largest unit."""
    minutes = round(late.total_seconds() / 60)
    if minutes >= 24 * 60:
        span = tr_count(locale, "{count} day", "{count} days", round(minutes / 24 / 60))
    elif minutes >= 60:
        span = tr_count(locale, "{count} hour", "{count} hours", round(minutes / 60))
    else:
        span = tr_count(locale, "{count} minute", "{count} minutes", minutes)
    return tr(locale, "{span} late: I could not send it when it was due.", span=span)
