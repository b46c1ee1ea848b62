"""/usage: what was used, in numbers and as a picture.

Invariant: members see their own use here, those with Manage Server all of the server's, and the
bot's operator everything; the answer is for whoever asks alone.
"""

import asyncio
import io
from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

import discord
from discord import app_commands
from discord.ext import commands

from chat.desk import Desk
from chat.usage import Period, Report, UsageLedger
from cogs.answering import AnsweringPanel
from cogs.chart import Theme, usage_chart
from cogs.forms import clipped
from cogs.limits import LimitCommands
from cogs.operator import NOT_OPERATOR
from cogs.tree import NOT_ALLOWED, answer_privately
from data.usage import Whose

_Of: TypeAlias = Literal["me", "server", "everywhere"]

_SPANS: dict[Period, str] = {
    "day": "today (UTC)",
    "week": "the last 7 days",
    "month": "the last 30 days",
    "year": "the last 365 days",
}
_SHOWN_MODELS = 5


class Usage(commands.Cog):
    """The /usage command. `is_operator` tells who runs the bot."""

    def __init__(self, ledger: UsageLedger, *, is_operator: Callable[[int], bool]) -> None:
        self._ledger = ledger
        self._is_operator = is_operator

    @app_commands.command(
        name="usage", description="What was used: tokens, time and calls of tools"
    )
    @app_commands.describe(
        of="Your own use here; this server's, for its admins; or all, for the bot's operator",
        period="Today, or the last 7, 30 or 365 days",
        theme="The background of the picture",
    )
    async def usage(
        self,
        interaction: discord.Interaction,
        of: _Of = "me",
        period: Period = "month",
        theme: Theme = "dark",
    ) -> None:
        """Show it, if it may be seen."""
        guild = interaction.guild_id or 0
        user = interaction.user
        if of == "everywhere" and not self._is_operator(user.id):
            await answer_privately(interaction, NOT_OPERATOR)
            return
        if of == "server" and not (guild and interaction.permissions.manage_guild):
            refusal = NOT_ALLOWED if guild else "There is no server here. Leave `of` out."
            await answer_privately(interaction, refusal)
            return
        await interaction.response.defer(ephemeral=True, thinking=True)
        whose, title = {
            "me": (Whose(guild_id=guild, member_id=user.id), "Your use here"),
            "server": (Whose(guild_id=guild), "Use of this server"),
            "everywhere": (Whose(), "Use everywhere"),
        }[of]
        report = await self._ledger.report(whose, period)
        title = f"{title}, {_SPANS[period]}"
        picture = await asyncio.to_thread(usage_chart, report.days, title=title, theme=theme)
        await interaction.edit_original_response(
            content=usage_text(report, title),
            attachments=[discord.File(io.BytesIO(picture), filename="usage.png")],
            allowed_mentions=discord.AllowedMentions.none(),
        )


def usage_cogs(
    desk: Desk, family: app_commands.Group, *, reads_all: bool
) -> Sequence[commands.Cog]:
    """The cogs that tell who is answered, how often and what that used; `family` is /config."""

    def is_operator(user_id: int) -> bool:
        return user_id in desk.admission.operators

    return (
        AnsweringPanel(desk.answering, family, reads_all=reads_all),
        LimitCommands(desk.quotas, desk.usage, family, is_operator=is_operator),
        Usage(desk.usage, is_operator=is_operator),
    )


def usage_text(report: Report, title: str) -> str:
    """The numbers of a report."""
    total = report.total
    if not (total.turns or total.requests):
        return f"**{title}**\nNothing was used."
    cached = total.cached_tokens / max(total.prompt_tokens, 1)
    first = total.first_token_ms / 1000 / max(total.first_tokens, 1)
    whole = total.total_ms / 1000 / max(total.turns, 1)
    lines = [
        f"**{title}**",
        f"{total.turns:,} answers, {total.requests:,} requests, "
        f"{total.tool_calls:,} calls of tools",
        f"{total.prompt_tokens:,} tokens read, {cached:.0%} of them cached; "
        f"{total.completion_tokens:,} written",
        f"{first:.1f} s to the first token, {whole:.1f} s for an answer, on average",
    ]
    if total.cost_micros:
        lines.append(f"{total.cost_micros / 1_000_000:,.4f} in money")
    if total.estimated:
        lines.append(
            f"-# The endpoint did not report the tokens of {total.estimated:,} requests; those are "
            "estimated."
        )
    lines += [
        f"`{name}` {amount.turns:,} answers, {amount.tokens:,} tokens"
        for name, amount in report.models[:_SHOWN_MODELS]
    ]
    return clipped("\n".join(lines), 2000)
