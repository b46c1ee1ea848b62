"""Files of a reply as uploads to a channel.

Invariant: what a channel does not take is told in words, and never fails the words themselves.
"""

import io
from collections.abc import Sequence

import discord

from cogs.permissions import Channel
from tools.registry import ToolFile

_SMALLEST_LIMIT = 10 * 1024 * 1024
"""Bytes that any conversation takes."""

_LONGEST_DESCRIPTION = 1024


def sendable(files: Sequence[ToolFile], channel: Channel) -> tuple[list[ToolFile], list[str]]:
    """The files that the channel takes, and a line for each reason why others stay out."""
    if not files:
        return [], []
    guild = channel.guild
    if (
        guild is not None
        and not isinstance(channel, discord.PartialMessageable)
        and not channel.permissions_for(guild.me).attach_files
    ):
        return [], ["I lack the permission Attach Files here, so a file of this answer is missing."]
    most = guild.filesize_limit if guild else _SMALLEST_LIMIT
    fitting = [file for file in files if len(file.data) <= most]
    if len(fitting) == len(files):
        return fitting, []
    limit = f"{most // (1024 * 1024)} MiB"
    return fitting, [f"A file of this answer is larger than the {limit} that may be sent here."]


def as_uploads(files: Sequence[ToolFile]) -> list[discord.File]:
    """Fresh uploads: one that was sent cannot be sent again."""
    return [
        discord.File(
            io.BytesIO(file.data),
            filename=file.name,
            description=file.description[:_LONGEST_DESCRIPTION] or None,
        )
        for file in files
    ]
