"""Slash commands as a whole: registering them, and what a member reads when one fails.

Invariant: commands are sent to Discord only when they or their translations differ from what was
sent last, in one request that deletes nothing first, and never on the way to being ready. A failed
command answers with one line that only the member sees.
"""

import hashlib
import json
import logging

import discord
from discord import app_commands

from cogs.acting import ACTING
from cogs.aside import NETWORK_ERRORS
from cogs.ports import Meta
from cogs.splitting import split
from cogs.translations.saying import retold
from providers.base import EndpointError

log = logging.getLogger(__name__)

MANAGE_GUILD = discord.Permissions(manage_guild=True)

NOT_ALLOWED = "You need the permission Manage Server for this."
_OUTDATED = "This command has changed since. Try again in a minute."
BROKEN = "Something went wrong inside the bot. Its log says what."


def require_manage_guild(interaction: discord.Interaction) -> None:
    """Raise MissingPermissions unless the member has Manage Server now, here."""
    if not interaction.permissions.manage_guild:
        raise app_commands.MissingPermissions(["manage_guild"])


def guild_of(interaction: discord.Interaction) -> int:
    """The server in which a command was used that is there on servers alone."""
    if interaction.guild_id is None:
        raise AssertionError("the command is for servers only")
    return interaction.guild_id


async def sync_if_changed(tree: app_commands.CommandTree[discord.Client], meta: Meta) -> None:
    """Register the commands of `tree` if they are not what was registered last. Never raises
    over what Discord or the network does; the next start tries again."""
    translator = tree.translator
    payload = [
        await command.get_translated_payload(tree, translator)
        if translator
        else command.to_dict(tree)
        for command in tree.get_commands()
    ]
    canonical = json.dumps(payload, sort_keys=True, separators=(",", ":"))
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    key = f"commands:{tree.client.application_id}"
    if await meta.get(key) == digest:
        return
    try:
        await tree.sync()
    except (discord.DiscordException, *NETWORK_ERRORS) as error:
        log.error("The slash commands could not be registered: %s", error)
        return
    await meta.put(key, digest)
    log.info("The slash commands are registered.")


class CommandTree(app_commands.CommandTree[discord.Client]):
    """The bot's commands."""

    async def interaction_check(self, interaction: discord.Interaction, /) -> bool:
        """Note who acts; whether they may is asked by each command."""
        ACTING.set(interaction.user.id)
        return True

    async def on_error(
        self, interaction: discord.Interaction, error: app_commands.AppCommandError, /
    ) -> None:
        """Answer with one line and log what is not the member's doing."""
        if isinstance(error, app_commands.MissingPermissions):
            line = NOT_ALLOWED
        elif isinstance(
            error, app_commands.CommandNotFound | app_commands.CommandSignatureMismatch
        ):
            line = _OUTDATED
        elif (endpoint := _endpoint_trouble(error)) is not None:
            line = endpoint.member
        else:
            line = BROKEN
            name = interaction.command.qualified_name if interaction.command else "?"
            log.error("The command /%s failed.", name, exc_info=error)
        await answer_privately(interaction, line)


def _endpoint_trouble(error: app_commands.AppCommandError) -> EndpointError | None:
    """Behind a command that asked for an endpoint where none serves, say."""
    if isinstance(error, app_commands.CommandInvokeError) and isinstance(
        error.original, EndpointError
    ):
        return error.original
    return None


async def answer_privately(interaction: discord.Interaction, line: str) -> None:
    """Say `line`, an English one, to the member alone and in their language, whether or not the
    interaction is acknowledged yet."""
    line = retold(interaction.locale, line)
    try:
        if interaction.response.is_done():
            await interaction.followup.send(line, ephemeral=True)
        else:
            await interaction.response.send_message(line, ephemeral=True)
    except (discord.HTTPException, *NETWORK_ERRORS) as failure:
        log.warning("A command's answer was not sent: %s", failure)


async def say_privately(interaction: discord.Interaction, text: str) -> None:
    """Answer a deferred interaction with all of `text`, in as many messages as that needs, to the
    member alone."""
    for content in split(text):
        await interaction.followup.send(content, ephemeral=True)
