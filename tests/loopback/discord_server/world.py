"""All that exists on the server, and how it is found.

Invariant: ids are unique and grow. Looking up what does not exist raises the ApiError that
Discord would answer with; adding things is for `builder`, changing messages for `messages`.
"""

import time
from collections import defaultdict
from collections.abc import Iterable

from tests.loopback.discord_server.errors import ApiError, Problem, not_an_id
from tests.loopback.discord_server.model import (
    Channel,
    Command,
    Guild,
    Interaction,
    Message,
    Role,
    StoredFile,
    User,
)
from tests.loopback.discord_server.wire import EPOCH_MS


class World:
    """The server's state. `messages` holds ephemeral and deleted messages too."""

    def __init__(self) -> None:
        self._last_ms = 0
        self._increment = 0
        self.users: dict[int, User] = {}
        self.guilds: dict[int, Guild] = {}
        self.channels: dict[int, Channel] = {}
        self.messages: dict[int, Message] = {}
        self.files: dict[int, StoredFile] = {}
        self.commands: defaultdict[int | None, dict[int, Command]] = defaultdict(dict)
        self.interactions: dict[int, Interaction] = {}
        self.tokens: dict[str, Interaction] = {}
        self.bot = self.add_user("loopbot", bot=True)
        self.owner = self.add_user("owner")
        self.team: list[tuple[User, str, int]] = []
        """If the application belongs to a team: its members with role and membership state."""

    @property
    def application_id(self) -> int:
        """The application shares its id with its bot user."""
        return self.bot.id

    def next_id(self) -> int:
        """A new snowflake: milliseconds since Discord's epoch, then a counter."""
        self._last_ms = max(int(time.time() * 1000), self._last_ms)
        self._increment = (self._increment + 1) & 0xFFF
        if self._increment == 0:
            self._last_ms += 1
        return (self._last_ms - EPOCH_MS) << 22 | 1 << 17 | self._increment

    def add_user(self, name: str, *, bot: bool = False) -> User:
        """A new account, in no guild yet."""
        user = User(id=self.next_id(), name=name, bot=bot)
        self.users[user.id] = user
        return user

    def user(self, user_id: int) -> User:
        """The user with that id."""
        try:
            return self.users[user_id]
        except KeyError:
            raise ApiError(Problem.UNKNOWN_USER) from None

    def guild(self, guild_id: int) -> Guild:
        """The guild with that id."""
        try:
            return self.guilds[guild_id]
        except KeyError:
            raise ApiError(Problem.UNKNOWN_GUILD) from None

    def channel(self, channel_id: int) -> Channel:
        """The channel, thread or direct message with that id."""
        try:
            return self.channels[channel_id]
        except KeyError:
            raise ApiError(Problem.UNKNOWN_CHANNEL) from None

    def message(self, channel: Channel, message_id: int) -> Message:
        """The message of that channel's history."""
        try:
            return channel.messages[message_id]
        except KeyError:
            raise ApiError(Problem.UNKNOWN_MESSAGE) from None

    def role(self, role_id: int) -> Role:
        """The role with that id, whichever guild it belongs to."""
        for guild in self.guilds.values():
            if role_id in guild.roles:
                return guild.roles[role_id]
        raise LookupError(f"no role has the id {role_id}")

    def channels_of(self, guild: Guild) -> list[Channel]:
        """The guild's channels, without threads."""
        return [c for c in self.channels.values() if c.guild is guild and not c.is_thread]

    def open_threads_of(self, guild: Guild) -> list[Channel]:
        """The guild's threads that are not archived."""
        return [
            channel
            for channel in self.channels.values()
            if channel.guild is guild and channel.thread is not None and not channel.thread.archived
        ]

    def commands_in(self, guild: Guild | None) -> Iterable[Command]:
        """The commands that are offered in a guild, or in direct messages: its own first."""
        if guild is not None:
            yield from self.commands[guild.id].values()
        yield from self.commands[None].values()


def snowflake(value: object, path: str) -> int:
    """The id that `value` spells, as JSON string or number; `path` names the field in errors."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and value.isascii() and value.isdigit():
        return int(value)
    raise not_an_id(path, value)
