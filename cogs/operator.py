"""Lets the bot's operator decide which servers their endpoint serves.

Invariant: only the application's owner or team decides, and on what stands at that moment: a
button carries the state that it was drawn for and does nothing when that is outdated. A server
is asked about once.
"""

import asyncio
import logging
import re
from typing import cast

import discord
from discord import ui
from discord.ext import commands

from chat.admission import Admission, Decision
from cogs.aside import NETWORK_ERRORS
from cogs.controls import component_of
from cogs.sending import send_once
from cogs.translations.saying import Speaks, retold, tr
from cogs.tree import BROKEN, answer_privately
from data.approvals import Approval, ApprovalState
from data.errors import StoreError

log = logging.getLogger(__name__)

_CUSTOM_ID = re.compile(r"approval:(\d{1,20}):(pending|approved|denied):(approved|denied)")
_LABELS: dict[Decision, str] = {"approved": "Allow", "denied": "Deny"}
_STYLES: dict[Decision, discord.ButtonStyle] = {
    "approved": discord.ButtonStyle.success,
    "denied": discord.ButtonStyle.danger,
}

NOT_OPERATOR = "Only the bot's operator decides this."


def operators_of(application: discord.AppInfo) -> frozenset[int]:
    """Ids of those who run the application: its owner, or its team without read-only members."""
    team = application.team
    if team is None:
        return frozenset({application.owner.id})
    return frozenset(
        member.id
        for member in team.members
        if member.membership_state is discord.TeamMembershipState.accepted
        and member.role is not discord.TeamMemberRole.read_only
    )


class Operator(commands.Cog):
    """Asks the operator about servers, and takes the answers."""

    def __init__(self, bot: commands.AutoShardedBot, admission: Admission) -> None:
        self._bot = bot
        self._admission = admission
        self._meeting = asyncio.Lock()

    @commands.Cog.listener()
    async def on_ready(self) -> None:
        """Look at servers that the bot was invited to while it was away."""
        for guild in self._bot.guilds:
            await self._meet(guild)

    @commands.Cog.listener()
    async def on_guild_join(self, guild: discord.Guild) -> None:
        """Look at a server that the bot was just invited to."""
        await self._meet(guild)

    @commands.Cog.listener()
    async def on_guild_available(self, guild: discord.Guild) -> None:
        """Look at a server of which nothing was known while it was out of order."""
        await self._meet(guild)

    @commands.Cog.listener()
    async def on_interaction(self, interaction: discord.Interaction) -> None:
        """Take an answer, also to a question from before a restart."""
        component = component_of(interaction)
        found = component and _CUSTOM_ID.fullmatch(component.custom_id)
        if found is None:
            return
        if interaction.user.id not in self._admission.operators:
            await answer_privately(interaction, NOT_OPERATOR)
            return
        guild_id = int(found[1])
        seen, decision = cast("ApprovalState", found[2]), cast("Decision", found[3])
        try:
            await interaction.response.defer()
            done = await self._admission.decide(
                guild_id, decision, by=interaction.user.id, seen=seen
            )
            await self._redraw(interaction, guild_id, outdated=not done)
        except Exception:
            log.exception("An answer about a server could not be taken.")
            await answer_privately(interaction, BROKEN)

    async def judge(self, guild: discord.Guild) -> Approval | None:
        """Where the approval of a server stands, after the rules; None where the settings approve
        it. Raises StoreError."""
        alone = len(self._bot.guilds) == 1
        return await self._admission.judge(guild.id, owner_id=guild.owner_id, alone=alone)

    async def _meet(self, guild: discord.Guild) -> None:
        if guild.unavailable:
            return
        # One at a time: a new session and an invitation may announce the same server.
        async with self._meeting:
            try:
                approval = await self.judge(guild)
                if approval is None or approval.state != "pending" or approval.told:
                    return
                if await self._ask(guild):
                    await self._admission.mark_told(guild.id)
            except StoreError as error:
                log.error("A server was not looked at: %s", error)

    async def _ask(self, guild: discord.Guild) -> bool:
        """Ask every operator; False if none could be reached."""
        # Discord tells nobody's language before they use something; the server's is a guess.
        reached, locale = False, guild.preferred_locale
        for user_id in self._admission.operators:
            try:
                user = self._bot.get_user(user_id) or await self._bot.fetch_user(user_id)
                await send_once(
                    user,
                    tr(
                        locale,
                        "I was invited to {server}. May that server use your endpoint? Until you "
                        "answer, I only tell its members that I wait for you; its admins can bring "
                        "an endpoint of their own with `/config setup`.",
                        server=_named(guild, guild.id, locale),
                    ),
                    view=_buttons(guild.id, "pending", locale),
                )
                reached = True
            except (discord.HTTPException, *NETWORK_ERRORS) as error:
                log.info("An operator takes no direct message: %s", error)
        if not reached:
            log.warning(
                "Server %s waits for your approval, and no direct message reaches you. Allow "
                "direct messages from a server that you share with the bot and start it again, or "
                "add the server to VERBATIM_APPROVED_GUILDS.",
                guild.id,
            )
        return reached

    async def _redraw(
        self, interaction: discord.Interaction, guild_id: int, *, outdated: bool
    ) -> None:
        """Show what stands now, with a button for changing one's mind."""
        approval = await self._admission.approval(guild_id)
        guild, locale = self._bot.get_guild(guild_id), interaction.locale
        server = _named(guild, guild_id, locale)
        if approval is None:
            gone = tr(locale, "Nothing is known of {server} any more.", server=server)
            await interaction.edit_original_response(content=gone, view=None)
            return
        lines = [_stands(approval, server, locale)]
        if guild is None:
            lines.append(tr(locale, "I am not there any more."))
        if outdated:
            lines.append(tr(locale, "This had changed before you pressed; nothing was done."))
        await interaction.edit_original_response(
            content=" ".join(lines), view=_buttons(guild_id, approval.state, locale)
        )


def _named(guild: discord.Guild | None, guild_id: int, locale: Speaks) -> str:
    if guild is None:
        return tr(locale, "the server `{id}`", id=guild_id)
    name = discord.utils.escape_markdown(guild.name)
    owner = f"<@{guild.owner_id}>"
    return tr(locale, "**{name}** (`{id}`, owned by {owner})", name=name, id=guild_id, owner=owner)


def _stands(approval: Approval, server: str, locale: Speaks) -> str:
    if approval.state == "pending":
        return tr(locale, "{server} waits for your answer.", server=server)
    stands = (
        tr(locale, "{server} may use your endpoint.", server=server)
        if approval.state == "approved"
        else tr(locale, "{server} may not use your endpoint.", server=server)
    )
    if not approval.decided_by:
        return stands
    by = tr(locale, "{member} decided that.", member=f"<@{approval.decided_by}>")
    return f"{stands} {by}"


def _buttons(guild_id: int, seen: ApprovalState, locale: Speaks) -> ui.View:
    """The decisions that are left. Not kept in memory: `Operator.on_interaction` serves them."""
    view = ui.View(timeout=None)
    for decision, label in _LABELS.items():
        if decision != seen:
            view.add_item(
                ui.Button(
                    label=retold(locale, label),
                    style=_STYLES[decision],
                    custom_id=f"approval:{guild_id}:{seen}:{decision}",
                )
            )
    view.stop()
    return view
