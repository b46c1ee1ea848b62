"""Puts a Discord message into words for a model.

Invariant: the same message gives the same words, live or read back later, so that a conversation
keeps its bytes; what changes by itself, such as votes and link previews, stays out. People, roles
and channels go by name. Everything is bounded.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

import discord

from chat.ports import Member, Quote

_USER = re.compile(r"<@!?(\d{15,20})>")
_ROLE = re.compile(r"<@&(\d{15,20})>")
_CHANNEL = re.compile(r"<#(\d{15,20})>")
_EMOJI = re.compile(r"<a?(:\w{1,32}:)\d{15,20}>")
_COMMAND = re.compile(r"<(/[^:<>\n]{1,100}):\d{15,20}>")
_TIME = re.compile(r"<t:(-?\d{1,12})(?::[tTdDfFR])?>")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_LONGEST_QUOTE = 160
_LONGEST_FORWARD = 2000
_LONGEST_EMBED = 600
_LONGEST_DESCRIPTION = 200
"""Of an image, by the one who sent it."""

_LONGEST_NAME = 100
_MOST_EMBEDS = 3

_Source: TypeAlias = discord.Message | discord.MessageSnapshot
"""A message, or the copy of one that a forward carries."""


def mentions_in_body(message: discord.Message, user: discord.abc.User) -> bool:
    """Whether the text itself mentions `user`: a reply's ping alone does not."""
    return any(int(found[1]) == user.id for found in _USER.finditer(message.content))


def member_of(user: discord.abc.User) -> Member:
    """Someone by the name that they have everywhere. Their name in a server comes along with new
    messages alone: with it, what they said would change its bytes once it is read back."""
    return Member(id=user.id, name=_name(user))


def message_in_words(message: discord.Message, me: discord.abc.User) -> str:
    """Everything that `message` shows, without the mention that addresses `me`."""
    names = _Names(message.mentions, message.guild)
    text = names.put_into(_without_address(message.content, me.id))
    parts = [text, *_beside_text(message)]
    parts += [_forwarded(snapshot, names) for snapshot in message.message_snapshots]
    if message.poll is not None:
        parts.append(_poll(message.poll))
    return "\n".join(part for part in parts if part)


def quote_in(message: discord.Message, me: discord.abc.User) -> Quote | None:
    """The beginning of what `message` replies to; None where that is nothing, or gone."""
    answered = answered_by(message)
    if answered is None:
        return None
    words = message_in_words(answered, me)
    if answered.author.id == me.id:
        words = "\n".join(line for line in words.splitlines() if not line.startswith("-# "))
    return Quote(
        message_id=answered.id,
        author=member_of(answered.author),
        text=one_line(words, _LONGEST_QUOTE),
    )


def answered_by(message: discord.Message) -> discord.Message | None:
    """The message that `message` replies to, as it came along."""
    if message.type is not discord.MessageType.reply or message.reference is None:
        return None
    answered = message.reference.resolved
    return answered if isinstance(answered, discord.Message) else None


def one_line(text: str, most: int) -> str:
    """`text` in one line of at most `most` characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def _name(user: discord.abc.User) -> str:
    shown = user.global_name if isinstance(user, discord.User | discord.Member) else None
    return shown or user.name


def _without_address(text: str, me: int) -> str:
    address = rf"<@!?{me}>"
    return re.sub(rf"\A(?:\s*{address}[\s,:]*)+|(?:\s*{address})+\s*\Z", "", text).strip()


class _Names:
    """Writes names for the ids that a text mentions; an id that nobody knows stays."""

    def __init__(self, mentioned: Sequence[discord.abc.User], guild: discord.Guild | None) -> None:
        self._users: Mapping[int, str] = {user.id: _name(user) for user in mentioned}
        self._guild = guild

    def put_into(self, text: str) -> str:
        """`text` with names in place of ids, and moments in UTC."""
        forms: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str] | str], ...] = (
            (_USER, self._user),
            (_ROLE, self._role),
            (_CHANNEL, self._channel),
            (_EMOJI, r"\1"),
            (_COMMAND, r"\1"),
            (_TIME, _moment),
        )
        for pattern, name in forms:
            text = pattern.sub(name, text)
        return text

    def _user(self, found: re.Match[str]) -> str:
        name = self._users.get(int(found[1]))
        return found[0] if name is None else f"@{name}"

    def _role(self, found: re.Match[str]) -> str:
        known = self._guild.get_role(int(found[1])) if self._guild else None
        return found[0] if known is None else f"@{known.name}"

    def _channel(self, found: re.Match[str]) -> str:
        known = self._guild.get_channel_or_thread(int(found[1])) if self._guild else None
        return found[0] if known is None else f"#{known.name}"


def _moment(found: re.Match[str]) -> str:
    """A timestamp, also a relative one, as a moment: "in an hour" would change by itself."""
    try:
        at = _EPOCH + timedelta(seconds=int(found[1]))
    except OverflowError:
        return found[0]
    return f"{at.day} {at:%B} {at.year}, {at:%H:%M} UTC"


def _beside_text(source: _Source) -> Iterator[str]:
    """Files, stickers and embeds."""
    yield from map(_attachment, source.attachments)
    for sticker in source.stickers:
        yield f"[sticker: {one_line(sticker.name, _LONGEST_NAME)}]"
    # A preview is made some time after its message was sent, and holds the link that is there.
    sent = [each for each in source.embeds if not (each.url and each.url in source.content)]
    for embed in sent[:_MOST_EMBEDS]:
        if words := _embed(embed):
            yield f"[embed: {words}]"


def _attachment(attachment: discord.Attachment) -> str:
    if attachment.is_voice_message():
        return f"[voice message, {round(attachment.duration or 0)} seconds]"
    name = one_line(attachment.filename, _LONGEST_NAME)
    if (attachment.content_type or "").startswith("image/"):
        size = f", {attachment.width} by {attachment.height}" if attachment.width else ""
        told = one_line(attachment.description or "", _LONGEST_DESCRIPTION)
        return f"[image: {name}{size}{f', described as: {told}' if told else ''}]"
    return f"[file: {name}, {_amount(attachment.size)}]"


def _amount(size: int) -> str:
    if size < 1000:
        return f"{size} bytes"
    return f"{size / 1000:.0f} kB" if size < 1_000_000 else f"{size / 1_000_000:.1f} MB"


def _embed(embed: discord.Embed) -> str:
    fields = [f"{field.name}: {field.value}" for field in embed.fields]
    author, footer = embed.author.name, embed.footer.text
    parts = [author, embed.title, embed.description, *fields, footer]
    return one_line("; ".join(part for part in parts if part), _LONGEST_EMBED)


def _forwarded(snapshot: discord.MessageSnapshot, names: _Names) -> str:
    text = names.put_into(snapshot.content).strip()
    if len(text) > _LONGEST_FORWARD:
        text = f"{text[: _LONGEST_FORWARD - 1]}…"
    parts = ["[forwarded message]", text, *_beside_text(snapshot), "[end of forwarded message]"]
    return "\n".join(part for part in parts if part)


def _poll(poll: discord.Poll) -> str:
    """Question and answers; the votes change with every one."""
    answers = [
        f"{number}. {one_line(answer.text or str(answer.emoji), _LONGEST_NAME)}"
        for number, answer in enumerate(poll.answers, 1)
    ]
    return f"[poll: {'; '.join([one_line(str(poll.question), 300), *answers])}]"
