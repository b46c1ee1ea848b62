"""The controls of /knowledge: a yes before a context is deleted, and the choice of a context.

Invariant: they are shown to one member alone, who needs Manage Server when they are used, and are
gone once they were. What stands in their place then says how it ended, also where it failed.
"""

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import discord
from discord import ui

from chat.knowledge_admin import KnowledgeAdmin, KnowledgeRefused
from cogs.knowledge_words import quoted
from cogs.translations.saying import Speaks, retold, tr
from cogs.tree import BROKEN, NOT_ALLOWED, answer_privately
from data.errors import StoreError
from data.knowledge import Context

log = logging.getLogger(__name__)

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

    async def on_error(
        self, interaction: discord.Interaction, error: Exception, item: ui.Item[Any], /
    ) -> None:
        """Log what is not the admin's doing, and say that it did not work where it was begun."""
        log.error("A control of /knowledge failed.", exc_info=error)
        if interaction.response.is_done():
            said = retold(interaction.locale, BROKEN)
            await interaction.edit_original_response(content=said, view=None)
        else:
            await answer_privately(interaction, BROKEN)


class Deletion(_Managed):
    """Delete, or keep, a context."""

    def __init__(self, admin: KnowledgeAdmin, context: Context, locale: Speaks) -> None:
        super().__init__()
        self._admin = admin
        self._context = context
        delete: ui.Button[Deletion] = ui.Button(
            label=tr(locale, "Delete"), style=discord.ButtonStyle.danger
        )
        delete.callback = self._delete
        keep: ui.Button[Deletion] = ui.Button(label=tr(locale, "Keep"))
        keep.callback = self._keep
        self.add_item(delete)
        self.add_item(keep)

    async def _delete(self, interaction: discord.Interaction) -> None:
        """Delete it."""
        self.stop()
        locale = interaction.locale
        await interaction.response.edit_message(content=tr(locale, "Deleting it."), view=None)
        try:
            await self._admin.delete(self._context.guild_id, self._context.name)
        except KnowledgeRefused as error:
            said = retold(locale, str(error))
        except StoreError as error:
            log.error("A context was not deleted: %s", error)
            said = tr(
                locale,
                "The bot's database has a problem, so {context} may not be deleted wholly yet. "
                "Its operator is told how; `/knowledge list` shows what is left.",
                context=quoted(self._context.name, locale),
            )
        else:
            said = tr(
                locale,
                "{context} is deleted, with every trace of its documents.",
                context=quoted(self._context.name, locale),
            )
        await interaction.edit_original_response(content=said)

    async def _keep(self, interaction: discord.Interaction) -> None:
        """Leave it as it is."""
        self.stop()
        locale = interaction.locale
        said = tr(locale, "{context} stays.", context=quoted(self._context.name, locale))
        await interaction.response.edit_message(content=said, view=None)


class ContextChoice(_Managed):
    """Choose one of at most 25 contexts; `chosen` gets its name."""

    def __init__(
        self,
        names: Sequence[str],
        chosen: Callable[[discord.Interaction, str], Awaitable[None]],
        locale: Speaks,
    ) -> None:
        super().__init__()
        self._chosen = chosen
        self._select: ui.Select[ContextChoice] = ui.Select(
            custom_id="context",
            placeholder=tr(locale, "A context"),
            options=[
                discord.SelectOption(label=name[:_LONGEST_CHOICE], value=name) for name in names
            ],
        )
        self._select.callback = self._pick
        self.add_item(self._select)

    async def _pick(self, interaction: discord.Interaction) -> None:
        self.stop()
        name = self._select.values[0]
        reading = tr(interaction.locale, "Reading it.")
        await interaction.response.edit_message(content=reading, view=None)
        await self._chosen(interaction, name)
