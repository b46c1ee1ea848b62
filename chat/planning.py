"""Plans the requests of a turn, and plans anew what an endpoint's error has named.

Invariant: each revision makes one change that was not made before, at most MAX_REPLANS of them a
turn, and never one that an admin's setting contradicts. What helped is remembered once the turn has
got through; that the tools field is refused, at once.
"""

import logging
from dataclasses import dataclass, field, replace

from chat.config import TurnConfig, is_open, turn_config
from chat.counting import window_below
from chat.endpoints import Route
from chat.gather import Gathered
from chat.generation import Generation
from chat.images import BLIND
from chat.learning import Learning
from data.store import Store
from prompt.assemble import assemble
from prompt.pricing import ESTIMATES, Pricing
from prompt.prompt import Prompt
from prompt.verbatim import wire_mode
from providers.base import ContextTooLong, Replan, ToolsRefused
from providers.wire import Change

log = logging.getLogger(__name__)

MAX_REPLANS = 4

CONTEXT_WINDOW = "context_window"


@dataclass(slots=True, kw_only=True)
class Plan:
    """One turn's plan. `pricing` holds what the endpoint's tokenizer counted, if it has one."""

    store: Store
    route: Route
    gathered: Gathered
    generation: Generation
    pricing: Pricing = ESTIMATES
    _revisions: int = 0
    _learnt: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def config(self) -> TurnConfig:
        """What the turn is run with now."""
        return self.gathered.config

    def prompt(self) -> Prompt:
        """The prompt of the turn as planned now. Raises PromptTooLarge."""
        return assemble(self.gathered.snapshot, self._generation.budget)

    async def revise(self, error: Replan | ToolsRefused | ContextTooLong, *, sent: int) -> None:
        """Change the one thing that `error` names, which may be that `sent` estimated tokens are
        too many. Raises what is to be reported if that cannot, or may not, be changed."""
        if isinstance(error, ContextTooLong):
            error = self._too_long(error, sent)
        cause = error.cause if isinstance(error, Replan) else error
        if self._revisions == MAX_REPLANS:
            raise error
        self._revisions += 1
        if isinstance(error, Replan) and self._may(error.change):
            self._change(error.change)
        elif isinstance(cause, ToolsRefused):
            await self._without_field(cause)
        elif isinstance(error, Replan) and error.change.name == CONTEXT_WINDOW:
            raise cause  # setting a window that was planned for, or a larger one, helps nobody
        else:
            raise error

    def _too_long(self, error: ContextTooLong, sent: int) -> Replan:
        """The change where a server does not tell its window. Raises `error` if none is left."""
        window = window_below(int(sent * self._generation.budget.token_ratio))
        if window is None:
            raise error
        return Replan(Change(name=CONTEXT_WINDOW, value=str(window)), error)

    async def keep(self) -> None:
        """Remember the changes with which the endpoint has answered."""
        if self._learnt:
            await Learning(store=self.store, route=self.route).learn(self._learnt)

    @property
    def _generation(self) -> Generation:
        ratio = self.gathered.snapshot.verdict.token_ratio
        generation = self.generation.holding(self.config.context_window)
        return replace(generation, token_ratio=ratio, pricing=self.pricing)

    def is_smaller(self, window: Change) -> bool:
        """Whether a change of the window would make prompts smaller than they are now."""
        return int(window.value) < self._generation.budget.window

    def _may(self, change: Change) -> bool:
        if change.name == CONTEXT_WINDOW:
            # A window that the prompt was planned for already explains nothing.
            is_useful = self.is_smaller(change)
            return is_useful and is_open(self.gathered.stored, self._known, change)
        return is_open(self.gathered.stored, self._known, change)

    @property
    def _known(self) -> dict[str, str]:
        return {**self.gathered.snapshot.verdict.learnt, **self._learnt}

    def _change(self, change: Change) -> None:
        log.info("%s: trying %s=%s", self.route.provider.model, change.name, change.value)
        self._learnt[change.name] = change.value
        config = turn_config(self.gathered.stored, self._known)
        surface = self.gathered.toolbox.surface(config)
        snapshot = replace(self.gathered.snapshot, config=config.tools, surface=surface)
        if snapshot.images and not config.sees:
            snapshot = replace(snapshot, images=(), unseen=(BLIND,))
        self.gathered = replace(self.gathered, config=config, snapshot=snapshot)

    async def _without_field(self, error: ToolsRefused) -> None:
        verdict = await Learning(store=self.store, route=self.route).refused(error)
        before = self.gathered.snapshot
        snapshot = replace(before, verdict=verdict)
        modes = [wire_mode(each.config, each.verdict, each.surface) for each in (before, snapshot)]
        if modes[0] == modes[1]:
            raise error  # an admin insists on the field
        self.gathered = replace(self.gathered, snapshot=snapshot)
