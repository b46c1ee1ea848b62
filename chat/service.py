"""Answers messages: the one door through which a surface starts a turn or asks about one.

Invariant: a turn's trouble never leaves as an exception; it ends in the reply. Only
cancellation passes through, after what there is has been shown and stored.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from chat.account import PromptSnapshot
from chat.administered import Administered
from chat.approval import House, Policies
from chat.attempts import Begun, in_order
from chat.config import parallelism
from chat.details import details, recorded_runs, thought
from chat.ending import end_failed, end_stopped
from chat.endpoints import Route, Routes
from chat.explaining import Explanation, explanation
from chat.gather import Gatherer, turn_id_of
from chat.generation import Generation
from chat.knowledge import Grounder, Grounding
from chat.metering import UsageRecorder
from chat.noticing import learn_from
from chat.personas import Whereabouts
from chat.planning import Plan
from chat.ports import ChannelMessage, History, Member, Place, Presenter, TurnRequest
from chat.recording import RecordedRun, Recordings
from chat.replay import replayable
from chat.reply import Reply
from chat.scheduler import Lease, Scheduler, Schedulers
from chat.showing import Showing
from chat.sources import cited
from chat.starting import in_line, pausing, turn_run
from chat.switchboard import Switchboard
from chat.tokenizing import Tokenizers
from chat.toolbox import Toolboxes
from chat.turn import SLOW_AFTER
from chat.usage import UsageLedger
from chat.warming import Unread, warm_up
from data.database import to_the_end
from data.errors import StoreError
from data.store import Store
from data.turns import StoredTurn
from prompt.prompt import Prompt
from prompt.snapshot import PromptTooLarge
from providers.base import ContextTooLong, EndpointError, Replan, ToolsRefused
from tools.toolset import Toolset

log = logging.getLogger(__name__)

PERSONA = (
    "You are Verbatim, a friendly assistant in a Discord server. Answer helpfully and to the "
    "point, in the language of the person who asks."
)


def _now() -> datetime:
    return datetime.now(UTC)


class ChatService(Administered):
    """Turns, snapshots and switches, each for the endpoint that `routes` gives a guild.

    `secrets` are blotted out of what is shown. `clock` tells the time of a turn, in UTC.
    `slow_after` is how many seconds pass without a first token before the member is told so.
    `toolsets` are where tools come from, those of the earlier one first. `is_operator` tells
    whether a user runs this bot. `grounder` finds what guilds' documents say; without one, by words
    alone.
    """

    def __init__(
        self,
        *,
        store: Store,
        routes: Routes,
        toolsets: Sequence[Toolset],
        generation: Generation,
        persona: str | None = None,
        secrets: Sequence[str] = (),
        clock: Callable[[], datetime] = _now,
        slow_after: float = SLOW_AFTER,
        is_operator: Callable[[int], bool] = lambda _: False,
        schedulers: Schedulers | None = None,
        usage: UsageRecorder | None = None,
        whereabouts: Whereabouts | None = None,
        grounder: Grounder | None = None,
        policies: Policies | None = None,
    ) -> None:
        self._store = store
        self._routes = routes
        self._generation = generation
        self._secrets = tuple(secrets)
        self._clock = clock
        self._slow_after = slow_after
        self._toolboxes = Toolboxes(store=store, toolsets=toolsets)
        self._board = Switchboard(
            store=store,
            routes=routes,
            toolboxes=self._toolboxes,
            generation_of=self._generation_of,
            is_operator=is_operator,
            resting=lambda route: self._scheduler(route).breaker.resting,
        )
        self._house = House(policies=policies or Policies(store=store))
        self._schedulers = schedulers or Schedulers()
        self._usage = usage or UsageLedger(store)
        self._grounder = grounder or Grounder(store.knowledge)
        self._recordings = Recordings()
        self._showing = Showing(secrets)
        self._tokenizers = Tokenizers()
        where = whereabouts or Whereabouts()
        self._gatherer = Gatherer(store=store, persona=persona or PERSONA, whereabouts=where)

    async def claim(self, message_id: int) -> bool:
        """True exactly once for a message, over restarts."""
        return await self._store.claims.claim(message_id)

    async def respond(self, request: TurnRequest, history: History, presenter: Presenter) -> None:
        """Answer `request`; `presenter.finish` has been awaited when this returns or raises.

        Cancelling during the last steps, showing and storing, lets them end first. What the
        presenter itself raises passes through: the surface knows its own trouble best.
        """
        reply = Reply()
        begun: Begun | None = None
        grounding: Grounding | None = None
        now = self._clock()

        async def attempt(route: Route) -> None:
            nonlocal begun, grounding
            # Switches and verdicts are kept by model, so its name comes first.
            if not route.provider.model:
                with self._scheduler(route).breaker.request():
                    await route.provider.resolve_model()
            grounding = grounding or await self._grounder.of(request.place)
            plan = await self._plan(
                route,
                request.place,
                history,
                newest=request.message.id,
                asked=request.message,
                grounding=grounding,
                now=now,
            )
            begun = (
                Begun(
                    route,
                    plan,
                    turn_run(
                        plan,
                        request,
                        history,
                        reply,
                        presenter,
                        house=self._house,
                        facts=self._store.facts,
                        slow_after=self._slow_after,
                    ),
                )
                if begun is None
                else await begun.moved(route, plan)
            )
            await self._answer(begun, request, reply, presenter)

        try:
            await in_order(
                self._routes,
                request.place,
                attempt,
                may_go_on=lambda: begun is None or not begun.run.has_shown_words,
                pause=pausing(reply, presenter),
            )
        except EndpointError as error:
            end_failed(reply, error)
        except PromptTooLarge as error:
            reply.state = "failed"
            reply.notices.append(str(error))
        except StoreError as error:
            log.error("turn %s: %s", request.message.id, error)
            reply.state = "failed"
            reply.notices.append("The bot's database has a problem. Its operator is told how.")
            reply.remedy = str(error)
        except asyncio.CancelledError as stop:
            end_stopped(reply, stop)
            await to_the_end(self._close(begun, request, reply, presenter, now))
            raise
        except Exception:
            log.exception("turn %s failed", request.message.id)
            reply.state = "failed"
            reply.notices.append("Something went wrong inside the bot; its log tells what.")
        await to_the_end(self._close(begun, request, reply, presenter, now))

    async def snapshot(
        self, place: Place, member: Member, history: History, newest: int, *, masks: bool = False
    ) -> PromptSnapshot:
        """The prompt as it would be now, of messages up to and including id `newest`."""
        async with self._routes.serving(place.guild_id, channel_id=place.channel_id) as route:
            plan = await self._plan(route, place, history, newest=newest + 1)
            last = self._tokenizers.latest(route, place)
            return self._showing.now(plan, place, member, last, masks=masks)

    async def sent(
        self, place: Place, message_id: int, *, masks: bool = False
    ) -> PromptSnapshot | None:
        """What was sent in the turn that a message in `place` shows; None if that is not known."""
        return await self._showing.of_message(place, message_id, masks=masks)

    async def warm_up(self, place: Place) -> None:
        """Have the endpoint of a place read what stays of its prompt. Raises EndpointError,
        PromptTooLarge and StoreError."""
        async with self._routes.serving(place.guild_id, channel_id=place.channel_id) as route:
            await route.provider.resolve_model()
            plan = await self._plan(route, place, Unread(), newest=1)
            await warm_up(plan, self._scheduler(route))

    async def explain(self, place: Place, message_id: int) -> Explanation | None:
        """What was made of the model's output in the turn that a message in `place` shows; None if
        that is not known, or no longer."""
        turn = self._recordings.find(place, message_id)
        return turn and await asyncio.to_thread(explanation, turn, secrets=self._secrets)

    async def details(self, place: Place, message_id: int) -> Sequence[RecordedRun] | None:
        """What the tools did in the turn that a message in `place` shows; None if that is not
        known, or no longer."""
        turn = self._recordings.find(place, message_id)
        return turn and details(turn, secrets=self._secrets)

    async def thinking(self, place: Place, message_id: int) -> str | None:
        """What the model thought in that turn; None if that is not known, or not to be shown."""
        turn = self._recordings.find(place, message_id)
        return turn and thought(turn, secrets=self._secrets)

    def forget(self, guild_id: int | None, member_id: int | None) -> None:
        """Drop what is kept in memory of turns for a member of a guild, or for all members."""
        self._recordings.forget(guild_id or 0, member_id)
        self._showing.forget(guild_id or 0)

    async def _plan(
        self,
        route: Route,
        place: Place,
        history: History,
        *,
        newest: int,
        asked: ChannelMessage | None = None,
        grounding: Grounding | None = None,
        now: datetime | None = None,
    ) -> Plan:
        """The plan of a turn that answers `asked`, or nobody, with the history before `newest`."""
        grounding = grounding or await self._grounder.of(place)
        generation = self._generation_of(route)
        toolbox = await self._toolboxes.gather(route, place.guild_id or 0, generation.window)
        gathered = await self._gatherer.gather(
            route,
            place,
            history,
            asked=asked,
            newest=newest,
            toolbox=toolbox.with_in_place(grounding.offered),
            grounding=grounding,
            now=now or self._clock(),
        )
        plan = Plan(store=self._store, route=route, gathered=gathered, generation=generation)
        return await self._tokenizers.priced(plan)

    async def _answer(
        self, begun: Begun, request: TurnRequest, reply: Reply, presenter: Presenter
    ) -> None:
        """Run the turn when the endpoint has a slot for it."""
        route, plan = begun.route, begun.plan
        begun.run.meter.owner = route.owner
        prompt = plan.prompt()
        if (room := begun.run.room_in(prompt)) < 0:  # only where tools have run elsewhere
            allowed = prompt.report.tokens + prompt.report.room
            raise PromptTooLarge(allowed - room, allowed)
        # The window of a fallback is no reason to forget for good.
        dropped = 0 if route.rank else prompt.report.dropped_exchanges
        await self._gatherer.settle(request.place, plan.gathered, dropped)
        if dropped:
            plan.gathered = plan.gathered.without(dropped)
            prompt = plan.prompt()
        values, guild_id = self._store.settings.values, request.place.guild_id
        stored = await values(guild_id or 0, route.provider.model)
        shared = guild_id is not None and not route.owner
        operators = await values(0, route.provider.model) if shared else None
        async with self._scheduler(route).turn(
            request.place,
            parallelism(stored, operators),
            ask=route.provider.slots,
            moved=in_line(reply, presenter),
        ) as lease:
            await self._run(begun, prompt, lease)

    async def _run(self, begun: Begun, prompt: Prompt, lease: Lease) -> None:
        run, plan = begun.run, begun.plan
        while True:
            try:
                await run.run(prompt, lease)
                break
            except (Replan, ToolsRefused, ContextTooLong) as error:
                if run.spoke:
                    raise  # words were shown: what there is of the answer stays
                sent = prompt.report.tokens + prompt.report.room - run.room_in(prompt)
                await plan.revise(error, sent=sent)
            # The cut point stays: history goes on from where the first plan put it.
            run.options = replace(run.options, wire=plan.config.wire)
            prompt = plan.prompt()
        await plan.keep()

    async def _close(
        self,
        begun: Begun | None,
        request: TurnRequest,
        reply: Reply,
        presenter: Presenter,
        now: datetime,
    ) -> None:
        """Show the final state and keep what later turns and verdicts build on."""
        if reply.state != "failed":
            reply.state = "done"
        if begun is not None:
            reply.sources = cited(begun.plan, begun.run, reply.text)
        shown = await presenter.finish(reply)
        if begun is None:
            return
        run = begun.run
        secrets = (*begun.secrets, *begun.route.secrets)
        runs = recorded_runs(reply)
        self._showing.keep(request.place, shown, run.sent, secrets=secrets)
        self._recordings.keep(
            request.place,
            shown,
            run.answers,
            member_id=request.member.id,
            runs=runs,
            thinking=reply.style.thinking(run.thoughts),
            instead=begun.route.in_place_of_another,
            secrets=secrets,
        )
        used = run.meter.turn(request.place, request.member.id, tool_calls=len(reply.runs))
        try:
            await self._usage.record(used)
            await learn_from(begun.plan, begun.run)
            self._tokenizers.learn(begun.route, request.place, run.counts)
            if shown and (turns := replayable(run, reply)):
                await self._store.turns.save(
                    StoredTurn(
                        id=turn_id_of(request.message.id),
                        guild_id=request.place.guild_id or 0,
                        channel_id=request.place.channel_id,
                        member_id=request.member.id,
                        asked_message_id=request.message.id,
                        reply_message_ids=tuple(shown),
                        turns=turns,
                        at=now,
                    )
                )
        except StoreError as error:
            log.error("turn %s was answered but not stored: %s", request.message.id, error)

    def _scheduler(self, route: Route) -> Scheduler:
        return self._schedulers.of(route.provider.endpoint, owner=route.owner)

    def _generation_of(self, route: Route) -> Generation:
        return self._generation.at(owner=route.owner, settings_hold=route.settings_hold)
