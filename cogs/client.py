"""The bot's life on Discord: connecting, registering commands, leaving.

Invariant: whatever ends it, the operator reads one message that says what to do, and no
traceback; replies under way end or are marked before the connection closes.
"""

import asyncio
import contextlib
import logging
import signal
import threading
from collections.abc import Callable, Generator
from pathlib import Path
from types import FrameType
from typing import Any

import discord
from discord.ext import commands

from chat.desk import Desk
from chat.watched import SessionFigures
from cogs.actions import ServerActions
from cogs.addressing import addressing_for
from cogs.approval import PATIENCE, Approvals
from cogs.aside import NETWORK_ERRORS
from cogs.asking import Asking
from cogs.catching_up import CatchingUp
from cogs.chat import Chat
from cogs.config import INTENT_LOST, Config
from cogs.delivery import CADENCE
from cogs.departures import Departures
from cogs.details import Details
from cogs.endpoints import Endpoints
from cogs.explain import Explain
from cogs.help import Help
from cogs.knowledge import Knowledge
from cogs.ledger import Ledger
from cogs.leftovers import Leftovers
from cogs.logbook import Logbook
from cogs.mcp import Mcp
from cogs.memory import Memory
from cogs.moderating import ModerationPanel
from cogs.operator import Operator, operators_of
from cogs.pacing import ALL_EDITS, ALL_REQUESTS, outlasting, paced, smoothly
from cogs.permissions import invitation
from cogs.persona import PersonaCommands
from cogs.ports import Meta, Service
from cogs.pressing import ReplyButtons
from cogs.privacy import Privacy
from cogs.probing import Probing
from cogs.queueing import TELL_AFTER
from cogs.reminders import Reminders
from cogs.services import ServiceCommands
from cogs.setup import Setup
from cogs.shards import IDENTIFY_PAUSE, ShardedBot
from cogs.tool import Tool
from cogs.translations.commands import CatalogueTranslator
from cogs.tree import CommandTree, sync_if_changed
from cogs.tuning import TuningCommands
from cogs.usage import usage_cogs
from data.heartbeat import keep_beating

log = logging.getLogger(__name__)

_GATEWAY_ERRORS = (discord.HTTPException, discord.GatewayNotFound, discord.ConnectionClosed)

_AUTHENTICATION_FAILED = 4004
"""The gateway's close code."""

_PATIENCE = 5.0
"""Seconds that turns under way have to end when the bot is stopped."""

_GRACE = 2.0
"""Seconds that they then have to mark their replies."""

_GOODBYE = 1.0
"""Seconds that Discord then has to say goodbye, before the connections are cut."""

_LOGIN_REFUSED = (
    "Discord refuses the token. Make a new one in the Developer Portal (Bot, Reset Token), put it "
    "into DISCORD_TOKEN and start again."
)
_UNREACHABLE = (
    "Discord cannot be reached (%s). Check this machine's network, DNS and proxy, then start again."
)
_REFUSED = "Discord does not let the bot in (%s). Wait a few minutes, then start again."


