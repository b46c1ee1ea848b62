"""Downloads the files of a conversation from Discord.

Invariant: never more is read than was asked for, whatever size is claimed. A link that no longer
works is asked for anew once; a file whose message is gone is gone.
"""

import logging

import aiohttp
import discord

from prompt.values import Attachment
from tools.registry import FileGone

log = logging.getLogger(__name__)

_PATIENCE = aiohttp.ClientTimeout(total=60, sock_read=15)
_PIECE = 64 * 1024
_EXPIRED = (403, 404)


def attachments_in(message: discord.Message) -> tuple[Attachment, ...]:
    """The files of a message and of what it forwards."""
    return tuple(
        Attachment(
            id=attachment.id,
            message_id=message.id,
            name=attachment.filename,
            content_type=attachment.content_type or "",
            size=attachment.size,
            url=attachment.url,
        )
        for source in (message, *message.message_snapshots)
        for attachment in source.attachments
    )


async def download(channel: discord.abc.Messageable, attachment: Attachment, *, most: int) -> bytes:
    """The bytes of a file that a message in `channel` carries. Raises FileGone."""
    if attachment.size > most:
        raise FileGone(_too_large(attachment, most))
    try:
        data = await _read(attachment, most)
        if data is None:
            data = await _read(await _anew(channel, attachment), most)
    except discord.NotFound:
        raise FileGone(f"{attachment.name} was deleted, with its message.") from None
    except (discord.HTTPException, aiohttp.ClientError, OSError) as error:
        log.info("A file could not be downloaded: %s", error)
        raise FileGone(f"{attachment.name} could not be downloaded from Discord.") from error
    if data is None:
        raise FileGone(f"Discord no longer hands out {attachment.name}.")
    return data


async def _read(attachment: Attachment, most: int) -> bytes | None:
    """The bytes behind the link, None where it has expired."""
    data = bytearray()
    async with (
        aiohttp.ClientSession(timeout=_PATIENCE) as session,
        session.get(attachment.url, allow_redirects=False) as response,
    ):
        if response.status in _EXPIRED:
            return None
        if response.status != 200:
            raise FileGone(f"Discord answered {response.status} for {attachment.name}.")
        async for piece in response.content.iter_chunked(_PIECE):
            data += piece
            if len(data) > most:
                raise FileGone(_too_large(attachment, most))
    return bytes(data)


async def _anew(channel: discord.abc.Messageable, attachment: Attachment) -> Attachment:
    """The same file with a fresh link, which Discord signs whenever it hands out the message."""
    message = await channel.fetch_message(attachment.message_id)
    for found in attachments_in(message):
        if found.id == attachment.id:
            return found
    raise FileGone(f"{attachment.name} was taken out of its message.")


def _too_large(attachment: Attachment, most: int) -> str:
    return f"{attachment.name} is larger than {most / 1_000_000:.1f} MB."
