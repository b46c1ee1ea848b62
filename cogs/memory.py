"""/memory: the facts that a member has had remembered about themselves.

Invariant: a member sees and changes their own facts alone, those of the place where they ask, and
nobody else sees the answer.
"""

import discord
from discord import app_commands
from discord.ext import commands

from cogs.forms import clipped
from cogs.quoting import code
from cogs.translations.saying import retold, tr, tr_count
from cogs.tree import say_privately
from data.facts import MAX_CHARS, FactLimit, Facts

_MOST_CHOICES = 25
_LONGEST_CHOICE = 100


class Memory(commands.Cog):
    """The /memory family."""

    memory = app_commands.Group(name="memory", description="What I remember about you here")

    def __init__(self, facts: Facts) -> None:
        self._facts = facts

    @memory.command(name="list", description="What I remember about you here")
    async def list_facts(self, interaction: discord.Interaction) -> None:
        """List the member's facts, the newest first."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        facts = await self._facts.recall(*_whose(interaction), None)
        locale = interaction.locale
        if not facts:
            nothing = tr(
                locale, "I remember nothing about you here. `/memory add` changes that, or tell me."
            )
            await interaction.followup.send(nothing, ephemeral=True)
            return
        head = tr_count(
            locale, "I remember {count} fact about you:", "I remember {count} facts about you:",
            count=len(facts),
        )  # fmt: skip
        lines = [head, *(f"- {code(fact.text, MAX_CHARS)}" for fact in facts)]
        await say_privately(interaction, "\n".join(lines))

    @memory.command(name="add", description="Have me remember something about you")
    @app_commands.describe(fact="One sentence")
    async def add(
        self, interaction: discord.Interaction, fact: app_commands.Range[str, 1, MAX_CHARS]
    ) -> None:
        """Keep a fact."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        try:
            kept = await self._facts.remember(*_whose(interaction), fact)
        except FactLimit as error:
            content = retold(interaction.locale, str(error))
        else:
            content = tr(interaction.locale, "Remembered: {fact}", fact=code(kept.text, MAX_CHARS))
        await interaction.followup.send(content, ephemeral=True)

    @memory.command(name="forget", description="Have me forget something about you")
    @app_commands.describe(fact="Choose one of those that I remember")
    async def forget(self, interaction: discord.Interaction, fact: str) -> None:
        """Remove a fact, named by its number or by its words."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        whose = _whose(interaction)
        number = int(fact) if fact.isascii() and fact.isdecimal() else 0
        if not number:
            exact = [known.id for known in await self._facts.recall(*whose, None)
                     if known.text.casefold() == fact.strip().casefold()]  # fmt: skip
            number = exact[0] if exact else 0
        gone = await self._facts.forget(*whose, number)
        content = (
            tr(interaction.locale, "There is no such fact. `/memory list` shows what there is.")
            if gone is None
            else tr(interaction.locale, "Forgotten: {fact}", fact=code(gone.text, MAX_CHARS))
        )
        await interaction.followup.send(content, ephemeral=True)

    @forget.autocomplete("fact")
    async def _suggest(
        self, interaction: discord.Interaction, current: str
    ) -> list[app_commands.Choice[str]]:
        facts = await self._facts.recall(*_whose(interaction), current)
        return [
            app_commands.Choice(name=clipped(fact.text, _LONGEST_CHOICE), value=str(fact.id))
            for fact in facts[:_MOST_CHOICES]
        ]


def _whose(interaction: discord.Interaction) -> tuple[int, int]:
    """Guild (0: direct messages) and member that facts belong to."""
    return interaction.guild_id or 0, interaction.user.id