class VerbatimBot(ShardedBot):
    """The client and its cogs. `reads_all` tells whether it asks for the message content intent."""

    def __init__(
        self,
        service: Service,
        meta: Meta,
        desk: Desk,
        *,
        reads_all: bool = True,
        cadence: float = CADENCE,
        tell_after: float = TELL_AFTER,
        answer_within: float = PATIENCE,
        guild_ready_timeout: float = 2.0,
        identify_pause: float = IDENTIFY_PAUSE,
    ) -> None:
        # It has no voice, so the operator need not hear what voice would need.
        discord.VoiceClient.warn_nacl = discord.VoiceClient.warn_dave = False
        intents = discord.Intents(
            guilds=True, guild_messages=True, dm_messages=True, message_content=reads_all
        )
        super().__init__(
            command_prefix=commands.when_mentioned,
            help_command=None,
            intents=intents,
            tree_cls=CommandTree,
            allowed_mentions=discord.AllowedMentions.none(),
            guild_ready_timeout=guild_ready_timeout,
            identify_pause=identify_pause,
            http_trace=paced(pace := smoothly(ALL_REQUESTS)),
        )
        self._pace = smoothly(ALL_EDITS, within=pace)
        self.http.request = outlasting(self.http.request)
        self._service = service
        self._meta = meta
        self._desk = desk
        self._reads_all = reads_all
        self._cadence = cadence
        self._tell_after = tell_after
        self._answer_within = answer_within
        self._chat: Chat | None = None
        self._sync: asyncio.Task[None] | None = None
        self._leaving: asyncio.Task[None] | None = None

    async def setup_hook(self) -> None:
        """Add the cogs; called once, after login and before the connection."""
        me = self.user
        if me is None:
            raise RuntimeError("setup_hook runs after login, which tells who the bot is")
        if (application := self.application) is not None:
            self._desk.admission.introduce(
                operators_of(application), is_public=application.bot_public
            )
        operator = Operator(self, self._desk.admission)
        addressing = addressing_for(self, me, self._desk)
        tool = Tool(self._service, self.tree, addressing)
        logbook = Logbook(self, self._desk.moderation, self._desk.noted)
        await self.add_cog(logbook)
        approvals = Approvals(
            self._service, self._desk.policies, tool.tool, logbook, patience=self._answer_within
        )
        ledger = Ledger(self._desk.unfinished)
        self._chat = Chat(
            me,
            self._service,
            self._desk.admission,
            operator,
            approvals,
            addressing=addressing,
            ledger=ledger,
            privacy=self._desk.privacy,
            reads_all=self._reads_all,
            logbook=logbook,
            pace=self._pace,
            cadence=self._cadence,
            tell_after=self._tell_after,
        )
        await self.add_cog(self._chat)
        config = Config(
            self._service,
            self._desk.admission,
            self._desk.endpoints,
            reads_all=self._reads_all,
        )
        await self.add_cog(config)
        await self.add_cog(Setup(self._desk, config.config))
        for cog in usage_cogs(self._desk, config.config, reads_all=self._reads_all):
            await self.add_cog(cog)
        await self.add_cog(CatchingUp(self, self._desk.channels, self._chat.on_message))
        await self.add_cog(Endpoints(self._desk.setup, config.config, self._desk.schedulers))
        desk = self._desk
        await self.add_cog(
            PersonaCommands(self, desk.personas, desk.whereabouts, self._service, config.config)
        )
        knowledge = Knowledge(self, me, self._desk.knowledge)
        await self.add_cog(knowledge)
        await self.add_cog(
            ServiceCommands(
                self._desk.services,
                config.config,
                knowledge.knowledge,
                self._desk.knowledge.embeddings_changed,
            )
        )
        await self.add_cog(Probing(self._desk.prober, self._desk.endpoints))
        await self.add_cog(TuningCommands(desk.tuner, self._service, desk.admission, config.config))
        await self.add_cog(tool)
        await self.add_cog(approvals)
        await self.add_cog(ModerationPanel(self._desk.moderation, config.config))
        await self.add_cog(Details(self._service, self._desk.moderation))
        await self.add_cog(ReplyButtons(me, self._chat, self._service, self._desk.turns))
        await self.add_cog(Leftovers(self, self._desk.unfinished, ledger))
        await self.add_cog(Mcp(self, self._desk.mcp))
        await self.add_cog(Explain(self, self._service))
        await self.add_cog(operator)
        await self.add_cog(Privacy(self._desk, self._service))
        await self.add_cog(Departures(self, self._desk.privacy))
        await self.add_cog(Memory(self._desk.privacy.facts))
        await self.add_cog(Asking(self, me, self._chat, self._service, self._desk))
        await self.add_cog(Help(self, self._service, self._desk, reads_all=self._reads_all))
        await self.tree.set_translator(CatalogueTranslator())
        await self.add_cog(Reminders(self, desk.reminding, desk.admission, desk.moderation))
        self._desk.server_tools.connect(ServerActions(self, self._desk.privacy))
        self._sync = asyncio.create_task(sync_if_changed(self.tree, self._meta))

    async def on_message(self, message: discord.Message, /) -> None:
        """No prefix commands: Chat listens, and would see its mentions taken for commands."""

    async def on_ready(self) -> None:
        """Tell the operator who is connected, and how to invite it if nobody did."""
        log.info("Connected as %s; servers: %d.", self.user, len(self.guilds))
        if not self.guilds and self.application_id is not None:
            url = invitation(self.application_id)
            log.warning("The bot is on no server yet. Invite it: %s", url)

    async def close(self) -> None:
        """Let replies end, then disconnect. Takes at most ten seconds; may be called twice."""
        if self._leaving is None:
            self._leaving = asyncio.create_task(self._leave())
        await asyncio.shield(self._leaving)

    async def _leave(self) -> None:
        if self._sync is not None:
            self._sync.cancel()
        if self._chat is not None:
            await self._chat.drain(patience=_PATIENCE, grace=_GRACE)
        closing = asyncio.create_task(super().close())
        await asyncio.wait([closing], timeout=_GOODBYE)
        if not closing.done():
            log.info("Discord does not say goodbye, so the connections are cut.")
            await self.http.close()
            await asyncio.wait([closing], timeout=_GOODBYE / 2)


