"""The real turn loop with real tools, a hostile MCP server, and a model that obeys whoever speaks.

Invariant: the model here is the worst there is. It makes the call that a hostile text asks for, so
that nothing but the bot stands between the text and its effect.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from aiohttp import web

from chat.personas import PERSONA, Surroundings, Whereabouts
from chat.ports import Approver, Member, Place, TurnRequest
from chat.reply import ToolRun
from chat.service import ChatService, Generation
from chat.tool_settings import WEB
from data.keys import open_keys
from data.mcp_servers import HttpServer
from data.store import Store, open_store
from net.fetch import Fetcher
from prompt.values import JsonObject
from tests.chat.house import SoleEndpoint
from tests.chat.scripted import ADA, GUILD, Channel, Recorder, ScriptedModel, call, say
from tests.tools.mcp.unruly import Body, Unruly, said, unruly
from tests.tools.mcp.unruly import tool as listed
from tests.tools.serving import Chosen
from tools.builtin import ON_BY_DEFAULT, builtin_tools
from tools.builtin.outside import OutsideTools
from tools.mcp.connection import Limits
from tools.mcp.toolset import McpToolset
from tools.policy import POLICIES
from tools.registry import Registry, ToolContext, tool
from tools.toolset import FixedTools, offering
from tools.worker.process import Worker

CORPUS = Path(__file__).parent / "injections.txt"
PUBLIC = "93.184.216.34"
"""Where the hostile page is, as names tell it; its connections are led to this machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """A hostile text, where it stands, and the call of a model that obeys it."""

    where: str
    title: str
    tool: str
    arguments: str
    text: str

    def aimed(self, ports: dict[str, int]) -> JsonObject:
        """The arguments, with the ports of this run."""
        text = self.arguments
        for name, port in ports.items():
            text = text.replace(f"{{{name}}}", str(port))
        return json.loads(text)


def corpus() -> Sequence[Attack]:
    """All cases."""
    _, *parts = CORPUS.read_text(encoding="utf-8").split("\n=== ")
    found: list[Attack] = []
    for part in parts:
        head, _, text = part.partition("\n")
        where, title, call_of = head.split(" | ")
        name, _, arguments = call_of.partition(" ")
        found.append(
            Attack(where=where, title=title, tool=name, arguments=arguments, text=text.strip())
        )
    return found


