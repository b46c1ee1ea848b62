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

MOST_FILES = 10
"""That one message takes."""

_LONGEST_DESCRIPTION = 1024

WHOLE_ANSWER = "answer.md"
"""The name of the file that an answer comes in where it is too long for messages."""


def takes_files(channel: Channel) -> bool:
    """Whether the bot may send files there."""
    guild = channel.guild
    if guild is None or isinstance(channel, discord.PartialMessageable):
        return True
    return channel.permissions_for(guild.me).attach_files


def whole_answer(text: str) -> ToolFile:
    """An answer as a file."""
    return ToolFile(name=WHOLE_ANSWER, data=text.encode(), description="The whole answer")


def sendable(files: Sequence[ToolFile], channel: Channel) -> tuple[list[ToolFile], list[str]]:
    """The files that the channel takes, and a line for each reason why others stay out."""
    if not files:
        return [], []
    if not takes_files(channel):
        return [], ["I lack the permission Attach Files here, so a file of this answer is missing."]
    guild = channel.guild
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
