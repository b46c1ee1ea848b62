"""The controls of /knowledge: a yes before a context is deleted, and the choice of a context.

Invariant: they are shown to one member alone, who needs Manage Server when they are used, and are
gone once they were.
"""

from collections.abc import Awaitable, Callable, Sequence

import discord
from discord import ui

from chat.knowledge_admin import KnowledgeAdmin, KnowledgeRefused
from cogs.knowledge_words import quoted
from cogs.tree import NOT_ALLOWED, answer_privately
from data.knowledge import Context

PATIENCE = 300.0
"""Seconds in which they are to be used."""

_LONGEST_CHOICE = 100


class _Managed(ui.View):
    """Controls for those who may manage the server."""

    def __init__(self) -> None:
        super().__init__(timeout=PATIENCE)

    async def interaction_check(self, interaction: discord.Interaction, /) -> bool:
        """Ask for the permission again: the message can stay open for long."""
        if interaction.permissions.manage_guild:
            return True
        await answer_privately(interaction, NOT_ALLOWED)
        return False


class Deletion(_Managed):
    """Delete, or keep, a context."""

    def __init__(self, admin: KnowledgeAdmin, context: Context) -> None:
        super().__init__()
        self._admin = admin
        self._context = context

    @ui.button(label="Delete", style=discord.ButtonStyle.danger)
    async def delete(self, interaction: discord.Interaction, _: ui.Button["Deletion"]) -> None:
        """Delete it."""
        self.stop()
        await interaction.response.edit_message(content="Deleting it.", view=None)
        try:
            await self._admin.delete(self._context.guild_id, self._context.name)
        except KnowledgeRefused as error:
            said = str(error)
        else:
            said = f"{quoted(self._context.name)} is deleted, with every trace of its documents."
        await interaction.edit_original_response(content=said)

    @ui.button(label="Keep", style=discord.ButtonStyle.secondary)
    async def keep(self, interaction: discord.Interaction, _: ui.Button["Deletion"]) -> None:
        """Leave it as it is."""
        self.stop()
        said = f"{quoted(self._context.name)} stays."
        await interaction.response.edit_message(content=said, view=None)


class ContextChoice(_Managed):
    """Choose one of at most 25 contexts; `chosen` gets its name."""

    def __init__(
        self,
        names: Sequence[str],
        chosen: Callable[[discord.Interaction, str], Awaitable[None]],
    ) -> None:
        super().__init__()
        self._chosen = chosen
        self._select: ui.Select[ContextChoice] = ui.Select(
            custom_id="context",
            placeholder="A context",
            options=[
                discord.SelectOption(label=name[:_LONGEST_CHOICE], value=name) for name in names
            ],
        )
        self._select.callback = self._pick
        self.add_item(self._select)

    async def _pick(self, interaction: discord.Interaction) -> None:
        self.stop()
        name = self._select.values[0]
        await interaction.response.edit_message(content="Reading it.", view=None)
        await self._chosen(interaction, name)
