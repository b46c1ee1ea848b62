"""Keeps one server connected, and carries calls to it.

Invariant: everything of a connection is entered, used for listing and left in one task, the owner;
whoever calls waits at a future and never longer than the limits. What was listed last stays known
while the server is away.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Literal, TypeAlias

from mcp import MCPError, types

from prompt.values import Json
from tools.mcp.cleaning import clean
from tools.mcp.link import Changed, Link
from tools.mcp.listing import list_tools, listen
from tools.mcp.vetting import VettedTool, vetted
from tools.mcp.words import in_words
from tools.registry import ToolFailure, ToolUnavailable

log = logging.getLogger(__name__)

State: TypeAlias = Literal["connecting", "connected", "waiting", "stopped"]
"""`waiting` stands between two attempts."""

_BETWEEN_LISTS = 1.0
"""Seconds from one list of tools to the next, however often they change."""

_LONGEST_LOGGED = 100

_HEALTHY_AFTER = 30.0
"""Seconds that a connection must last for the next one to be made at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Seconds: for connecting and listing, for one call, and at most between two attempts."""

    discovery: float = 10.0
    call: float = 30.0
    pause: float = 300.0


Open: TypeAlias = Callable[[Changed], AbstractAsyncContextManager[Link]]


@dataclass(slots=True, kw_only=True, eq=False)
class _Call:
    tool: str
    arguments: Mapping[str, Json]
    answer: asyncio.Future[types.CallToolResult]
    task: asyncio.Task[None] | None = None


class _Forgotten(Exception):
    """The server does not know the session any more, and so has not taken the call."""


class Connection:
    """One server. `opens` opens it; `tools` are those that it listed the last time, and `listed` is
    awaited with those that it lists, when they are others. `sleep` waits between two attempts, and
    `clock` tells how long a connection lasted.

    `error` says what went wrong last, `took` how many seconds connecting and listing took.
    """

    def __init__(
        self,
        name: str,
        opens: Open,
        *,
        limits: Limits | None = None,
        tools: tuple[VettedTool, ...] = (),
        listed: Callable[[tuple[VettedTool, ...]], Awaitable[None]] | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = name
        self.state: State = "stopped"
        self.error = ""
        self.tools = tools
        self.took: float | None = None
        self._opens = opens
        self._listed = listed
        self._limits = limits or Limits()
        self._sleep = sleep
        self._clock = clock
        self._owner: asyncio.Task[None] | None = None
        self._settled = asyncio.Event()
        self._wake = asyncio.Event()
        self._news = asyncio.Event()
        self._queue: asyncio.Queue[_Call | None] = asyncio.Queue()  # None: leave
        self._running: set[_Call] = set()
        self._reached = False
        self._healthy = False

    @property
    def is_new(self) -> bool:
        """Whether it is being connected to and never was before, nor failed to be, so that it is
        not known which tools it has."""
        unknown = self.took is None and not self.error and not self.tools
        return self.state == "connecting" and unknown

    def start(self) -> None:
        """Connect, in the background; nothing happens if it does already."""
        if self._owner is None:
            self._connecting()
            self._owner = asyncio.create_task(self._own())

    async def stop(self) -> None:
        """Disconnect. What was listed stays known."""
        owner, self._owner = self._owner, None
        self.state = "stopped"
        self._settled.set()
        if owner is not None:
            owner.cancel()
            # A program is given some seconds to leave; a server that hangs is left alone then.
            await asyncio.wait({owner}, timeout=self._limits.discovery)

    def retry(self) -> None:
        """Make the next attempt now, if one is waited for."""
        if self.state == "waiting":
            self._connecting()
            self._wake.set()

    async def settled(self) -> None:
        """Return once it is known whether the server is there; no later than the limit, and at
        once except while it is connected to."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._limits.discovery):
                await self._settled.wait()

    async def call(self, tool: str, arguments: Mapping[str, Json]) -> types.CallToolResult:
        """What the server answers. Cancelling tells the server.

        Raises ToolUnavailable if it is not there, ToolFailure if it does not do it.
        """
        # A server that has forgotten the session is asked once more, with a new one.
        for _ in range(2):
            await self.settled()
            if self.state != "connected":
                raise ToolUnavailable(f"The MCP server {self.name} is not there: {self.error}")
            with contextlib.suppress(_Forgotten):
                return await self._ask(tool, arguments)
        raise ToolUnavailable(f"The MCP server {self.name} forgets every session at once.")

    async def _ask(self, tool: str, arguments: Mapping[str, Json]) -> types.CallToolResult:
        answer: asyncio.Future[types.CallToolResult] = asyncio.get_running_loop().create_future()
        call = _Call(tool=tool, arguments=arguments, answer=answer)
        self._queue.put_nowait(call)
        try:
            async with asyncio.timeout(self._limits.call):
                return await answer
        except TimeoutError:
            raise ToolFailure(
                f"The MCP server {self.name} did not answer within {self._limits.call:g} seconds."
            ) from None
        finally:
            if call.task is not None:
                call.task.cancel()

    # Below is the owner's; _serve, _watch and _renew are tasks that it starts and outlives.

    async def _own(self) -> None:
        failures, told = 0, ""
        while True:
            began, self._reached, self._healthy = self._clock(), False, False
            try:
                await self._attempt()
            except Exception as error:  # a server's faults are of every kind
                self.error = in_words(error)
            if self._owner is not asyncio.current_task():
                return  # stopped; what the SDK raises while it is left can hide the cancelling
            if self.error != told:
                told = self.error
                log.warning("MCP server %s: %s", self.name, told)
            lasted = self._reached and self._clock() - began >= _HEALTHY_AFTER
            failures = 0 if self._healthy or lasted else failures + 1
            if self._reached and failures <= 1:
                self._connecting()
            else:
                await self._pause(min(2.0 ** (failures - 1), self._limits.pause))

    async def _attempt(self) -> None:
        """One connection, from its beginning to its end."""
        began = self._clock()
        async with contextlib.AsyncExitStack() as stack:
            async with asyncio.timeout(self._limits.discovery):
                link = await stack.enter_async_context(self._opens(self._list_changed))
                await self._list(link)
            self.took = self._clock() - began
            self._queue = asyncio.Queue()
            helpers = [
                asyncio.create_task(self._watch(link)),
                asyncio.create_task(self._renew(link)),
                asyncio.create_task(listen(link.client, self._list_changed)),
            ]
            self.state, self.error, self._reached = "connected", "", True
            self._settled.set()
            log.info("MCP server %s is connected, with %d tools.", self.name, len(self.tools))
            try:
                while (call := await self._queue.get()) is not None:
                    if not call.answer.done():
                        self._running.add(call)
                        call.task = asyncio.create_task(self._serve(link, call))
            finally:
                for helper in helpers:
                    helper.cancel()
                if self._owner is asyncio.current_task():  # else it was stopped
                    self._connecting()
                self._abandon()

    async def _serve(self, link: Link, call: _Call) -> None:
        try:
            result = await link.client.session.send_request(
                # Not `call_tool`, which checks answers against the server's own schemas, whose
                # regular expressions could take forever.
                types.CallToolRequest(
                    params=types.CallToolRequestParams(
                        name=call.tool, arguments=dict(call.arguments)
                    )
                ),
                types.CallToolResult,
            )
        except Exception as error:
            self._fail(link, call, error)
        else:
            self._healthy = True
            if not call.answer.done():
                call.answer.set_result(result)
        finally:
            self._running.discard(call)

    def _fail(self, link: Link, call: _Call, error: Exception) -> None:
        failure: Exception
        if link.forgotten.is_set():
            self._leave("It does not know the session any more.")
            failure = _Forgotten()
        elif isinstance(error, MCPError) and error.code == types.CONNECTION_CLOSED:
            self._leave(in_words(error))
            failure = ToolUnavailable(f"The MCP server {self.name} broke off. {self.error}")
        elif isinstance(error, MCPError) and (said := link.refusal()):
            failure = ToolUnavailable(f"The MCP server {self.name} is not there: {said}")
        else:
            self._healthy = True
            failure = ToolFailure(f"The MCP server {self.name} refused. {in_words(error)}")
        if not call.answer.done():
            call.answer.set_exception(failure)

    async def _watch(self, link: Link) -> None:
        await link.ended.wait()
        self._leave("It has ended.")

    async def _renew(self, link: Link) -> None:
        """Read the list again when it has changed, but not as often as a server may wish."""
        while True:
            await self._news.wait()
            self._news.clear()
            try:
                async with asyncio.timeout(self._limits.discovery):
                    await self._list(link)
            except Exception as error:
                self._leave(in_words(error))
                return
            await asyncio.sleep(_BETWEEN_LISTS)

    async def _list(self, link: Link) -> None:
        tools = vetted(await list_tools(link.client))
        if tools != self.tools:
            self._warn_of_dropped(tools)
            if self._listed is not None:
                await self._listed(tools)  # before any turn sees them
        self.tools = tools

    def _warn_of_dropped(self, tools: Iterable[VettedTool]) -> None:
        for tool in tools:
            if tool.dropped:
                name = clean(tool.name, most=_LONGEST_LOGGED)
                what = clean(", ".join(tool.dropped), most=_LONGEST_LOGGED)
                log.warning(
                    "MCP server %s: the tool %s is offered without %s: no valid schema.",
                    *(self.name, name, what),
                )

    async def _list_changed(self) -> None:
        self._news.set()

    def _leave(self, why: str) -> None:
        """Give this connection up; the owner makes another one."""
        self.error = why
        self._connecting()
        self._queue.put_nowait(None)

    def _abandon(self) -> None:
        """Answer whoever still waits: the connection has ended."""
        waiting = list(self._running)
        while not self._queue.empty():
            item = self._queue.get_nowait()
            if item is not None:
                waiting.append(item)
        for call in waiting:
            if not call.answer.done():
                call.answer.set_exception(
                    ToolUnavailable(f"The MCP server {self.name} broke off during the call.")
                )
            if call.task is not None:
                call.task.cancel()

    def _connecting(self) -> None:
        self.state = "connecting"
        self._settled.clear()
        self._wake.clear()

    async def _pause(self, seconds: float) -> None:
        self.state = "waiting"
        self._settled.set()
        waits = [
            asyncio.ensure_future(self._sleep(seconds)),
            asyncio.create_task(self._wake.wait()),
        ]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
        self._connecting()
