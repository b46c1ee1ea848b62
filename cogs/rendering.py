"""Puts a Discord message into words for a model, and a reply into messages for members.

Invariant: a model reads people, roles and channels by the names that members see; members read
the answer as the model wrote it, and the bot's own remarks only as subtext beside it.
"""

import re

import discord

from chat.reply import Reply
from cogs.splitting import MESSAGE_LIMIT, split

_USER = re.compile(r"<@!?(\d{15,20})>")
_ROLE = re.compile(r"<@&(\d{15,20})>")
_CHANNEL = re.compile(r"<#(\d{15,20})>")
_EMOJI = re.compile(r"<a?(:\w{1,32}:)\d{15,20}>")

SUBTEXT = "-# "
"""Starts a line that Discord shows small. The bot's own remarks beside an answer use it."""

_LONGEST_NOTICE = 300
_NOTHING = "There is no answer. Asking again may help."


def mentions_in_body(message: discord.Message, user: discord.abc.User) -> bool:
    """Whether the text itself mentions `user`: a reply's ping alone does not."""
    return any(int(found[1]) == user.id for found in _USER.finditer(message.content))


def message_in_words(message: discord.Message, me: discord.abc.User) -> str:
    """Text, attachments and stickers of `message`, without the mention that addresses `me`."""
    text = _without_address(message.content, me.id)
    extras = [f"[attachment: {attachment.filename}]" for attachment in message.attachments]
    extras += [f"[sticker: {sticker.name}]" for sticker in message.stickers]
    return "\n".join(part for part in (_with_names(text, message), *extras) if part)


def _without_address(text: str, me: int) -> str:
    address = rf"<@!?{me}>"
    return re.sub(rf"\A(?:\s*{address}[\s,:]*)+|(?:\s*{address})+\s*\Z", "", text).strip()


def _with_names(text: str, message: discord.Message) -> str:
    users = {user.id: user.display_name for user in message.mentions}
    guild = message.guild

    def user(found: re.Match[str]) -> str:
        name = users.get(int(found[1]))
        return found[0] if name is None else f"@{name}"

    def role(found: re.Match[str]) -> str:
        known = guild.get_role(int(found[1])) if guild else None
        return found[0] if known is None else f"@{known.name}"

    def channel(found: re.Match[str]) -> str:
        known = guild.get_channel_or_thread(int(found[1])) if guild else None
        return found[0] if known is None else f"#{known.name}"

    for pattern, name in ((_USER, user), (_ROLE, role), (_CHANNEL, channel), (_EMOJI, r"\1")):
        text = pattern.sub(name, text)
    return text


def reply_in_messages(reply: Reply, pieces: list[str], *, final: bool, begun: bool) -> list[str]:
    """Contents of the messages that show `reply`, whose text was split into `pieces`.

    Notices, and while the turn runs one line that says what it does, follow as subtext. That
    line gives way where the last message is full. `begun` tells that a message is there already
    and has to say something.
    """
    notices = [_one_line(notice) for notice in reply.notices]
    if final and reply.silent and not (notices or pieces or begun):
        return []
    if final:
        lines = notices if notices or pieces else [_NOTHING]
    else:
        status = _status(reply, begun=begun or bool(pieces))
        lines = [*notices, status] if status else notices
    if not lines:
        return pieces
    tail = "\n".join(SUBTEXT + line for line in lines)
    if pieces and len(pieces[-1]) + 1 + len(tail) <= MESSAGE_LIMIT:
        return [*pieces[:-1], f"{pieces[-1]}\n{tail}"]
    return [*pieces, *split(tail)] if final or not pieces else pieces


def _status(reply: Reply, *, begun: bool) -> str:
    running = ", ".join(run.call.name.replace("__", r"\_\_") for run in reply.running)
    if running:
        return _one_line(f"running {running}")
    if reply.waits_for:
        return _one_line(reply.waits_for)
    return "thinking" if begun and reply.state in {"waiting", "thinking", "tool"} else ""


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_NOTICE else f"{line[: _LONGEST_NOTICE - 1]}…"
