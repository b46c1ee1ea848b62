"""Sends one message of the bot's own beside its answers: questions, remarks, warnings.

Invariant: what is sent stands there once, whatever answers of Discord are lost: each message has a
nonce by which Discord finds an earlier attempt. It is tried again a few times, while Discord
remembers that; discord.py's own attempts, up to 25 s where Discord fails, come within each.
"""

import asyncio
import logging
import secrets
from collections.abc import Sequence
from typing import Any

import discord
from discord import ui
from discord.utils import MISSING

from cogs.aside import NETWORK_ERRORS
from cogs.translations.saying import reads_in, retold, tr
from cogs.uploads import as_uploads
from tools.registry import ToolFile

log = logging.getLogger(__name__)

SUBTEXT = "-# "
"""Starts a line that Discord shows small. The bot's own remarks beside an answer use it."""

PAUSES = (0.5, 1.0, 2.0, 4.0)
"""Seconds before further attempts; with those of discord.py, it is over after about two minutes."""

_WARNING = "\N{WARNING SIGN}\N{VARIATION SELECTOR-16}"
_NO_REPLY_WITHOUT_HISTORY = 160002
_NO_MENTIONS = discord.AllowedMentions.none()


def passes(error: Exception) -> bool:
    """Whether the same request may succeed later."""
    if isinstance(error, discord.HTTPException):
        return error.status >= 500 or error.status == 429
    return True


def refuses_reference(error: discord.HTTPException) -> bool:
    """Whether a reply may be refused for what it replies to: that is gone, is no message one can
    reply to, or may not be read."""
    return error.status == 400 or error.code == _NO_REPLY_WITHOUT_HISTORY


async def send_once(
    channel: discord.abc.Messageable,
    content: str = "",
    *,
    below: discord.Message | None = None,
    view: ui.View | None = None,
    embeds: Sequence[discord.Embed] = (),
    files: Sequence[ToolFile] = (),
) -> discord.Message:
    """Send a message that pings nobody, as a reply to `below` where that takes replies. Raises
    what Discord refuses, and its last failure."""
    nonce = secrets.token_hex(8)
    replied: dict[str, Any] = {}
    if below is not None:
        replied["reference"] = below.to_reference(fail_if_not_exists=False)
    pauses = iter(PAUSES)
    while True:
        try:
            return await channel.send(
                content,
                nonce=nonce,
                **replied,
                view=view or MISSING,
                embeds=embeds or MISSING,
                files=as_uploads(files),
                allowed_mentions=_NO_MENTIONS,
            )
        except (discord.HTTPException, *NETWORK_ERRORS) as error:
            if replied and isinstance(error, discord.HTTPException) and refuses_reference(error):
                replied.clear()
                continue
            if not passes(error) or (pause := next(pauses, None)) is None:
                raise
            log.info("A message is sent again: %s", error)
            await asyncio.sleep(pause)


async def remark(message: discord.Message, line: str) -> None:
    """Say `line`, an English one, below `message`. What Discord refuses is logged."""
    try:
        await send_once(message.channel, SUBTEXT + retold(reads_in(message), line), below=message)
    except (discord.HTTPException, *NETWORK_ERRORS) as error:
        log.warning("A remark in channel %s was not sent: %s", message.channel.id, error)


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
            await send_once(question.author, line)
        except (discord.HTTPException, *NETWORK_ERRORS):
            log.info("The member takes no direct messages; a reaction is tried.")
        else:
            return
    try:
        await question.add_reaction(_WARNING)
    except (discord.HTTPException, *NETWORK_ERRORS):
        log.info("A reaction is refused too; the member is not told.")
