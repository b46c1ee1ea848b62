"""The gateway's protocol on one socket: hello, identify, resume, heartbeats and their limits.

Invariant: a client that breaks the protocol is hung up on with the close code that Discord
uses, and never gets a session.
"""

import asyncio
import json
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from aiohttp import WSMsgType, web

from tests.loopback.discord_server.cdn import Address
from tests.loopback.discord_server.gateway import Connection, Gateway, Session
from tests.loopback.discord_server.journal import Journal
from tests.loopback.discord_server.limits import Limits
from tests.loopback.discord_server.model import Guild, Member
from tests.loopback.discord_server.objects import member_payload, own_user_payload
from tests.loopback.discord_server.payloads import Payloads
from tests.loopback.discord_server.wire import (
    APPLICATION_FLAGS,
    KNOWN_INTENTS,
    PRIVILEGED_INTENTS,
    CloseCode,
    Intent,
    Opcode,
    Payload,
)
from tests.loopback.discord_server.world import World, snowflake

READABLE_VERSIONS = frozenset({"9", "10"})
OPEN_TO_ALL = frozenset({Opcode.HEARTBEAT, Opcode.IDENTIFY, Opcode.RESUME})
CLOSE_WAIT = 1.0
"""Seconds that a client has to answer a close frame."""


class HangUp(Exception):
    """The connection must end with this code."""

    def __init__(self, code: CloseCode, reason: str = "") -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


