"""Tries settings of tool calling on a guild's endpoint, and sets those that did best.

Invariant: one guild's trial at a time, each request only while no turn wants the endpoint. Nothing
is set before somebody applies it, and what was set before can be put back.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from chat.config import TurnConfig, spec_of, switches, turn_config
from chat.endpoints import Route, Routes
from chat.learning import Learning
from chat.scheduler import Scheduler, Schedulers
from chat.tuning.asking import built, heard, scripted
from chat.tuning.cases import Case, read_cases
from chat.tuning.scores import Did, Outcome, outcome
from data.store import Store
from prompt.values import Json
from prompt.verbatim import Verdict
from providers.base import EndpointError, RequestOptions

log = logging.getLogger(__name__)

CASES = Path(__file__).with_name("cases.jsonl")

FORM = 1
"""Of an exported result."""

_VARIED: Mapping[str, tuple[str, ...]] = {
    "nudge": ("on", "off"),
    "schema_level": ("simple", "names_only"),
    "time_in_prompt": ("tail", "off"),
    "tool_mode": ("verbatim_only", "native"),
}
"""Switches that are varied, one at a time, each with the values that are tried."""

_MAX_TOKENS = 160
"""Of a response; a call is shorter."""

_LEAST_GAIN = 2
"""Cases that a variant has to do better in: one is luck."""

_ASIDE = 3
"""Times that turns may break a request off before it takes its place in line with them."""

_FAILURES = 3
"""Requests without an answer, one after the other, after which the endpoint counts as down."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What came of all cases with some switches changed. `right` counts calls and silences that
    were right; the others say what went wrong."""

    changes: Mapping[str, str]
    cases: int
    right_calls: int
    right_silences: int
    wrong: int
    missed: int
    false: int
    failed: int
    seconds: float

    @property
    def right(self) -> int:
        """Cases in which the model did what it should."""
        return self.right_calls + self.right_silences

    @property
    def name(self) -> str:
        """What is changed, in words."""
        return ", ".join(f"{name}={value}" for name, value in self.changes.items()) or "as it is"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
    """The trials of one endpoint and model; the first is how it is set now."""

    endpoint: str
    model: str
    trials: Sequence[Trial]

    @property
    def best(self) -> Trial:
        """The trial to set: the present settings, unless another did clearly better."""
        present, *others = self.trials
        best = max(others, key=lambda each: (each.right, -each.seconds), default=present)
        return best if best.right >= present.right + _LEAST_GAIN else present

    def as_json(self) -> Json:
        """The result for sharing: no address in it, and no words."""
        return {
            "verbatim_tuning": FORM,
            "model": self.model,
            "best": dict(self.best.changes),
            "trials": [
                {
                    "changes": dict(each.changes),
                    "cases": each.cases,
                    "calls_right": each.right_calls,
                    "silences_right": each.right_silences,
                    "wrong": each.wrong,
                    "missed": each.missed,
                    "false": each.false,
                    "failed": each.failed,
                    "seconds": round(each.seconds, 1),
                }
                for each in self.trials
            ],
        }

    def table(self, tell: Callable[[str], str] = str) -> str:
        """The trials, a line each; `tell` says the words of it in another language."""
        names = [tell(each.name) for each in self.trials]
        first = max(map(len, names))
        heads = [tell(each) for each in ("right", "wrong", "missed", "false", "failed", "seconds")]
        found = [
            (
                f"{each.right}/{each.cases}",
                *map(str, (each.wrong, each.missed, each.false, each.failed)),
                f"{each.seconds:.0f}",
            )
            for each in self.trials
        ]
        widths = [max(5, len(head)) for head in heads]
        rows = [("", heads), *zip(names, found, strict=True)]
        return "\n".join(
            "  ".join(
                [
                    f"{name:<{first}}",
                    *(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True)),
                ]
            )
            for name, cells in rows
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a run is: `done` of about `of` requests."""

    done: int
    of: int


