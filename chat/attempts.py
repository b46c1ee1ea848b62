"""Goes through the endpoints of a guild until one of them answers.

Invariant: the next one is tried only while nothing of an answer was shown, and only for a failure
that is the endpoint's: what a member or admin has to change would be wrong there too, or would
quietly cost more. What is told in the end is why the first one failed. Each failure is logged once,
with endpoints counted from 1 as admins see them.
"""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from chat.endpoints import KeyUnreadable, NoFurther, NotServed, Route, Routes
from chat.noticing import learn_from
from chat.planning import Plan
from chat.ports import Place
from chat.turn import TurnRun
from prompt.snapshot import PromptTooLarge
from providers.base import ContextTooLong, EndpointError, RateLimited, Replan

log = logging.getLogger(__name__)

SHORT = 5.0
"""Seconds of a rate limit that a turn waits for, once, before it is taken elsewhere."""

_MARGIN = 0.1
"""Seconds more than the endpoint asked for: its clock is not ours."""


@dataclass(frozen=True, slots=True)
class Begun:
    """A turn that has an endpoint and a plan. `secrets` are those of endpoints tried before."""

    route: Route
    plan: Plan
    run: TurnRun
    secrets: tuple[str, ...] = ()

    async def moved(self, route: Route, plan: Plan) -> "Begun":
        """The turn as it goes on at another endpoint, with what its tools did."""
        await learn_from(self.plan, self.run)
        fresh = plan.generation.options(self.run.options.turn_id)
        self.run.move(
            route.provider,
            replace(
                self.run.options,
                wire=plan.config.wire,
                max_tokens=fresh.max_tokens,
                temperature=fresh.temperature,
            ),
            on_empty=plan.config.on_empty,
            doubts_template="template_opens_think" not in plan.gathered.stored,
        )
        return Begun(route, plan, self.run, (*self.secrets, *self.route.secrets))


async def in_order(
    routes: Routes,
    place: Place,
    attempt: Callable[[Route], Awaitable[None]],
    *,
    may_go_on: Callable[[], bool],
    pause: Callable[[float], Awaitable[None]],
) -> None:
    """Run `attempt` with the endpoints of a place, one after the other, until it succeeds.

    `pause` waits so many seconds for one that is busy for a moment and then tried once more.
    Raises what the first one raised if none succeeds, and what the present one raised if
    `may_go_on` forbids another.
    """
    first: EndpointError | PromptTooLarge | None = None
    rank, has_paused = 0, False
    while True:
        try:
            async with routes.serving(place.guild_id, rank, channel_id=place.channel_id) as route:
                await attempt(route)
                if rank:
                    model, endpoint = route.provider.model, route.provider.endpoint
                    log.info("endpoint %d answered instead: %s at %s", rank + 1, model, endpoint)
                return
        except NoFurther:
            if first is None:
                raise
            raise first from None
        except (EndpointError, PromptTooLarge) as error:
            unserved = isinstance(error, NotServed) and not isinstance(error, KeyUnreadable)
            if isinstance(error, EndpointError):
                whose = f"endpoint {rank + 1} of server {place.guild_id}"
                log.warning("%s did not answer: %s", whose, error)
            if not has_paused and may_go_on() and (seconds := _free_in(error)):
                has_paused = True
                await pause(seconds + _MARGIN)
                continue
            if unserved or not may_go_on() or (first is None and not falls_back(error)):
                raise
            first = first or error
        rank += 1


def falls_back(error: EndpointError | PromptTooLarge) -> bool:
    """Whether another endpoint may answer what this one failed to."""
    if isinstance(error, Replan):
        return falls_back(error.cause)
    return not isinstance(error, ContextTooLong | PromptTooLarge)


def _free_in(error: EndpointError | PromptTooLarge) -> float | None:
    """In how many seconds an endpoint takes requests again, where that is worth the wait."""
    seconds = error.retry_after if isinstance(error, RateLimited) else None
    return seconds if seconds is not None and 0 < seconds <= SHORT else None
