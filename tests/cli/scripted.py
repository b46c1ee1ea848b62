"""A turn service that plays a script, for driving the console without an endpoint."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from chat.account import PromptSnapshot
from chat.ending import STOPPED
from chat.overview import ToolListing
from chat.ports import ChannelMessage, History, Member, Place, Presenter, TurnRequest
from chat.reply import Reply, ToolRun
from prompt.values import Outcome, Span, ToolCall, ToolResult

Step = Callable[[Reply], Awaitable[None] | None]


@dataclass(slots=True, kw_only=True)
class Scripted:
    """Plays one script a turn, telling the presenter after every step, and keeps what it saw."""

    scripts: list[Sequence[Step]]
    listing: Sequence[ToolListing] = ()
    requests: list[TurnRequest] = field(default_factory=list[TurnRequest])
    pasts: list[Sequence[ChannelMessage]] = field(default_factory=list[Sequence[ChannelMessage]])
    reply_ids: list[Sequence[int]] = field(default_factory=list[Sequence[int]])
    cancelled: int = 0

    async def respond(self, request: TurnRequest, history: History, presenter: Presenter) -> None:
        self.requests.append(request)
        self.pasts.append(await history.read(before=request.message.id, after=None, limit=50))
        reply = Reply()
        try:
            for step in self.scripts.pop(0):
                if (pending := step(reply)) is not None:
                    await pending
                presenter.changed(reply)
                await asyncio.sleep(0)
        except asyncio.CancelledError:
            self.cancelled += 1
            reply.state = "done"
            reply.notices.append(STOPPED)
            self.reply_ids.append(await presenter.finish(reply))
            raise
        if reply.state != "failed":
            reply.state = "done"
        self.reply_ids.append(await presenter.finish(reply))

    async def snapshot(
        self, place: Place, member: Member, history: History, newest: int
    ) -> PromptSnapshot:
        past = await history.read(before=newest + 1, after=None, limit=50)
        text = f"prompt of {member.name} with {len(past)} messages"
        return PromptSnapshot(text=text, json="{}", prefix_hash="")

    async def tools(self, guild_id: int | None) -> Sequence[ToolListing]:
        return self.listing


def write(text: str, span: Span | None = None) -> Step:
    """The model writes; `span` is needed where it is to be taken back."""

    def step(reply: Reply) -> None:
        reply.state = "writing"
        reply.write(text, span)

    return step


def take_back(span: Span) -> Step:
    """What was written turns out to be reasoning."""
    return lambda reply: reply.take_back(span)


def awaiting(what: str) -> Step:
    """The turn waits for something that may take long."""

    def step(reply: Reply) -> None:
        reply.waits_for = what

    return step


def pause(seconds: float) -> Step:
    """Nothing comes for a while."""
    return lambda _reply: asyncio.sleep(seconds)


def call(name: str, arguments: str) -> Step:
    """A tool begins to run; what the model wrote before it may still be taken back."""

    def step(reply: Reply) -> None:
        reply.state = "tool"
        made = ToolCall(
            id=f"call{len(reply.runs)}",
            name=name,
            arguments={},
            raw_arguments=arguments,
            origin="text",
        )
        reply.runs.append(ToolRun(call=made))

    return step


def result(text: str, outcome: Outcome = "ok") -> Step:
    """The oldest running tool ends, and the round with it."""

    def step(reply: Reply) -> None:
        reply.next_round()
        run = reply.running[0]
        run.result = ToolResult(call_id=run.call.id, name=run.call.name, text=text, outcome=outcome)

    return step


def fail(notice: str, remedy: str) -> Step:
    """The turn ends without an answer."""

    def step(reply: Reply) -> None:
        reply.state = "failed"
        reply.notices.append(notice)
        reply.remedy = remedy

    return step


def tool(
    name: str, description: str, *, enabled: bool = True, why: str = "built in"
) -> ToolListing:
    """A tool for the list."""
    return ToolListing(
        name=name,
        description=description,
        enabled=enabled,
        why=why,
        read_only=True,
        source="builtin",
    )
