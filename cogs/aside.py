"""Says one line to a member where their channel does not take it.

Invariant: it never raises over what Discord refuses, and the operator's log has the reason.
"""

import logging

import aiohttp
import discord

from cogs.translations.saying import reads_in, retold, tr

log = logging.getLogger(__name__)

_WARNING = "\N{WARNING SIGN}\N{VARIATION SELECTOR-16}"

NETWORK_ERRORS = (aiohttp.ClientError, OSError, TimeoutError)
"""What discord.py lets through when a connection breaks."""


async def tell_apart(question: discord.Message, reason: str) -> None:
    """Tell the author of `question` why no answer appears: in a direct message, or by a
    reaction where those are closed."""
    channel = question.channel
    guild_id = question.guild.id if question.guild else None
    log.warning("No answer in channel %s of guild %s: %s.", channel.id, guild_id, reason)
    if question.guild is not None:
        locale = reads_in(question)
        line = tr(
            locale,
            "I cannot answer in {link}: {reason}. A server admin can change that in the settings "
            "of the channel or of my role.",
            link=question.jump_url,
            reason=retold(locale, reason),
        )
        try:
            await question.author.send(line)
        except (discord.HTTPException, *NETWORK_ERRORS):
            log.info("The member takes no direct messages; a reaction is tried.")
        else:
            return
    try:
        await question.add_reaction(_WARNING)
    except (discord.HTTPException, *NETWORK_ERRORS):
        log.info("A reaction is refused too; the member is not told.")
