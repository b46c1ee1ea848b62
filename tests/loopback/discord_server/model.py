"""What exists on the server: users, guilds, channels, messages, files, commands, interactions.

Invariant: plain mutable records with integer ids, compared by identity. They know nothing of
JSON (`payloads`), of who may do what (`permissions`) or of what is allowed (the rules).
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum, auto

from tests.loopback.discord_server.wire import (
    THREAD_KINDS,
    CallbackKind,
    ChannelKind,
    CommandKind,
    ComponentKind,
    InteractionKind,
    MessageFlag,
    MessageKind,
    Payload,
    objects,
)


@dataclass(slots=True, kw_only=True, eq=False)
class User:
    """An account, a person's or a bot's. `locale` is the language of their client."""

    id: int
    name: str
    bot: bool = False
    locale: str = "en-US"

    @property
    def mention(self) -> str:
        """The text that mentions this user."""
        return f"<@{self.id}>"


@dataclass(slots=True, kw_only=True, eq=False)
class Role:
    """A named set of permissions in a guild; `managed` marks the one that belongs to the bot."""

    id: int
    name: str
    permissions: int
    position: int
    managed: bool = False


@dataclass(slots=True, kw_only=True, eq=False)
class Member:
    """A user's place in a guild. `joined` is in seconds since 1970."""

    user: User
    joined: float
    roles: list[int] = field(default_factory=list[int])
    nick: str | None = None


@dataclass(slots=True, kw_only=True, eq=False)
class Guild:
    """A server in Discord's sense. Roles and members by id; @everyone has the guild's own id.
    `locale` is the language that it prefers."""

    id: int
    name: str
    owner: User
    joined: float
    roles: dict[int, Role] = field(default_factory=dict[int, Role])
    members: dict[int, Member] = field(default_factory=dict[int, Member])
    locale: str = "en-US"


@dataclass(slots=True, kw_only=True, eq=False)
class Overwrite:
    """What a channel grants and denies to a role or a member, as permission bits."""

    target: int
    for_member: bool
    allow: int = 0
    deny: int = 0


@dataclass(slots=True, kw_only=True, eq=False)
class ThreadState:
    """What only threads have."""

    owner: User
    created: float
    archived: bool = False
    locked: bool = False
    auto_archive_minutes: int = 1440
    message_count: int = 0
    tags: tuple[str, ...] = ()


@dataclass(slots=True, kw_only=True, eq=False)
class Channel:
    """Where messages live: a guild channel, a thread, or a direct message with `recipient`."""

    id: int
    kind: ChannelKind
    name: str = ""
    guild: Guild | None = None
    parent: "Channel | None" = None
    recipient: User | None = None
    thread: ThreadState | None = None
    position: int = 0
    topic: str | None = None
    nsfw: bool = False
    slowmode: int = 0
    last_message_id: int | None = None
    overwrites: list[Overwrite] = field(default_factory=list[Overwrite])
    messages: "dict[int, Message]" = field(default_factory=dict[int, "Message"])

    @property
    def is_dm(self) -> bool:
        """Whether this is a direct message channel."""
        return self.kind is ChannelKind.DM

    @property
    def is_thread(self) -> bool:
        """Whether this is a thread of any kind, a forum post included."""
        return self.kind in THREAD_KINDS


@dataclass(slots=True, kw_only=True, eq=False)
class StoredFile:
    """An uploaded file. `size` is width and height of a picture whose header could be read."""

    id: int
    channel_id: int
    name: str
    data: bytes
    content_type: str
    description: str | None = None
    size: tuple[int, int] | None = None
    ephemeral: bool = False
    duration: float | None = None
    """Seconds, of a voice message alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """A file on its way in. `slot` is its number within the request."""

    filename: str
    data: bytes
    content_type: str | None = None
    slot: str = "0"
    duration: float | None = None
    """Seconds; set, it makes the file a voice message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pings:
    """Who was notified by a message, as opposed to merely named in it."""

    users: frozenset[int] = frozenset()
    roles: frozenset[int] = frozenset()
    everyone: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """What a member saw from `at` on, in seconds of the journal's clock."""

    at: float
    text: str
    embeds: Sequence[Payload] = ()
    components: Sequence[Payload] = ()
    files: Sequence[StoredFile] = ()
    loading: bool = False
    """Whether it said that the application is thinking."""


