"""What the loopback Discord recorded, as a page that looks like a chat.

Invariant: pure: the record and a moment go in, HTML goes out that asks for nothing, pictures
included. All is drawn by the style sheet here. Ports differ in each run, and are shown as one.
"""

import base64
import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from tests.loopback.discord_server import LoopbackDiscord, Message, User
from tests.loopback.discord_server.model import Version
from tests.loopback.discord_server.wire import ComponentKind, Payload, objects
from tests.loopback.markup import as_html, inline
from tests.loopback.page_style import STYLE
from tests.loopback.timeline import as_typed

Theme: TypeAlias = Literal["dark", "light"]

_PORT = re.compile(r"127\.0\.0\.1:\d+")
_LAST = re.compile(r"</(?:p|small|h\d)>$|</li></[ou]l>$")
"""Where a text's last line ends."""
_BUTTONS = {1: "primary", 2: "secondary", 3: "success", 4: "danger", 5: "secondary"}
_FACES = ("#5b6ee1", "#c2517a", "#2f8f6b", "#b36a1e")
_CLOCK = "Today at 14:02"


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """Messages as they stood `at` seconds of the journal's clock, the last state with None."""

    messages: Sequence[Message]
    at: float | None = None
    caption: str = ""


def page(server: LoopbackDiscord, frames: Sequence[Frame], theme: Theme) -> str:
    """The frames beside each other."""
    columns = "".join(_column(server, frame) for frame in frames)
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Recorded</title>'
        f'<style>{STYLE}</style><body class="{theme}"><main>{columns}</main></body></html>'
    )


def _column(server: LoopbackDiscord, frame: Frame) -> str:
    caption = f"<h6>{html.escape(frame.caption)}</h6>" if frame.caption else ""
    rows = "".join(_row(server, message, frame.at) for message in frame.messages)
    return f"<section>{caption}{rows}</section>"


def _row(server: LoopbackDiscord, message: Message, at: float | None) -> str:
    seen = [one for one in message.versions if at is None or one.at <= at]
    if not seen:
        return ""
    above = ""
    if (used := message.interaction) is not None and used.message is None:
        words = html.escape(as_typed(used.data))
        above = _above(used.user, f"used <a>{words}</a>")
    elif (asked := message.reply_to) is not None:
        words = _PORT.sub("127.0.0.1:8080", asked.text)
        above = _above(asked.author, inline(words, lambda text: _mentions(server, text)))
    below = ""
    if message.ephemeral:
        below = "<footer>Only you can see this • <a>Dismiss message</a></footer>"
    app = "<mark>APP</mark>" if message.author.bot else ""
    edited = '<i title="edited"> (edited)</i>' if len(seen) > 1 and not message.interaction else ""
    return (
        f"<article{' class=alone' if message.ephemeral else ''}>{above}"
        f"{_face(message.author)}<header>{_who(message.author)}{app}<time>{_CLOCK}</time></header>"
        f"<div>{_body(server, seen[-1], edited)}{below}</div></article>"
    )


def _above(user: User, what: str) -> str:
    """The line that says what a message answers."""
    return f"<aside>{_face(user, small=True)}{_who(user)}<span>{what}</span></aside>"


def _body(server: LoopbackDiscord, version: Version, edited: str) -> str:
    if version.loading:
        return "<p><em>is thinking …</em></p>"
    parts = version.components
    layout = any(part["type"] != ComponentKind.ACTION_ROW for part in parts)
    text = "" if layout else _text(server, version.text)
    if edited and (last := _LAST.search(text)):
        text = text[: last.start()] + edited + last[0]
    files = "".join(
        f'<img src="data:{file.content_type};base64,{base64.b64encode(file.data).decode()}">'
        for file in version.files
        if file.content_type.startswith("image/")
    )
    embeds = "".join(_embed(server, each) for each in version.embeds)
    return text + embeds + files + "".join(_component(server, part) for part in parts)


def _text(server: LoopbackDiscord, text: str) -> str:
    return as_html(_PORT.sub("127.0.0.1:8080", text), lambda words: _mentions(server, words))


def _mentions(server: LoopbackDiscord, escaped: str) -> str:
    for user in server.world.users.values():
        escaped = escaped.replace(f"&lt;@{user.id}&gt;", f"<b>@{html.escape(shown_name(user))}</b>")
    for channel in server.world.channels.values():
        name = html.escape(channel.name)
        escaped = escaped.replace(f"&lt;#{channel.id}&gt;", f"<b>#{name}</b>")
    return escaped


def _embed(server: LoopbackDiscord, embed: Payload) -> str:
    title = f"<h3>{inline(str(embed['title']))}</h3>" if embed.get("title") else ""
    return f"<blockquote>{title}{_text(server, str(embed.get('description', '')))}</blockquote>"


def _component(server: LoopbackDiscord, part: Payload) -> str:
    inside = "".join(_component(server, each) for each in _children(part))
    match part["type"]:
        case ComponentKind.ACTION_ROW:
            return f"<nav>{inside}</nav>"
        case ComponentKind.BUTTON:
            off = " disabled" if part.get("disabled") else ""
            style = _BUTTONS[part["style"]]
            return f"<button class={style}{off}>{html.escape(str(part.get('label', '')))}</button>"
        case ComponentKind.TEXT_DISPLAY:
            return _text(server, part["content"])
        case ComponentKind.SEPARATOR:
            return "<hr>"
        case ComponentKind.CONTAINER:
            return f"<fieldset>{inside}</fieldset>"
        case kind if "options" in part or "SELECT" in ComponentKind(kind).name:
            return f"<output>{html.escape(_chosen(part))}<span>⌄</span></output>"
        case _:
            return inside


def _children(part: Payload) -> Iterator[Payload]:
    yield from objects(part.get("components"))
    if part.get("accessory"):
        yield part["accessory"]


def _chosen(select: Payload) -> str:
    chosen = [str(each["label"]) for each in objects(select.get("options")) if each.get("default")]
    return ", ".join(chosen) or str(select.get("placeholder") or "Make a selection")


def shown_name(user: User) -> str:
    """What the client writes above a member's messages."""
    return user.name.title()


def _who(user: User) -> str:
    return f"<strong>{html.escape(shown_name(user))}</strong>"


def _face(user: User, *, small: bool = False) -> str:
    """A letter on a colour that goes with the name."""
    colour = _FACES[sum(map(ord, user.name)) % len(_FACES)]
    size = "small" if small else "large"
    return f'<span class="face {size}" style="background:{colour}">{shown_name(user)[0]}</span>'
