"""What members saw of a channel, moment by moment, read from the loopback Discord's record.

Invariant: pure reading. Every version of every message is in it once, in the order in which they
came, with what members did and when the bot was seen typing.
"""

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from tests.loopback.discord_server import LoopbackDiscord, Message
from tests.loopback.discord_server.model import Version, walk_components
from tests.loopback.discord_server.wire import ComponentKind, InteractionKind, Payload, objects

What: TypeAlias = Literal[
    "says", "replies", "answers", "edits", "deletes", "types", "uses", "presses", "submits"
]

_ALONE = "only {} sees it"
_SELECTS = (
    ComponentKind.STRING_SELECT,
    ComponentKind.USER_SELECT,
    ComponentKind.ROLE_SELECT,
    ComponentKind.MENTIONABLE_SELECT,
    ComponentKind.CHANNEL_SELECT,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """`at` is in seconds of the journal's clock. `before` is what an edit changed."""

    at: float
    who: str
    what: What
    message: Message | None = None
    version: Version | None = None
    before: Version | None = None
    words: str = ""
    """What was done: a command with its options, or a button."""


def timeline(server: LoopbackDiscord) -> list[Moment]:
    """Everything that was seen, oldest first."""
    found = [*_messages(server), *_typing(server), *_deletions(server), *_doings(server)]
    return sorted(found, key=lambda moment: moment.at)


def _messages(server: LoopbackDiscord) -> Iterator[Moment]:
    for message in server.world.messages.values():
        who = message.author.name
        what: What = "replies" if message.reply_to else "says"
        if message.interaction is not None:
            what = "answers"
        before: Version | None = None
        for version in message.versions:
            yield Moment(
                at=version.at,
                who=who,
                what="edits" if before else what,
                message=message,
                version=version,
                before=before,
            )
            before = version


def _typing(server: LoopbackDiscord) -> Iterator[Moment]:
    for channel in server.world.channels.values():
        for interval in server.typing(channel):
            yield Moment(at=interval.start, who=server.bot.name, what="types")


def _deletions(server: LoopbackDiscord) -> Iterator[Moment]:
    for record in server.journal.of("delete"):
        message = server.world.messages[record["id"]]
        yield Moment(at=record.at, who=message.author.name, what="deletes", message=message)


def _doings(server: LoopbackDiscord) -> Iterator[Moment]:
    for record in server.journal.of("interaction"):
        kind = InteractionKind(record["type"])
        if kind is InteractionKind.AUTOCOMPLETE:
            continue
        used = server.world.interactions[record["id"]]
        what: What = "presses"
        words = used.name
        if kind is InteractionKind.COMMAND:
            what, words = "uses", as_typed(used.data)
        elif kind is InteractionKind.MODAL:
            what = "submits"
            words = str(((used.source and used.source.modal) or {}).get("title", words))
        elif used.message is not None:
            words = _pressed(used.message, record.at, used.data)
        yield Moment(at=record.at, who=used.user.name, what=what, words=words)


def as_typed(data: Payload) -> str:
    """A command as it was typed."""
    words = [f"/{data['name']}" if data.get("type", 1) == 1 else str(data["name"])]
    options = objects(data.get("options"))
    while options and "value" not in options[0]:
        words.append(str(options[0]["name"]))
        options = objects(options[0].get("options"))
    return " ".join([*words, *(f"{each['name']}:{each['value']}" for each in options)])


def _pressed(message: Message, at: float, data: Payload) -> str:
    """What was written on the button, or which values of a select were chosen."""
    shown = [version for version in message.versions if version.at <= at]
    components = walk_components(shown[-1].components if shown else message.components)
    nothing: Payload = {}
    used = next((c for c in components if c.get("custom_id") == data["custom_id"]), nothing)
    name = str(used.get("label") or used.get("placeholder") or data["custom_id"])
    values = [str(value) for value in data.get("values", ())]
    return f"{name}: {', '.join(values)}" if values else f"[{name}]"


def told(server: LoopbackDiscord, moments: Sequence[Moment], *, whole: bool = False) -> list[str]:
    """The moments as lines; edits as what changed, or with `whole` as what stood there then."""
    if not moments:
        return []
    start = moments[0].at
    lines: list[str] = []
    for moment in moments:
        head = f"{moment.at - start:7.2f} s  {moment.who:<10} {moment.what:<8}"
        first, *rest = _details(server, moment, whole=whole) or [""]
        lines.append(f"{head} {first}".rstrip())
        lines += [f"{'':{len(head)}} {line}".rstrip() for line in rest]
    return lines


def _details(server: LoopbackDiscord, moment: Moment, *, whole: bool) -> list[str]:
    message, version = moment.message, moment.version
    if message is None:
        return [moment.words] if moment.words else []
    if version is None:
        return [named(server, message.text).partition("\n")[0][:60]]
    lines: list[str] = []
    if moment.before is None and message.ephemeral and message.interaction is not None:
        lines.append(f"({_ALONE.format(message.interaction.user.name)})")
    lines += ["(is thinking)"] if version.loading else []
    text, before = named(server, version.text), moment.before
    if whole or before is None:
        lines += [f"| {line}" for line in text.splitlines()]
    else:
        lines += changes(named(server, before.text), text)
    if before is None or _beside(before) != _beside(version):
        lines += _beside(version) or (["(no buttons any more)"] if before else [])
    return lines


def changes(before: str, after: str) -> list[str]:
    """What an edit changed: `+` is new, `-` is gone, and `...` stands before words that only
    grew."""
    if before == after:
        return []
    if before and after.startswith(before):
        first, *rest = after.removeprefix(before).split("\n")
        return [*([f"+ ...{first}"] if first else []), *(f"+ {line}" for line in rest)]
    old, new = before.splitlines(), after.splitlines()
    found = difflib.ndiff(old, new)
    return [line for line in found if line[0] in "+-"]


def named(server: LoopbackDiscord, text: str) -> str:
    """A text with the names that Discord's client shows for mentions."""
    for user in server.world.users.values():
        text = text.replace(f"<@{user.id}>", f"@{user.name}")
    for channel in server.world.channels.values():
        text = text.replace(f"<#{channel.id}>", f"#{channel.name}")
    return text


def _beside(version: Version) -> list[str]:
    """Embeds, components and files in short lines."""
    lines = [
        f"<embed {embed.get('title') or str(embed.get('description', ''))[:60]!r}>"
        for embed in version.embeds
    ]
    buttons: list[str] = []
    for part in walk_components(version.components):
        if part["type"] == ComponentKind.BUTTON:
            off = " (off)" if part.get("disabled") else ""
            buttons.append(f"[{part.get('label') or 'icon'}{off}]")
        elif part["type"] in _SELECTS:
            options = objects(part.get("options"))
            chosen = [str(each["label"]) for each in options if each.get("default")]
            shown = ", ".join(chosen) or str(part.get("placeholder") or "nothing chosen")
            lines.append(f"<select of {len(options)}: {shown}>")
    lines += [" ".join(buttons)] if buttons else []
    return [*lines, *(f"<file {file.name}, {len(file.data):,} bytes>" for file in version.files)]
