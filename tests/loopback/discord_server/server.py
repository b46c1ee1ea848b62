"""A Discord on 127.0.0.1: REST and gateway of API version 10, interactions and file delivery.

Invariant: it listens on a loopback address only, and when its context is left nothing of it
runs on.
"""

import secrets
from collections.abc import Callable
from dataclasses import dataclass

from aiohttp import web

from tests.loopback.discord_server.builder import Builder
from tests.loopback.discord_server.cdn import Address
from tests.loopback.discord_server.control import Control
from tests.loopback.discord_server.core import Core
from tests.loopback.discord_server.driver import Driver
from tests.loopback.discord_server.faults import Faults
from tests.loopback.discord_server.gateway import Gateway
from tests.loopback.discord_server.gateway_socket import GatewaySocket
from tests.loopback.discord_server.journal import Journal, Record
from tests.loopback.discord_server.limits import Limits
from tests.loopback.discord_server.model import Channel, Message, User
from tests.loopback.discord_server.rest import ROUTES
from tests.loopback.discord_server.rest.router import Router
from tests.loopback.discord_server.wire import PRIVILEGED_INTENTS, CloseCode
from tests.loopback.discord_server.world import World

SHUTDOWN_WAIT = 1.0
"""Seconds that requests in progress get when the server stops."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A span of the journal's clock, in seconds."""

    start: float
    end: float


class LoopbackDiscord:
    """The whole server, as an async context manager.

    `build` sets the scene and `driver` acts as members; `faults` and `gateway` make trouble;
    `journal` tells what happened. `granted_intents` are the privileged intents that the
    application may ask for.
    """

    def __init__(
        self,
        *,
        port: int = 0,
        limits: Limits | None = None,
        token: str | None = None,
        granted_intents: int = PRIVILEGED_INTENTS,
    ) -> None:
        address = Address(host="127.0.0.1", port=port)
        self._core = Core.wire(
            token=token or f"loopback.{secrets.token_urlsafe(28)}",
            granted=int(granted_intents),
            limits=limits or Limits(),
            address=address,
        )
        self.driver = Driver(self._core)
        self._runner: web.AppRunner | None = None

    async def __aenter__(self) -> "LoopbackDiscord":
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    @property
    def token(self) -> str:
        """The bot's token."""
        return self._core.token

    @property
    def address(self) -> Address:
        """Where the server listens, once it has been started."""
        return self._core.address

    @property
    def limits(self) -> Limits:
        """The limits in force; a test may change them at any time."""
        return self._core.limits

    @property
    def world(self) -> World:
        """All that exists."""
        return self._core.world

    @property
    def bot(self) -> User:
        """The bot's user."""
        return self._core.world.bot

    @property
    def build(self) -> Builder:
        """Adds to the world."""
        return self._core.build

    @property
    def journal(self) -> Journal:
        """What happened."""
        return self._core.journal

    @property
    def faults(self) -> Faults:
        """Trouble for REST requests."""
        return self._core.faults

    @property
    def gateway(self) -> Gateway:
        """Sessions and sockets, with trouble for them."""
        return self._core.gateway

    async def start(self) -> None:
        """Listen; afterwards `address` holds the port."""
        core = self._core
        router = Router(core, ROUTES)
        socket = GatewaySocket(
            token=core.token,
            granted=core.granted,
            world=core.world,
            limits=core.limits,
            journal=core.journal,
            gateway=core.gateway,
            payloads=core.payloads,
            address=core.address,
        )
        application = web.Application(client_max_size=core.limits.request_bytes + 1024)
        application.router.add_get("/gateway", socket.handle)
        application.router.add_get("/gateway/", socket.handle)
        application.router.add_route("*", r"/api/v{version:9|10}/{tail:.*}", router.handle)
        application.router.add_get(r"/attachments/{channel:\d+}/{file:\d+}/{name}", core.cdn.handle)
        application.router.add_post("/_control/{action}", Control(core, self.driver).handle)
        self._runner = web.AppRunner(application, access_log=None, shutdown_timeout=SHUTDOWN_WAIT)
        await self._runner.setup()
        await web.TCPSite(self._runner, core.address.host, core.address.port).start()
        core.address.port = self._runner.addresses[0][1]

    async def stop(self) -> None:
        """Hang up on everyone and stop listening."""
        self._core.interactions.close()
        await self._core.gateway.close(CloseCode.GOING_AWAY)
        if self._runner is not None:
            await self._runner.cleanup()

    def messages(self, channel: Channel) -> list[Message]:
        """A channel's messages, oldest first, as everyone there sees them."""
        return list(channel.messages.values())

    def violations(self) -> list[Record]:
        """What the bot did that Discord would not stand."""
        return self._core.journal.violations()

    def typing(self, channel: Channel) -> list[Interval]:
        """When members saw the bot typing: until a while passed, or until it sent a message."""
        intervals: list[Interval] = []
        for record in self._core.journal:
            if record.get("channel") != channel.id:
                continue
            showing = bool(intervals) and intervals[-1].end > record.at
            if record.kind == "typing":
                start = intervals.pop().start if showing else record.at
                end = record.at + self._core.limits.typing
                intervals.append(Interval(start=start, end=end))
            elif record.kind == "message" and record["author"] == self.bot.id and showing:
                intervals.append(Interval(start=intervals.pop().start, end=record.at))
        return intervals

    async def wait_for(
        self, matches: Callable[[Record], bool], *, timeout: float = 10.0, since: int = 0
    ) -> Record:
        """The first record of the journal, from position `since` on, that matches."""
        return await self._core.journal.wait_for(matches, timeout=timeout, since=since)

    async def wait_for_message(
        self, channel: Channel, matches: Callable[[Message], bool], *, timeout: float = 10.0
    ) -> Message:
        """The first message of the bot in a channel that matches, as it is or comes to be."""

        def found() -> Message | None:
            own = (m for m in channel.messages.values() if m.author is self.bot)
            return next((message for message in own if matches(message)), None)

        await self._core.journal.until(lambda: found() is not None, timeout=timeout)
        message = found()
        assert message is not None
        return message
