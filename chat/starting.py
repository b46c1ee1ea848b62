"""Puts the run of a turn together from its plan and the member's request.

Invariant: what a call may touch, and whose words may not become calls, is settled here, before the
first request.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

from chat.approval import House
from chat.copied import calls_in
from chat.ending import LISTED_WORD
from chat.gather import turn_id_of
from chat.line import place_in_words
from chat.planning import Plan
from chat.ports import History, Presenter, TurnRequest
from chat.replay import foreign
from chat.reply import Reply
from chat.toolwork import ToolWork
from chat.turn import TurnRun
from data.facts import Facts
from providers.base import CallKey
from tools.registry import ToolContext

BUSY = "the model server is busy for a moment"


def turn_run(
    plan: Plan,
    request: TurnRequest,
    history: History,
    reply: Reply,
    presenter: Presenter,
    *,
    house: House,
    facts: Facts,
    slow_after: float,
) -> TurnRun:
    """The run that answers `request` as planned, into `reply`, which `presenter` shows."""

    screen = plan.gathered.moderation.screen
    reply.style = replace(plan.config.style, screen=screen)
    turn, looked_at = asyncio.current_task(), 0

    def changed() -> None:
        nonlocal looked_at
        presenter.changed(reply)
        if screen.ends and turn is not None:
            text = reply.text
            if screen.is_met(text, grows=True, since=looked_at):
                turn.cancel(LISTED_WORD)
            looked_at = len(text)

    def asking(tool: str) -> None:
        reply.waits_for = f"waiting for permission to run {tool}" if tool else ""
        changed()

    snapshot = plan.gathered.snapshot
    context = ToolContext(
        guild_id=request.place.guild_id or 0,
        channel_id=request.place.channel_id,
        member_id=request.member.id,
        message_id=request.message.id,
        now=snapshot.now,
        facts=facts,
        files=history,
        rights=request.rights,
        attachments=plan.gathered.attachments,
    )
    tools = plan.gathered.toolbox.tools
    gate = house.gate(request, asking)
    work = ToolWork(tools, context, reply, changed, gate, repeats=plan.config.repeats)
    documents = [snippet.text for snippet in snapshot.snippets]
    if documents:
        work.hear("\n".join(documents))
    options = replace(
        plan.generation.options(turn_id_of(request.message.id)),
        quoted=calls_in(snapshot.dialogue[-1].text, snapshot.surface),
        copied=frozenset[CallKey]().union(
            *(
                calls_in(text, snapshot.surface)
                for text in (*foreign(snapshot.dialogue[:-1]), *documents)
            )
        ),
        wire=plan.config.wire,
    )
    return TurnRun(
        plan.route.provider,
        work,
        reply,
        changed,
        options,
        slow_after=slow_after,
        on_empty=plan.config.on_empty,
        doubts_template="template_opens_think" not in plan.gathered.stored,
    )


def in_line(reply: Reply, presenter: Presenter) -> Callable[[int], None]:
    """Tells the member a position in the line, from 1. Of 0 the request tells, which goes out at
    once: anything said in between would be a step back."""

    def moved(position: int) -> None:
        reply.waits_for = f"you are {place_in_words(position)} in line" if position else ""
        if position:
            presenter.changed(reply)

    return moved


def pausing(reply: Reply, presenter: Presenter) -> Callable[[float], Awaitable[None]]:
    """Waits so many seconds for an endpoint that is busy, and tells the member."""

    async def pause(seconds: float) -> None:
        reply.waits_for = BUSY
        presenter.changed(reply)
        try:
            await asyncio.sleep(seconds)
        finally:
            reply.waits_for = ""

    return pause