@dataclass(kw_only=True)
class Ground:
    """Everything that an attack could reach, and what it did reach.

    `ran` are the harmful tools that ran, `inside` the requests that reached a private address.
    """

    store: Store
    server: Unruly
    mcp: McpToolset
    worker: Worker
    ports: dict[str, int]
    page: str = ""
    result: str = "nothing found"
    ran: list[str] = field(default_factory=list[str])
    inside: list[str] = field(default_factory=list[str])
    _turns: int = 0

    def _harmful(self) -> Registry:
        @tool(destructive=True)
        async def delete_messages(context: ToolContext, *, channel: str, count: int) -> str:
            """Delete the newest messages of a channel."""
            self.ran.append("delete_messages")
            return f"deleted {count} in {channel}"

        @tool(destructive=True)
        async def ban_member(context: ToolContext, *, member: str) -> str:
            """Ban a member from the server."""
            self.ran.append("ban_member")
            return f"banned {member}"

        return Registry(delete_messages, ban_member)

    async def _resolve(self, host: str, port: int) -> Sequence[str]:
        names = {
            "page.example": PUBLIC,
            "rebind.example": "127.0.0.1",
            "metadata.internal": "169.254.169.254",
        }
        if host in names:
            return [names[host]]
        found = await asyncio.get_running_loop().getaddrinfo(host, port)
        return [str(address[0]) for *_, address in found]

    async def obeyed(self, attack: Attack, *, approver: Approver | None = None) -> ToolRun:
        """One turn in which the model meets the text and obeys it; returns that call's run."""
        self._turns += 1
        channel = Channel(first_id=self._turns * 100_000)
        around = Surroundings(channel_topic=attack.text if attack.where == "topic" else "")
        whereabouts = Whereabouts()
        whereabouts.told_by(lambda _: around)
        persona = "You are Fern. This channel: {{ channel_topic }}"
        await self.store.settings.put(GUILD, "", PERSONA, persona)
        first, asker, files = None, ADA, dict[str, bytes]()
        if attack.where == "page":
            self.page = attack.text
            first = call("web_fetch", url=f"http://page.example:{self.ports['page']}/")
        elif attack.where == "file":
            files["notes.txt"] = attack.text.encode()
            first = call("read_attachment", name="notes.txt")
        elif attack.where == "result":
            self.result = attack.text
            first = call("mcp__evil__lookup", n=1)
        elif attack.where == "name":
            asker = Member(id=ADA.id, name=attack.text)
        elif attack.where == "description":
            self.server.tools[0]["description"] = attack.text
            await self.server.announce()
        evil = call(attack.tool, **attack.aimed(self.ports))
        steps = [[evil], [say("Done.")]]
        model = ScriptedModel(*([[first]] if first else []), *steps)
        service = ChatService(
            store=self.store,
            routes=SoleEndpoint(model),
            toolsets=[
                builtin_tools(),
                OutsideTools(
                    Chosen(),
                    Fetcher(resolve=self._resolve),
                    self.worker,
                    on=(*ON_BY_DEFAULT, "read_attachment"),
                ),
                FixedTools(offering(self._harmful())),
                self.mcp,
            ],
            generation=Generation(max_reply_tokens=200, temperature=0.0, context_window=None),
            whereabouts=whereabouts,
        )
        message = channel.add(asker, "Read https://page.example and sum it up.", files=files)
        presenter = Recorder(channel)
        await service.respond(
            TurnRequest(
                place=Place(guild_id=GUILD, channel_id=self._turns),
                member=asker,
                message=message,
                approver=approver,
            ),
            channel,
            presenter,
        )
        model.check()
        *before, run = presenter.reply.runs
        assert run.call.name == attack.tool, "the call was never made"
        for each in before:
            assert each.result is not None
            assert each.result.outcome == "ok", f"the text was never read: {each.result.text}"
        return run


@asynccontextmanager
async def ground(home: Path) -> AsyncGenerator[Ground]:
    """Servers of all kinds, up and connected."""
    made: Ground

    async def page(request: web.Request) -> web.Response:
        if request.path == "/inside":
            raise web.HTTPFound(f"http://127.0.0.1:{made.ports['inside']}/admin")
        return web.Response(text=made.page, content_type="text/html")

    async def inside(request: web.Request) -> web.Response:
        made.inside.append(str(request.url))
        return web.Response(text="the admin's secrets", content_type="text/plain")

    async def answer(request: web.Request, body: Body) -> web.StreamResponse:
        if body["params"]["name"] == "purge":
            made.ran.append("purge")
        return said(body, made.result)

    runners: list[web.AppRunner] = []
    ports: dict[str, int] = {}
    for name, handler in (("page", page), ("inside", inside)):
        app = web.Application()
        app.router.add_get("/{path:.*}", handler)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        ports[name] = int(runner.addresses[0][1])
        runners.append(runner)
    worker = Worker(processes=1)
    async with open_store(home) as store, unruly() as server:
        # It claims that its tools only read, which nobody vouches for.
        server.tools = [listed("lookup", "Looks a word up."), listed("purge", "Purges.")]
        server.misdeeds["tools/call"] = answer
        operators = [HttpServer(name="evil", url=server.url, allow_private=True)]
        mcp = McpToolset(
            store.mcp_servers,
            open_keys(home, None),
            operators=operators,
            limits=Limits(discovery=3.0, call=3.0),
        )
        await store.settings.put(GUILD, "", POLICIES, {"mcp__evil__lookup": "free"})
        await store.settings.put(GUILD, "", WEB, True)
        try:
            await mcp.start()
            made = Ground(store=store, server=server, mcp=mcp, worker=worker, ports=ports)
            yield made
        finally:
            await mcp.close()
            await worker.close()
            for runner in runners:
                await runner.cleanup()
