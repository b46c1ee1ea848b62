"""Sessions, their sockets, and which event reaches which session.

Invariant: an event gets its sequence number and its place in the socket's queue in one step,
so that frames leave in the order in which things happened, over a resume too.
"""

import asyncio
import contextlib
import json
import time
import zlib
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from tests.loopback.discord_server.journal import Journal
from tests.loopback.discord_server.limits import Limits
from tests.loopback.discord_server.model import Channel
from tests.loopback.discord_server.objects import without_content
from tests.loopback.discord_server.permissions import may
from tests.loopback.discord_server.wire import CloseCode, Intent, Opcode, Payload, Permission
from tests.loopback.discord_server.world import World

NO_INTENT = Intent(0)
EVENT_INTENTS: Mapping[str, tuple[Intent, Intent]] = {
    "MESSAGE_CREATE": (Intent.GUILD_MESSAGES, Intent.DIRECT_MESSAGES),
    "MESSAGE_UPDATE": (Intent.GUILD_MESSAGES, Intent.DIRECT_MESSAGES),
    "MESSAGE_DELETE": (Intent.GUILD_MESSAGES, Intent.DIRECT_MESSAGES),
    "GUILD_CREATE": (Intent.GUILDS, NO_INTENT),
    "GUILD_DELETE": (Intent.GUILDS, NO_INTENT),
    "GUILD_ROLE_CREATE": (Intent.GUILDS, NO_INTENT),
    "CHANNEL_CREATE": (Intent.GUILDS, NO_INTENT),
    "CHANNEL_UPDATE": (Intent.GUILDS, NO_INTENT),
    "THREAD_CREATE": (Intent.GUILDS, NO_INTENT),
    "THREAD_UPDATE": (Intent.GUILDS, NO_INTENT),
    "GUILD_MEMBER_ADD": (Intent.GUILD_MEMBERS, NO_INTENT),
    "INTERACTION_CREATE": (NO_INTENT, NO_INTENT),
}
"""The intent that an event needs, in a guild and in direct messages; none means everyone."""
ABOUT_GUILDS = frozenset({"GUILD_CREATE", "GUILD_DELETE"})
CARRY_CONTENT = frozenset({"MESSAGE_CREATE", "MESSAGE_UPDATE"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Closing:
    """The last thing in a socket's queue."""

    code: CloseCode
    reason: str


class Connection:
    """One socket. `muted` makes it a zombie: open, but heartbeats go unanswered.

    `hung_up` is the code that the server closes with, None while the client has its say.
    """

    def __init__(
        self, socket: web.WebSocketResponse, request: web.Request, *, zlib_stream: bool
    ) -> None:
        self.socket = socket
        self.session: Session | None = None
        self.last_heartbeat = time.monotonic()
        self.received: deque[float] = deque()
        self.muted = False
        self.hung_up: CloseCode | None = None
        self._request = request
        self._compressor = zlib.compressobj() if zlib_stream else None
        self._outgoing: asyncio.Queue[Payload | Closing] = asyncio.Queue()
        self._writer = asyncio.get_running_loop().create_task(self._write())

    @property
    def shard(self) -> int | None:
        """Which shard it is of; None until it has identified."""
        return self.session and self.session.shard[0]

    def post(self, opcode: Opcode, data: Any = None) -> None:
        """Queue a frame that belongs to the connection and not to its session."""
        self.post_frame({"t": None, "s": None, "op": int(opcode), "d": data})

    def post_frame(self, frame: Payload) -> None:
        """Queue a whole frame."""
        self._outgoing.put_nowait(frame)

    def post_close(self, code: CloseCode, reason: str = "") -> None:
        """Queue the end: the socket closes after all frames before it have left."""
        self.hung_up = code
        self._outgoing.put_nowait(Closing(code=code, reason=reason))

    async def hang_up(self, code: CloseCode, reason: str = "") -> None:
        """Close in order and wait until that is done."""
        self.post_close(code, reason)
        await asyncio.wait({self._writer})

    def cut(self) -> None:
        """Drop the connection without a close frame, as a cut cable does."""
        if self._request.transport is not None:
            self._request.transport.abort()

    async def release(self) -> None:
        """Stop the writer; for whoever served the socket, once it is closed."""
        self._writer.cancel()
        await asyncio.wait({self._writer})

    async def _write(self) -> None:
        while True:
            item = await self._outgoing.get()
            if isinstance(item, Closing):
                await self.socket.close(code=item.code, message=item.reason.encode())
                return
            # A peer that has gone is found out by the reading side.
            with contextlib.suppress(ConnectionError, RuntimeError):
                await self._send(json.dumps(item, separators=(",", ":")))

    async def _send(self, text: str) -> None:
        if self.socket.closed:
            return
        if self._compressor is None:
            await self.socket.send_str(text)
        else:
            # One compressor for the socket's life, flushed at each frame's end.
            data = self._compressor.compress(text.encode())
            await self.socket.send_bytes(data + self._compressor.flush(zlib.Z_SYNC_FLUSH))


class Session:
    """What a client identified for; it outlives its socket for as long as a resume may take.

    `shard` is which one it is and of how many, as Discord counts them: by the guild's id, with
    direct messages at the first.
    """

    def __init__(
        self, session_id: str, intents: int, shard: tuple[int, int], *, replay: int
    ) -> None:
        self.id = session_id
        self.intents = intents
        self.shard = shard
        self.sequence = 0
        self.connection: Connection | None = None
        self.lost_at: float | None = None
        self._sent: deque[Payload] = deque(maxlen=replay)

    def has(self, guild_id: int) -> bool:
        """Whether it hears of a guild; 0 stands for direct messages."""
        number, count = self.shard
        return (guild_id >> 22) % count == number

    def emit(self, event: str, data: Any) -> None:
        """Number an event, keep it for a resume and queue it if there is a socket."""
        self.sequence += 1
        frame = {"t": event, "s": self.sequence, "op": int(Opcode.DISPATCH), "d": data}
        self._sent.append(frame)
        if self.connection is not None:
            self.connection.post_frame(frame)

    def attach(self, connection: Connection) -> None:
        """Send to this socket from now on."""
        self.connection, self.lost_at = connection, None
        connection.session = self

    def detach(self) -> None:
        """Go on without a socket, until a resume."""
        self.connection, self.lost_at = None, time.monotonic()

    def replay_after(self, sequence: int) -> int:
        """Queue again what came after `sequence`; returns how many events that were."""
        missed = [frame for frame in self._sent if frame["s"] > sequence]
        if self.connection is not None:
            for frame in missed:
                self.connection.post_frame(frame)
        return len(missed)


class Gateway:
    """All sessions and sockets of the server."""

    def __init__(self, world: World, limits: Limits, journal: Journal) -> None:
        self._world = world
        self._limits = limits
        self._journal = journal
        self.sessions: dict[str, Session] = {}
        self.connections: set[Connection] = set()
        self.identifies = 0
        self.turned_away = 0
        """Fault: so many sockets that come next are not let in."""
        self.last_identify = float("-inf")

    def dispatch(self, event: str, data: Payload, channel: Channel | None = None) -> None:
        """Tell all sessions that asked for such events, if the bot can see the channel."""
        bot = self._world.bot
        in_dm = channel is not None and channel.is_dm
        guild_id = _guild_of(event, data, channel)
        if channel is not None and not may(bot, channel, Permission.VIEW_CHANNEL):
            return
        needed = EVENT_INTENTS[event][in_dm]
        for session in self.sessions.values():
            if (needed and not session.intents & needed) or not session.has(guild_id):
                continue
            seen = data
            if (
                event in CARRY_CONTENT
                and not in_dm
                and not session.intents & Intent.MESSAGE_CONTENT
            ):
                seen = without_content(data, bot)
            session.emit(event, seen)
        self._journal.note("dispatch", event=event, id=data.get("id"))

    def may_identify(self) -> bool:
        """Count a new session; false while the last one is too recent."""
        now = time.monotonic()
        too_soon = now - self.last_identify < self._limits.identify_window
        if too_soon and self.identifies >= self._limits.identify_concurrency:
            self._journal.note("identify_concurrency")
            return False
        self.last_identify = now
        self.identifies += 1
        return True

    def of(self, shard: int | None) -> list[Connection]:
        """The sockets of a shard; of all with None."""
        return [one for one in self.connections if shard is None or one.shard == shard]

    def cut(self, shard: int | None = None) -> None:
        """Fault: sockets go dead without a close frame; sessions can be resumed."""
        for connection in self.of(shard):
            connection.cut()

    def ask_to_reconnect(self, shard: int | None = None) -> None:
        """Fault: ask clients to reconnect and resume."""
        for connection in self.of(shard):
            connection.post(Opcode.RECONNECT)

    def invalidate(self, *, resumable: bool = False, shard: int | None = None) -> None:
        """Fault: tell clients that their session is invalid."""
        for connection in self.of(shard):
            if connection.session is not None and not resumable:
                self.sessions.pop(connection.session.id, None)
            connection.post(Opcode.INVALID_SESSION, resumable)

    def mute(self, shard: int | None = None) -> None:
        """Fault: sockets stay open, but no event and no heartbeat answer comes any more."""
        for connection in self.of(shard):
            connection.muted = True
            if connection.session is not None:
                connection.session.detach()

    async def close(self, code: CloseCode = CloseCode.UNKNOWN_ERROR) -> None:
        """Fault, or the end: close all sockets with this code."""
        for connection in tuple(self.connections):
            await connection.hang_up(code)


def _guild_of(event: str, data: Payload, channel: Channel | None) -> int:
    """The guild that an event is about, 0 for none."""
    if channel is not None:
        return channel.guild.id if channel.guild else 0
    whose = data.get("id") if event in ABOUT_GUILDS else data.get("guild_id")
    return int(whose or 0)