class Tuner:
    """Runs trials, one guild's at a time. `cases` are the requests that are put to models."""

    def __init__(
        self,
        *,
        store: Store,
        routes: Routes,
        schedulers: Schedulers | None = None,
        cases: Sequence[Case] | None = None,
    ) -> None:
        self._store = store
        self._routes = routes
        self._schedulers = schedulers or Schedulers()
        self._cases = read_cases(CASES) if cases is None else cases
        self._one = asyncio.Lock()

    async def plan(self, guild_id: int | None) -> tuple[str, int]:
        """The model that would be tried, and about how many requests that takes. Raises
        EndpointError."""
        async with self._routes.serving(guild_id) as route:
            await route.provider.resolve_model()
            variants = await self._variants(route, guild_id or 0)
        return route.provider.model, len(variants) * len(self._cases)

    async def run(
        self, guild_id: int | None, told: Callable[[Progress], None] = lambda _: None
    ) -> Tuning:
        """Put all cases to the model that serves a guild, with each variant; `told` hears how far
        it is. Cancelling ends it at once. Raises EndpointError where it does not answer."""
        async with self._one, self._routes.serving(guild_id) as route:
            await route.provider.resolve_model()
            verdict = await Learning(store=self._store, route=route).verdict()
            stored = await self._store.settings.values(guild_id or 0, route.provider.model)
            variants = await self._variants(route, guild_id or 0)
            done, of = 0, len(variants) * len(self._cases)
            trials: list[Trial] = []
            for changes in variants:
                config = turn_config({**stored, **changes}, verdict.learnt)
                began = time.monotonic()
                outcomes: list[tuple[Case, Outcome]] = []
                for case in self._cases:
                    did = await self._did(route, case, config, verdict)
                    outcomes.append((case, outcome(case, did)))
                    if [each for _, each in outcomes[-_FAILURES:]] == ["failed"] * _FAILURES:
                        if not changes:
                            raise EndpointError(
                                "The model does not answer.", remedy=did.failure or "Try later."
                            )
                        break  # a variant that the endpoint refuses
                    done += 1
                    told(Progress(done=done, of=of))
                trials.append(_trial(changes, outcomes, len(self._cases), began))
                log.info("%s, %s: %d right", route.provider.model, changes, trials[-1].right)
            return Tuning(
                endpoint=route.provider.endpoint, model=route.provider.model, trials=trials
            )

    async def apply(self, guild_id: int | None, tuning: Tuning) -> Mapping[str, Json]:
        """Set what did best, and return what was set before, for `put_back`."""
        present = await self._store.settings.values(guild_id or 0, tuning.model)
        before = {name: present.get(name) for name in tuning.best.changes}
        for name, value in tuning.best.changes.items():
            await self._store.settings.put(guild_id or 0, tuning.model, name, value)
        return before

    async def put_back(
        self, guild_id: int | None, tuning: Tuning, before: Mapping[str, Json]
    ) -> None:
        """Set what was set before `apply`."""
        for name, value in before.items():
            await self._store.settings.put(guild_id or 0, tuning.model, name, value)

    async def _variants(self, route: Route, guild_id: int) -> Sequence[Mapping[str, str]]:
        """The present settings, and each switch with another value."""
        verdict = await Learning(store=self._store, route=route).verdict()
        stored = await self._store.settings.values(guild_id, route.provider.model)
        now = {each.name: each.value for each in switches(stored, verdict.learnt)}
        variants: list[Mapping[str, str]] = [{}]
        for name, values in _VARIED.items():
            spec = spec_of(name)
            known = [value for value in values if spec is not None and spec.read(value) == value]
            variants += [{name: value} for value in known if value != now[name]]
        return variants

    async def _did(self, route: Route, case: Case, config: TurnConfig, verdict: Verdict) -> Did:
        prompt = built(case, config, scripted(case), verdict=verdict)
        options = RequestOptions(
            turn_id="tuning", max_tokens=_MAX_TOKENS, temperature=0.0, wire=config.wire
        )
        scheduler = self._schedulers.of(route.provider.endpoint, owner=route.owner)
        try:
            return await _aside(scheduler, lambda: heard(route.provider, prompt, options))
        except EndpointError as error:
            return Did(failure=str(error))


async def _aside(scheduler: Scheduler, ask: Callable[[], Coroutine[None, None, Did]]) -> Did:
    """Ask while no turn wants the endpoint; where some always do, in line with them."""
    found: list[Did] = []

    async def work() -> None:
        found.append(await ask())

    for _ in range(_ASIDE):
        if await scheduler.aside(work):
            return found[-1]
    async with scheduler.slot():
        return await ask()


def _trial(
    changes: Mapping[str, str], outcomes: Sequence[tuple[Case, Outcome]], cases: int, began: float
) -> Trial:
    def count(*wanted: Outcome) -> int:
        return sum(each in wanted for _, each in outcomes)

    calls = sum(each == "right" for case, each in outcomes if case.expect)
    return Trial(
        changes=changes,
        cases=cases,
        right_calls=calls,
        right_silences=count("right") - calls,
        wrong=count("wrong", "silent"),
        missed=count("missed"),
        false=count("false"),
        failed=count("failed") + cases - len(outcomes),
        seconds=time.monotonic() - began,
    )
