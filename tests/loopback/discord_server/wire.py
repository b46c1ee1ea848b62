"""The numbers that Discord's API version 10 gives to permissions, intents, flags and kinds.

Invariant: only names for wire values live here. How many of something are allowed is a
matter for `limits`, what happens with it is a matter for the part that handles it.
"""

from enum import IntEnum, IntFlag
from typing import Any, TypeAlias

Payload: TypeAlias = dict[str, Any]
"""A JSON object of the wire. Left open: it is foreign data and the rules decide what it holds."""


def objects(value: Any) -> list[Payload]:
    """A list of objects in a foreign payload, where an absent one counts as empty."""
    return value or []


EPOCH_MS = 1_420_070_400_000
"""Where Discord's ids start to count, in milliseconds since 1970."""


class Permission(IntFlag):
    """Bits of a role, an overwrite, or a computed set of rights."""

    MANAGE_CHANNELS = 1 << 4
    MANAGE_GUILD = 1 << 5
    ADD_REACTIONS = 1 << 6
    ADMINISTRATOR = 1 << 3
    VIEW_CHANNEL = 1 << 10
    SEND_MESSAGES = 1 << 11
    SEND_TTS_MESSAGES = 1 << 12
    MANAGE_MESSAGES = 1 << 13
    EMBED_LINKS = 1 << 14
    ATTACH_FILES = 1 << 15
    READ_MESSAGE_HISTORY = 1 << 16
    MENTION_EVERYONE = 1 << 17
    MANAGE_ROLES = 1 << 28
    MANAGE_WEBHOOKS = 1 << 29
    USE_APPLICATION_COMMANDS = 1 << 31
    MANAGE_THREADS = 1 << 34
    CREATE_PUBLIC_THREADS = 1 << 35
    SEND_MESSAGES_IN_THREADS = 1 << 38
    MODERATE_MEMBERS = 1 << 40
    SEND_POLLS = 1 << 49


ALL_PERMISSIONS = (1 << 53) - 1
DEFAULT_PERMISSIONS = int(
    Permission.ADD_REACTIONS
    | Permission.VIEW_CHANNEL
    | Permission.SEND_MESSAGES
    | Permission.EMBED_LINKS
    | Permission.ATTACH_FILES
    | Permission.READ_MESSAGE_HISTORY
    | Permission.CREATE_PUBLIC_THREADS
    | Permission.SEND_MESSAGES_IN_THREADS
    | Permission.USE_APPLICATION_COMMANDS
    | Permission.SEND_POLLS
)
"""What @everyone may do in a new guild."""


class Intent(IntFlag):
    """What a session asks to be told."""

    GUILDS = 1 << 0
    GUILD_MEMBERS = 1 << 1
    GUILD_PRESENCES = 1 << 8
    GUILD_MESSAGES = 1 << 9
    GUILD_MESSAGE_REACTIONS = 1 << 10
    GUILD_MESSAGE_TYPING = 1 << 11
    DIRECT_MESSAGES = 1 << 12
    MESSAGE_CONTENT = 1 << 15


PRIVILEGED_INTENTS = int(Intent.GUILD_MEMBERS | Intent.GUILD_PRESENCES | Intent.MESSAGE_CONTENT)
KNOWN_INTENTS = sum(1 << bit for bit in (*range(17), 20, 21, 24, 25))

APPLICATION_FLAGS = 1 << 12 | 1 << 14 | 1 << 18
"""Presence, member and content intents, each switched on for a small application."""


class MessageFlag(IntFlag):
    """Bits of a message's `flags`."""

    SUPPRESS_EMBEDS = 1 << 2
    EPHEMERAL = 1 << 6
    LOADING = 1 << 7
    SUPPRESS_NOTIFICATIONS = 1 << 12
    COMPONENTS_V2 = 1 << 15


class MessageKind(IntEnum):
    """A message's `type`."""

    DEFAULT = 0
    PIN_NOTICE = 6
    REPLY = 19
    COMMAND = 20
    CONTEXT_COMMAND = 23


REPLIABLE = frozenset(MessageKind) - {MessageKind.PIN_NOTICE}
"""Kinds that a reply may point at; everything else is a system message."""


class ChannelKind(IntEnum):
    """A channel's `type`."""

    TEXT = 0
    DM = 1
    VOICE = 2
    CATEGORY = 4
    NEWS_THREAD = 10
    PUBLIC_THREAD = 11
    PRIVATE_THREAD = 12
    FORUM = 15
    MEDIA = 16


THREAD_KINDS = frozenset(
    {ChannelKind.NEWS_THREAD, ChannelKind.PUBLIC_THREAD, ChannelKind.PRIVATE_THREAD}
)


class InteractionKind(IntEnum):
    """What a member did."""

    COMMAND = 2
    COMPONENT = 3
    AUTOCOMPLETE = 4
    MODAL = 5


class CallbackKind(IntEnum):
    """How an application answers an interaction."""

    MESSAGE = 4
    DEFER = 5
    DEFER_UPDATE = 6
    UPDATE = 7
    CHOICES = 8
    MODAL = 9
    LAUNCH = 12


class CommandKind(IntEnum):
    """Where a command is offered."""

    CHAT = 1
    USER = 2
    MESSAGE = 3


class OptionKind(IntEnum):
    """The `type` of a chat command's option."""

    SUBCOMMAND = 1
    SUBCOMMAND_GROUP = 2
    STRING = 3
    INTEGER = 4
    BOOLEAN = 5
    USER = 6
    CHANNEL = 7
    ROLE = 8
    MENTIONABLE = 9
    NUMBER = 10
    ATTACHMENT = 11


SUBCOMMAND_KINDS = (OptionKind.SUBCOMMAND, OptionKind.SUBCOMMAND_GROUP)


class ComponentKind(IntEnum):
    """A component's `type`."""

    ACTION_ROW = 1
    BUTTON = 2
    STRING_SELECT = 3
    TEXT_INPUT = 4
    USER_SELECT = 5
    ROLE_SELECT = 6
    MENTIONABLE_SELECT = 7
    CHANNEL_SELECT = 8
    SECTION = 9
    TEXT_DISPLAY = 10
    THUMBNAIL = 11
    MEDIA_GALLERY = 12
    FILE = 13
    SEPARATOR = 14
    CONTAINER = 17
    LABEL = 18


class ButtonStyle(IntEnum):
    """Styles that carry no custom id of their own."""

    LINK = 5
    PREMIUM = 6


class Opcode(IntEnum):
    """What a gateway frame is for."""

    DISPATCH = 0
    HEARTBEAT = 1
    IDENTIFY = 2
    PRESENCE = 3
    VOICE_STATE = 4
    RESUME = 6
    RECONNECT = 7
    REQUEST_MEMBERS = 8
    INVALID_SESSION = 9
    HELLO = 10
    HEARTBEAT_ACK = 11
    REQUEST_SOUNDBOARD = 31
    REQUEST_CHANNEL_INFO = 43


class CloseCode(IntEnum):
    """Why the gateway hangs up."""

    NORMAL = 1000
    GOING_AWAY = 1001
    UNKNOWN_ERROR = 4000
    UNKNOWN_OPCODE = 4001
    DECODE_ERROR = 4002
    NOT_AUTHENTICATED = 4003
    AUTHENTICATION_FAILED = 4004
    ALREADY_AUTHENTICATED = 4005
    RATE_LIMITED = 4008
    SESSION_TIMED_OUT = 4009
    INVALID_SHARD = 4010
    INVALID_VERSION = 4012
    INVALID_INTENTS = 4013
    DISALLOWED_INTENTS = 4014