class GatewaySocket:
    """Serves gateway sockets. `granted` are the privileged intents that are switched on."""

    def __init__(
        self,
        *,
        token: str,
        granted: int,
        world: World,
        limits: Limits,
        journal: Journal,
        gateway: Gateway,
        payloads: Payloads,
        address: Address,
    ) -> None:
        self._token = token
        self._granted = granted
        self._world = world
        self._limits = limits
        self._journal = journal
        self._gateway = gateway
        self._payloads = payloads
        self._address = address
        self._operations: Mapping[int, Callable[[Connection, Any], None]] = {
            Opcode.HEARTBEAT: self._heartbeat,
            Opcode.IDENTIFY: self._identify,
            Opcode.RESUME: self._resume,
            Opcode.PRESENCE: self._presence,
            Opcode.REQUEST_MEMBERS: self._request_members,
            Opcode.VOICE_STATE: self._ignore,
            Opcode.REQUEST_SOUNDBOARD: self._ignore,
            Opcode.REQUEST_CHANNEL_INFO: self._ignore,
        }

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Serve one socket until it is closed."""
        if self._gateway.turned_away:
            self._gateway.turned_away -= 1
            self._journal.note("gateway_turned_away")
            return web.Response(status=503)
        socket = web.WebSocketResponse(timeout=CLOSE_WAIT, max_msg_size=1 << 20)
        await socket.prepare(request)
        if request.query.get("v") not in READABLE_VERSIONS:
            await socket.close(code=CloseCode.INVALID_VERSION, message=b"Invalid API version")
            return socket
        # Clients that ask for zstd-stream accept plain text frames as well.
        compress = request.query.get("compress")
        connection = Connection(socket, request, zlib_stream=compress == "zlib-stream")
        self._gateway.connections.add(connection)
        self._journal.note("gateway_open", compress=compress)
        trace = ['["loopback"]']
        hello: Payload = {"heartbeat_interval": self._limits.heartbeat_ms, "_trace": trace}
        connection.post(Opcode.HELLO, hello)
        watchdog = asyncio.get_running_loop().create_task(self._watch(connection))
        try:
            await self._read(connection)
        finally:
            watchdog.cancel()
            await connection.release()
            self._ended(connection)
        return socket

    async def _read(self, connection: Connection) -> None:
        try:
            async for message in connection.socket:
                if message.type not in (WSMsgType.TEXT, WSMsgType.BINARY):
                    return
                self._receive(connection, message.data)
        except HangUp as end:
            await connection.hang_up(end.code, end.reason)

    def _receive(self, connection: Connection, data: str | bytes) -> None:
        raw = data.encode() if isinstance(data, str) else data
        if len(raw) > self._limits.frame_bytes:
            self._journal.violation("gateway frame too large", bytes=len(raw))
            raise HangUp(CloseCode.DECODE_ERROR, "Decode error")
        now = time.monotonic()
        connection.received.append(now)
        while now - connection.received[0] > self._limits.frames_window:
            connection.received.popleft()
        if len(connection.received) > self._limits.frames:
            self._journal.violation("too many gateway frames", frames=len(connection.received))
            raise HangUp(CloseCode.RATE_LIMITED, "Rate limited")
        try:
            frame = json.loads(raw)
        except ValueError:
            raise HangUp(CloseCode.DECODE_ERROR, "Decode error") from None
        opcode = frame.get("op")
        if connection.session is None and opcode not in OPEN_TO_ALL:
            raise HangUp(CloseCode.NOT_AUTHENTICATED, "Not authenticated")
        operation = self._operations.get(opcode)
        if operation is None:
            raise HangUp(CloseCode.UNKNOWN_OPCODE, "Unknown opcode")
        operation(connection, frame.get("d"))

    def _ended(self, connection: Connection) -> None:
        self._gateway.connections.discard(connection)
        session, by_server = connection.session, connection.hung_up is not None
        code = connection.hung_up if by_server else connection.socket.close_code
        self._journal.note(
            "gateway_close",
            code=None if code is None else int(code),
            by_server=by_server,
            session=session.id if session else None,
        )
        if session is None or session.connection is not connection:
            return
        session.detach()
        if not by_server and code in (CloseCode.NORMAL, CloseCode.GOING_AWAY):
            self._gateway.sessions.pop(session.id, None)

    async def _watch(self, connection: Connection) -> None:
        """Hang up on a client that stopped sending heartbeats."""
        while True:
            await asyncio.sleep(1.0)
            allowed = self._limits.heartbeat_ms / 1000 * 1.5 + 1
            if time.monotonic() - connection.last_heartbeat > allowed:
                self._journal.violation("heartbeat missed")
                await connection.hang_up(CloseCode.SESSION_TIMED_OUT, "Session timed out")
                return

    def _heartbeat(self, connection: Connection, data: Any) -> None:
        connection.last_heartbeat = time.monotonic()
        if not connection.muted:
            connection.post(Opcode.HEARTBEAT_ACK)

    def _identify(self, connection: Connection, data: Payload) -> None:
        if connection.session is not None:
            raise HangUp(CloseCode.ALREADY_AUTHENTICATED, "Already authenticated")
        self._authenticate(data)
        intents = int(data.get("intents", 0))
        if intents & ~KNOWN_INTENTS:
            raise HangUp(CloseCode.INVALID_INTENTS, "Invalid intent(s)")
        if intents & PRIVILEGED_INTENTS & ~self._granted:
            raise HangUp(CloseCode.DISALLOWED_INTENTS, "Disallowed intent(s)")
        shard = _shard(data.get("shard"))
        if not self._gateway.may_identify():
            connection.post(Opcode.INVALID_SESSION, False)
            raise HangUp(CloseCode.UNKNOWN_ERROR)
        session = Session(secrets.token_hex(16), intents, shard, replay=self._limits.replay)
        self._gateway.sessions[session.id] = session
        session.attach(connection)
        self._journal.note(
            "identify",
            session=session.id,
            shard=shard[0],
            intents=intents,
            properties=data.get("properties"),
        )
        guilds = [guild for guild in self._world.guilds.values() if session.has(guild.id)]
        ready = self._ready(session, guilds)
        if data.get("shard"):
            ready["shard"] = list(shard)
        session.emit("READY", ready)
        if intents & Intent.GUILDS:
            for guild in guilds:
                session.emit("GUILD_CREATE", self._payloads.guild_create(guild))

    def _authenticate(self, data: Payload) -> None:
        if str(data.get("token", "")).removeprefix("Bot ") != self._token:
            self._journal.note("gateway_authentication_failed")
            raise HangUp(CloseCode.AUTHENTICATION_FAILED, "Authentication failed")

    def _ready(self, session: Session, guilds: Sequence[Guild]) -> Payload:
        application = {"id": str(self._world.application_id), "flags": APPLICATION_FLAGS}
        return {
            "v": 10,
            "user": own_user_payload(self._world.bot),
            "guilds": [{"id": str(guild.id), "unavailable": True} for guild in guilds],
            "session_id": session.id,
            "resume_gateway_url": self._address.gateway,
            "application": application,
            "private_channels": [],
            "presences": [],
            "relationships": [],
            "session_type": "normal",
            "user_settings": {},
            "_trace": [],
        }

    def _resume(self, connection: Connection, data: Payload) -> None:
        self._authenticate(data)
        session = self._gateway.sessions.get(str(data.get("session_id")))
        sequence = int(data.get("seq") or 0)
        if session is None or not self._can_resume(session, sequence):
            self._journal.note("resume_refused")
            connection.post(Opcode.INVALID_SESSION, False)
            return
        if session.connection is not None and session.connection is not connection:
            session.connection.post_close(CloseCode.UNKNOWN_ERROR)
        session.attach(connection)
        replayed = session.replay_after(sequence)
        self._journal.note("resume", session=session.id, shard=session.shard[0], replayed=replayed)
        session.emit("RESUMED", {"_trace": []})

    def _can_resume(self, session: Session, sequence: int) -> bool:
        away = 0.0 if session.lost_at is None else time.monotonic() - session.lost_at
        return away <= self._limits.resume and sequence <= session.sequence

    def _presence(self, connection: Connection, data: Payload) -> None:
        self._journal.note("presence", data=data)

    def _request_members(self, connection: Connection, data: Payload) -> None:
        guild_id = snowflake(data.get("guild_id"), "guild_id")
        guild = self._world.guilds.get(guild_id)
        members = list(guild.members.values()) if guild else []
        wanted = data.get("user_ids")
        if wanted is not None:
            listed = cast("list[Any]", wanted) if isinstance(wanted, list) else [wanted]
            ids = {snowflake(user, "user_ids") for user in listed}
            members = [member for member in members if member.user.id in ids]
        elif data.get("query"):
            members = [m for m in members if _name_starts_with(m, data["query"])]
        assert connection.session is not None
        chunk: Payload = {
            "guild_id": str(guild_id),
            "members": [member_payload(member) for member in members],
            "chunk_index": 0,
            "chunk_count": 1,
            "not_found": [],
            "nonce": data.get("nonce"),
        }
        connection.session.emit("GUILD_MEMBERS_CHUNK", chunk)

    def _ignore(self, connection: Connection, data: Any) -> None:
        """Operations that a client may send and that change nothing here."""


def _shard(declared: Any) -> tuple[int, int]:
    """Which shard a client says that it is, and of how many; the only one if it says nothing."""
    match declared:
        case None:
            return 0, 1
        case [int(number), int(count)] if 0 <= number < count:
            return number, count
        case _:
            raise HangUp(CloseCode.INVALID_SHARD, "Invalid shard")


def _name_starts_with(member: Member, query: str) -> bool:
    names = (member.user.name, member.nick or "")
    return any(name.casefold().startswith(query.casefold()) for name in names)
