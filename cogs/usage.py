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
from cogs.sending import SUBTEXT
from cogs.translations.figures import number, percent
from cogs.translations.saying import Speaks, retold, tr
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
_NO_SERVER = "There is no server here. Leave `of` out."


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
            refusal = NOT_ALLOWED if guild else _NO_SERVER
            await answer_privately(interaction, refusal)
            return
        await interaction.response.defer(ephemeral=True, thinking=True)
        whose, title = {
            "me": (Whose(guild_id=guild, member_id=user.id), "Your use here"),
            "server": (Whose(guild_id=guild), "Use of this server"),
            "everywhere": (Whose(), "Use everywhere"),
        }[of]
        report = await self._ledger.report(whose, period)
        locale = interaction.locale
        title = f"{retold(locale, title)}, {retold(locale, _SPANS[period])}"
        picture = await asyncio.to_thread(
            usage_chart, report.days, title=title, theme=theme, locale=locale
        )
        await interaction.edit_original_response(
            content=usage_text(report, title, locale),
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


def usage_text(report: Report, title: str, locale: Speaks) -> str:
    """The numbers of a report."""
    total = report.total
    if not (total.turns or total.requests):
        return f"**{title}**\n{tr(locale, 'Nothing was used.')}"
    lines = [
        f"**{title}**",
        tr(
            locale,
            "answers: {turns}, requests: {requests}, calls of tools: {calls}",
            turns=number(locale, total.turns),
            requests=number(locale, total.requests),
            calls=number(locale, total.tool_calls),
        ),
        tr(
            locale,
            "{read} tokens read, {share} of them cached; {written} written",
            read=number(locale, total.prompt_tokens),
            share=percent(locale, total.cached_tokens / max(total.prompt_tokens, 1)),
            written=number(locale, total.completion_tokens),
        ),
        tr(
            locale,
            "{first} s to the first token, {whole} s for an answer, on average",
            first=number(locale, total.first_token_ms / 1000 / max(total.first_tokens, 1), 1),
            whole=number(locale, total.total_ms / 1000 / max(total.turns, 1), 1),
        ),
    ]
    if total.cost_micros:
        money = number(locale, total.cost_micros / 1_000_000, 4)
        lines.append(tr(locale, "{money} in money", money=money))
    if total.estimated:
        untold = tr(
            locale,
            "Requests whose tokens the endpoint did not report: {number}. Those are estimated.",
            number=number(locale, total.estimated),
        )
        lines.append(SUBTEXT + untold)
    lines += [
        tr(
            locale,
            "`{model}` {turns} answers, {tokens} tokens",
            model=name,
            turns=number(locale, amount.turns),
            tokens=number(locale, amount.tokens),
        )
        for name, amount in report.models[:_SHOWN_MODELS]
    ]
    return clipped("\n".join(lines), 2000)