async def run_bot(
    service: Service,
    meta: Meta,
    desk: Desk,
    *,
    token: str,
    home: Path | None = None,
    sessions: SessionFigures | None = None,
    cadence: float = CADENCE,
    guild_ready_timeout: float = 2.0,
    on_stop: Callable[[], None] = lambda: None,
) -> int:
    """Connect with `token` and stay until the process is told to stop.

    Returns the exit status: 0 after SIGINT or SIGTERM, 1 after a failure that it has logged in
    one line. Without the message content intent it goes on with what it may read. In `home` a
    heartbeat tells those who watch from outside that it is connected; `sessions` look at it.
    `on_stop` is called within the signal's handler.
    """
    _quieten_library()
    stop = asyncio.Event()
    with _signals(stop, on_stop):
        for reads_all in (True, False):
            bot = VerbatimBot(
                service,
                meta,
                desk,
                reads_all=reads_all,
                cadence=cadence,
                guild_ready_timeout=guild_ready_timeout,
            )
            if sessions is not None:
                sessions.look = bot.latencies_by_shard
            try:
                await _stay(bot, token, stop, home)
            except discord.PrivilegedIntentsRequired:
                log.warning("The message content intent is %s", INTENT_LOST)
                continue
            except discord.LoginFailure:
                log.error(_LOGIN_REFUSED)
            except discord.ConnectionClosed as error:
                if error.code == _AUTHENTICATION_FAILED:
                    log.error(_LOGIN_REFUSED)
                else:
                    log.error(_REFUSED, f"close code {error.code}")
            except (discord.HTTPException, discord.GatewayNotFound) as error:
                log.error(_REFUSED, str(error).partition("\n")[0][:200])
            except NETWORK_ERRORS as error:
                log.error(_UNREACHABLE, error)
            else:
                return 0
            return 1
    return 1


async def _stay(bot: VerbatimBot, token: str, stop: asyncio.Event, home: Path | None) -> None:
    """Run `bot` until it fails or `stop` is set; leaves it closed either way."""
    running = asyncio.create_task(bot.start(token))
    stopping = asyncio.create_task(stop.wait())
    tasks: set[asyncio.Task[Any]] = {running, stopping}
    if home is not None:
        tasks.add(asyncio.create_task(keep_beating(home, bot.connected)))
    try:
        await asyncio.wait({running, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if running.done():
            await running
    finally:
        for task in tasks - {running}:
            task.cancel()
        await bot.close()
        running.cancel()
        await asyncio.wait(tasks)


@contextlib.contextmanager
def _signals(stop: asyncio.Event, on_stop: Callable[[], None]) -> Generator[None]:
    """Set `stop` on what ends a process. Plain handlers, because Windows' loop has none."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()

    def handle(number: int, frame: FrameType | None) -> None:
        on_stop()
        loop.call_soon_threadsafe(stop.set)

    names = ("SIGINT", "SIGTERM", "SIGBREAK")  # the last is Windows' word for a closed window
    numbers = [signal.Signals[name] for name in names if name in signal.Signals.__members__]
    before = {number: signal.signal(number, handle) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _quieten_library() -> None:
    """Keep members' words, which discord.py writes at debug level, and the tracebacks of lost
    connections out of the log."""
    library = logging.getLogger("discord")
    library.setLevel(max(logging.INFO, logging.getLogger().level))
    for part in ("discord.client", "discord.shard"):
        logging.getLogger(part).addFilter(_without_traceback)


def _without_traceback(record: logging.LogRecord) -> bool:
    """discord.py logs a lost connection with its traceback; the error's name says as much."""
    error = record.exc_info[1] if record.exc_info else None
    if isinstance(error, (*NETWORK_ERRORS, *_GATEWAY_ERRORS)):
        record.msg = f"{record.getMessage()} ({error!r})"
        record.args, record.exc_info, record.exc_text = (), None, None
    return True
