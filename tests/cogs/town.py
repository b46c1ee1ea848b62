"""Two servers on a loopback Discord with the real bot between them, and two endpoints."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from chat.desk import Desk, open_desk
from chat.service import ChatService, Generation
from cogs.client import VerbatimBot
from data.keys import open_keys
from data.store import Store, open_store
from providers.openai.adapter import Limits, OpenAIProvider
from providers.openai.guilds import guilds_provider
from tests.loopback.discord_server import (
    Bucket,
    Channel,
    Interaction,
    LoopbackDiscord,
    Message,
    Permission,
    Upload,
    User,
)
from tests.loopback.discord_server.pointing import pointed_at
from tests.loopback.endpoint import LoopbackEndpoint
from tools.builtin import builtin_tools
from tools.toolset import Toolset
from tools.worker.process import Worker

OPERATORS_KEY = "operators-key-1234"


class Town:
    """`home` belongs to the operator, `away` to a stranger who runs it with a member's help.

    The operator is a manager of both. `operators` is their endpoint, `theirs` one that is
    somebody else's.
    """

    def __init__(self, server: LoopbackDiscord, home: Path) -> None:
        self.server = server
        self.home_directory = home
        self.operator = server.world.owner
        self.home = server.build.guild("Home")
        self.home_channel = server.build.channel(self.home, "general")
        self.alice = server.build.user("alice", self.home)
        self.operators = LoopbackEndpoint(models=("big", "small"))
        self.theirs = LoopbackEndpoint(models=("own-one", "own-two"))
        self.bot: VerbatimBot
        self.store: Store
        self.desk: Desk

    def build_away(self) -> None:
        """A stranger invites the bot to their server."""
        self.stranger = self.server.build.user("stranger")
        self.away = self.server.build.guild("Away", owner=self.stranger)
        self.away_channel = self.server.build.channel(self.away, "lounge")
        managers = self.server.build.role(
            self.away, "managers", permissions=Permission.MANAGE_GUILD
        )
        self.server.build.member(self.away, self.operator, managers)
        self.bob = self.server.build.user("bob", self.away)

    @property
    def operators_mail(self) -> Channel:
        return self.server.build.direct_messages(self.operator)

    def ask(self, channel: Channel, user: User, text: str) -> Message:
        mention = "" if channel.guild is None else f"{self.server.bot.mention} "
        return self.server.driver.say(channel, user, f"{mention}{text}")

    async def answer(self, asked: Message, *, contains: str = "") -> str:
        """The words of the finished reply to a message."""
        found = await self.server.wait_for_message(
            asked.channel, lambda m: m.reply_to is asked and contains in m.text and bool(m.text)
        )
        return found.text

    async def slash(
        self,
        channel: Channel,
        user: User,
        path: str,
        /,
        **options: str | int | bool | Channel | Upload,
    ) -> Interaction:
        used = self.server.driver.slash(channel, user, path, options)
        return await self.server.driver.answered(used)

    async def said(
        self,
        channel: Channel,
        user: User,
        path: str,
        /,
        **options: str | int | bool | Channel | Upload,
    ) -> str:
        return shown(await self.slash(channel, user, path, **options)).text

    async def submitted(
        self, channel: Channel, user: User, path: str, values: dict[str, str]
    ) -> str:
        """Open the form of a command, submit it, and read what comes of it."""
        opened = await self.slash(channel, user, path)
        sent = self.server.driver.submit(user, opened, values)
        return shown(await self.server.driver.answered(sent)).text

    async def allow(self) -> None:
        """The operator lets the stranger's server use their endpoint."""
        asked = await self.server.wait_for_message(self.operators_mail, lambda _: True)
        await self.server.driver.acknowledged(
            self.server.driver.press(self.operator, asked, "Allow")
        )
        await self.until(lambda: "may use" in asked.text)

    async def looked_at(self) -> None:
        """Wait until the bot has judged whether the servers it is on may use the endpoint."""
        async with asyncio.timeout(10):
            for guild in self.bot.guilds:
                while await self.store.approvals.get(guild.id) is None:
                    await asyncio.sleep(0.01)

    async def until(self, condition: Callable[[], bool]) -> None:
        await self.server.journal.until(condition, timeout=10)


def shown(interaction: Interaction) -> Message:
    message = interaction.original
    assert message is not None
    assert message.ephemeral
    return message


@asynccontextmanager
async def town(
    home: Path,
    *,
    away: bool = False,
    approved: str = "ask",
    dms: str | None = None,
    toolset: Toolset | None = None,
    model: str = "big",
    before: Callable[[LoopbackDiscord], None] = lambda _: None,
) -> AsyncGenerator[Town]:
    """A town with the bot connected. With `away`, the stranger's server was there before; `before`
    changes the server before the bot logs in. `model` is set for the operator's endpoint."""
    async with LoopbackDiscord() as server, open_store(home) as store:
        server.limits.buckets.update(
            dict.fromkeys(server.limits.buckets, Bucket(requests=40, seconds=1.0))
        )
        before(server)
        made = Town(server, home)
        if away:
            made.build_away()
        async with made.operators, made.theirs:
            provider = OpenAIProvider(
                base_url=made.operators.base_url, model=model, api_key=OPERATORS_KEY
            )
            made.store = store
            worker = Worker(processes=1)
            made.desk = open_desk(
                store,
                open_keys(home, None),
                operators=provider,
                with_model=lambda model: OpenAIProvider(
                    base_url=made.operators.base_url, model=model, api_key=OPERATORS_KEY
                ),
                connect=partial(guilds_provider, limits=Limits()),
                approved_guilds="all" if approved == "all" else "ask",
                dms="on" if dms == "on" else "off" if dms == "off" else None,
                worker=worker,
            )
            service = ChatService(
                store=store,
                routes=made.desk.endpoints,
                toolsets=[
                    toolset or builtin_tools(),
                    made.desk.grounder,
                    made.desk.server_tools,
                ],
                generation=Generation(max_reply_tokens=200, temperature=None, context_window=None),
                secrets=[OPERATORS_KEY],
                whereabouts=made.desk.whereabouts,
                grounder=made.desk.grounder,
                schedulers=made.desk.schedulers,
                policies=made.desk.policies,
                usage=made.desk.usage,
            )
            with pointed_at(server):
                made.bot = VerbatimBot(
                    service, store.meta, made.desk, cadence=0.1, guild_ready_timeout=0.1
                )
                running = asyncio.create_task(made.bot.start(server.token))
                await server.wait_for(lambda record: record.kind == "identify")
                await made.bot.wait_until_ready()
                await server.wait_for(lambda record: record.kind == "commands")
                try:
                    if approved != "all":  # then nobody is judged
                        await made.looked_at()
                    yield made
                finally:
                    await made.bot.close()
                    await asyncio.wait([running])
                    await made.desk.knowledge.close()
                    await made.desk.endpoints.close()
                    await worker.close()
                    await provider.close()
        assert server.violations() == []