@dataclass(slots=True, kw_only=True, eq=False)
class Message:
    """A message, with everything a member saw in its place over time in `versions`."""

    id: int
    channel: Channel
    author: User
    created: float
    kind: MessageKind = MessageKind.DEFAULT
    content: str = ""
    flags: int = 0
    embeds: list[Payload] = field(default_factory=list[Payload])
    components: list[Payload] = field(default_factory=list[Payload])
    attachments: list[StoredFile] = field(default_factory=list[StoredFile])
    edited: float | None = None
    tts: bool = False
    nonce: str | int | None = None
    reply_to: "Message | None" = None
    forwards: "Message | None" = None
    stickers: Sequence[str] = ()
    """Names."""
    poll: Sequence[str] = ()
    """The question, then the answers."""
    interaction: "Interaction | None" = None
    mentions: list[User] = field(default_factory=list[User])
    mention_roles: list[int] = field(default_factory=list[int])
    mention_everyone: bool = False
    pings: Pings = field(default_factory=Pings)
    versions: list[Version] = field(default_factory=list[Version])
    deleted: bool = False

    @property
    def ephemeral(self) -> bool:
        """Whether only one member can see it; such messages are in no channel's history."""
        return bool(self.flags & MessageFlag.EPHEMERAL)

    @property
    def loading(self) -> bool:
        """Whether it stands for an answer that was deferred and is yet to come."""
        return bool(self.flags & MessageFlag.LOADING)

    @property
    def text(self) -> str:
        """The words that a member reads: the content, or all text displays of a layout."""
        if not self.flags & MessageFlag.COMPONENTS_V2:
            return self.content
        return "\n".join(
            component["content"]
            for component in walk_components(self.components)
            if component["type"] == ComponentKind.TEXT_DISPLAY
        )


@dataclass(slots=True, kw_only=True, eq=False)
class Command:
    """A registered application command; `declared` is what the application sent."""

    id: int
    version: int
    kind: CommandKind
    name: str
    declared: Payload
    guild_id: int | None = None


class InteractionState(Enum):
    """Whether an interaction was answered in time."""

    PENDING = auto()
    ACKNOWLEDGED = auto()
    FAILED = auto()


@dataclass(slots=True, kw_only=True, eq=False)
class Interaction:
    """Something that a member did with the application, and all that came of it.

    `born` is on the monotonic clock. `answer` says how it was acknowledged; `original` is the
    message that answers it, `message` the one that it was raised on. `source` is the
    interaction whose modal was submitted.
    """

    id: int
    token: str
    kind: InteractionKind
    user: User
    channel: Channel
    data: Payload
    born: float
    state: InteractionState = InteractionState.PENDING
    answer: CallbackKind | None = None
    message: Message | None = None
    source: "Interaction | None" = None
    original: Message | None = None
    followups: list[Message] = field(default_factory=list[Message])
    choices: list[Payload] = field(default_factory=list[Payload])
    modal: Payload | None = None
    deadline: asyncio.TimerHandle | None = None

    @property
    def name(self) -> str:
        """The command's name, or the custom id of the component or modal."""
        return str(self.data.get("name") or self.data.get("custom_id"))


def walk_components(components: Sequence[Payload]) -> list[Payload]:
    """Every component in the tree, parents first."""
    found: list[Payload] = []
    for component in components:
        found.append(component)
        children: list[Payload] = [
            *objects(component.get("components")),
            *(component[key] for key in ("component", "accessory") if component.get(key)),
        ]
        found.extend(walk_components(children))
    return found
