"""Plans the requests of a turn, and plans anew what an endpoint's error has named.

Invariant: each revision makes one change that was not made before, at most MAX_REPLANS of them a
turn, and never one that an admin's setting contradicts. What helped is remembered once the turn has
got through, and what did not is taken back; that the tools field is refused is remembered at once.
"""

import logging
from dataclasses import dataclass, field, replace

from chat.config import TurnConfig, is_open, turn_config
from chat.counting import window_below
from chat.endpoints import Route
from chat.gather import Gathered
from chat.generation import Generation
from chat.hunt import HUNT, Hunt, mark_of
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

_SCHEMA_LEVEL = "schema_level"


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
    _hunting: bool = False

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
        elif (
            isinstance(error, Replan)
            and error.change.name == _SCHEMA_LEVEL
            and self._hunt(may_omit_field=isinstance(cause, ToolsRefused))
        ):
            pass  # asked again with fewer tools
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
        learning = Learning(store=self.store, route=self.route)
        if self._learnt:
            await learning.learn(self._learnt)
        toolbox = self.gathered.toolbox
        if toolbox.hunt and self._sends_tools:
            hunt = toolbox.hunt.passed(toolbox.marks(self.gathered.snapshot.surface))
            self._tell(toolbox.hunt, hunt)
            await (learning.learn({HUNT: hunt.stored()}) if hunt else learning.unlearn(HUNT))

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
        if change.name == _SCHEMA_LEVEL and (self._hunting or self.gathered.toolbox.hunt.groups):
            return False  # that has not helped: the hunt has begun after it
        return is_open(self.gathered.stored, self._known, change)

    @property
    def _known(self) -> dict[str, str]:
        return {**self.gathered.snapshot.verdict.learnt, **self._learnt}

    def _change(self, change: Change) -> None:
        log.info("%s: trying %s=%s", self.route.provider.model, change.name, change.value)
        self._learnt[change.name] = change.value
        self._rebuild()

    def _rebuild(self) -> None:
        """Let what the turn is run with follow from what is known by now."""
        config = turn_config(self.gathered.stored, self._known)
        surface = self.gathered.toolbox.surface(config)
        snapshot = replace(self.gathered.snapshot, config=config.tools, surface=surface)
        if snapshot.images and not config.sees:
            snapshot = replace(snapshot, images=(), unseen=(BLIND,))
        self.gathered = replace(self.gathered, config=config, snapshot=snapshot)

    @property
    def _sends_tools(self) -> bool:
        """Whether the tools stand in a field of the request."""
        now = self.gathered.snapshot
        return wire_mode(now.config, now.verdict, now.surface) in {"native", "verbatim"}

    def _hunt(self, *, may_omit_field: bool) -> bool:
        """Leave some tools out: simple schemas have not helped. False where that leads nowhere.

        The last revision but one asks with all that was not in the group which failed, and so has
        a good chance to pass; the last is for a request without the field, where that may be.
        """
        before = self.gathered
        is_last = self._revisions == MAX_REPLANS
        if not self._sends_tools or (is_last and may_omit_field):
            return False
        hunt = before.toolbox.hunt.failed(
            before.toolbox.marks(before.snapshot.surface),
            asks_others=self._revisions >= MAX_REPLANS - 1,
        )
        self._hunting = True
        self._learnt.pop(_SCHEMA_LEVEL, None)
        self.gathered = replace(before, toolbox=replace(before.toolbox, hunt=hunt))
        self._rebuild()
        if not self.gathered.toolbox.marks(self.gathered.snapshot.surface):
            self.gathered = before
            return False
        self._tell(before.toolbox.hunt, hunt)
        return True

    def _tell(self, before: Hunt, now: Hunt) -> None:
        """Name tools in the log that are known now to be what the server cannot take."""
        found = set(now.broken) - set(before.broken)
        for name, tool in self.gathered.toolbox.tools.items() if found else ():
            if mark_of(tool.spec) in found:
                model, endpoint = self.route.provider.model, self.route.provider.endpoint
                log.warning(
                    "%s at %s cannot take the schema of the tool %s, which is left out from now on",
                    *(model, endpoint, name),
                )

    async def _without_field(self, error: ToolsRefused) -> None:
        verdict = await Learning(store=self.store, route=self.route).refused(error)
        hunted = self.gathered.toolbox.hunt
        if self._learnt.pop(_SCHEMA_LEVEL, None) is not None or hunted:
            # Neither simple schemas nor fewer tools have helped, and no schema is sent any more.
            await Learning(store=self.store, route=self.route).unlearn(HUNT)
            toolbox = replace(self.gathered.toolbox, hunt=Hunt())
            self.gathered = replace(self.gathered, toolbox=toolbox)
            self._rebuild()
        before = self.gathered.snapshot
        snapshot = replace(before, verdict=verdict)
        modes = [wire_mode(each.config, each.verdict, each.surface) for each in (before, snapshot)]
        if modes[0] == modes[1]:
            raise error  # an admin insists on the field
        self.gathered = replace(self.gathered, snapshot=snapshot)
