"""The assembled prompt and what is told about how it came to be.

Invariant: items stand in the order in which they are sent, zone after zone; what follows the
tail are the exchanges of the turn under way, and those only grow.
"""

from dataclasses import dataclass, field, replace

from prompt.knowledge import Snippet
from prompt.pricing import ESTIMATES, Pricing
from prompt.projection import projected
from prompt.surface import ToolSurface
from prompt.values import PromptItem
from prompt.verbatim import WireMode

EXCHANGE = "exchange"
"""Tag of items that belong to the turn under way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StageReport:
    """One stage's share of a prompt: its items, their tokens, and the error if it failed."""

    stage: str
    items: int
    tokens: int
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What the builder did, for snapshots and for the turn that follows.

    `room` is how many tokens are left for the exchanges of the turn. Tokens are in the unit of the
    budget's prices; `counted` tells how many items the endpoint's tokenizer counted.
    `context_snippets` are the passages of knowledge that are in the prompt, the best first.
    """

    mode: WireMode
    stages: tuple[StageReport, ...] = ()
    tokens: int = 0
    room: int = 0
    counted: int = 0
    dropped_exchanges: int = 0
    prefix_hash: str = ""
    context_snippets: tuple[Snippet, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """Everything that one request says, before it takes an endpoint's shape."""

    items: tuple[PromptItem, ...]
    surface: ToolSurface
    report: Report
    exchanges: tuple[PromptItem, ...] = field(default=())
    """Calls, results and notes of the turn under way; they follow the tail."""
    pricing: Pricing = field(default=ESTIMATES, compare=False, repr=False)
    """What the items were priced with."""

    def grown(self, *items: PromptItem) -> "Prompt":
        """This prompt with more exchanges at its end."""
        return replace(self, exchanges=(*self.exchanges, *items))

    @property
    def room(self) -> int:
        """Tokens that further exchanges may have; negative once the budget is passed."""
        grown = self.all_items[len(self.items) :]
        return self.report.room - sum(self.pricing.item(item) for item in grown)

    @property
    def all_items(self) -> tuple[PromptItem, ...]:
        """Items in sending order, as the model is to see them."""
        return projected((*self.items, *self.exchanges), self.surface)
