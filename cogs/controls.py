"""Reads which control of a message was used, and whether whoever used it may change the server.

Invariant: what a control says of itself is read here alone, and Manage Server is asked for at that
moment, however old the message is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import discord

from cogs.acting import ACTING
from cogs.tree import NOT_ALLOWED, answer_privately

if TYPE_CHECKING:
    # Circular at run time: discord.py itself imports it for type checkers alone.
    from discord.types.interactions import MessageComponentInteractionData

MOST_CHOICES = 25
"""In one menu."""

CHOOSABLE = [
    discord.ChannelType.text,
    discord.ChannelType.news,
    discord.ChannelType.voice,
    discord.ChannelType.forum,
    discord.ChannelType.category,
]
"""Channels that a menu of places to talk in offers; a category stands for all in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Component:
    """A button or menu that was used. `values` are what was chosen in a menu."""

    custom_id: str
    values: Sequence[str] = ()


def component_of(interaction: discord.Interaction) -> Component | None:
    """What was used; None for an interaction of another kind."""
    if interaction.type is not discord.InteractionType.component:
        return None
    data = cast("MessageComponentInteractionData", interaction.data)
    return Component(custom_id=data["custom_id"], values=data.get("values", ()))


def guild_of_manager(interaction: discord.Interaction) -> int | None:
    """The guild that whoever acts here may manage; None if there is none."""
    if not interaction.permissions.manage_guild:
        return None
    ACTING.set(interaction.user.id)
    return interaction.guild_id


async def managed_guild(interaction: discord.Interaction) -> int | None:
    """The guild that whoever used a control may manage. None if there is none, which they are
    told."""
    guild_id = guild_of_manager(interaction)
    if guild_id is None:
        await answer_privately(interaction, NOT_ALLOWED)
        return None
    return guild_id
