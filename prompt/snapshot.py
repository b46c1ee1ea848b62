"""Everything that a prompt is built from, gathered before building starts.

Invariant: after this value exists no I/O is needed; the same snapshot gives the same bytes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from prompt.knowledge import Snippet
from prompt.pricing import ESTIMATES, MARGIN, Pricing
from prompt.surface import ToolSurface
from prompt.values import ImageReference, Turn
from prompt.verbatim import ToolConfig, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The inputs of one turn's prompt.

    `dialogue` runs from the oldest kept turn to the member's message that is to be answered.
    `participants` are display names, in the order in which they first spoke. `images` are the
    newest of the dialogue, the oldest first, for a model that sees; `unseen` tells in words why
    others are not among them. `snippets` were retrieved from the guild's knowledge, best first.
    """

    persona: str
    server_rules: str
    config: ToolConfig
    verdict: Verdict
    surface: ToolSurface
    dialogue: tuple[Turn, ...]
    now: datetime
    pinned_notes: str = ""
    participants: tuple[str, ...] = ()
    images: tuple[ImageReference, ...] = ()
    unseen: tuple[str, ...] = ()
    snippets: tuple[Snippet, ...] = ()

    def without_oldest_image(self) -> "Snapshot":
        """This with one image less, which is told of in words."""
        left_out, *kept = self.images
        why = f"{left_out.description} is left out for lack of room"
        return replace(self, images=tuple(kept), unseen=(*self.unseen, why))


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """How many tokens a prompt may have.

    `window` is what the model can hold, prompt and reply together; `reply_reserve` is kept
    free for the reply. `history_share` bounds the dialogue's part of what is left, and
    `history_block` is how many exchanges are trimmed at once, so that the cached prefix breaks
    once a block and not every turn. `image_share` bounds what images may have of the prompt.
    `call_room` is left free where there are tools, as far as knowledge and history give way for it.
    `pricing` says what texts cost. Where it holds no counts of the endpoint's, `token_ratio` is how
    many tokens the endpoint counts for each that is estimated, and all that is told of tokens here
    but the window and the reserve is estimated.
    """

    window: int = 8192
    reply_reserve: int = 1024
    history_share: float = 0.6
    history_block: int = 8
    image_share: float = 0.33
    call_room: int = 0
    token_ratio: float = 1.0
    pricing: Pricing = ESTIMATES

    @property
    def prompt(self) -> int:
        """Tokens left for the prompt, in the unit of the prices."""
        left = self.window - self.reply_reserve
        return left if self.token_ratio == 1.0 else int(left / (self.token_ratio * MARGIN))


class PromptTooLarge(Exception):
    """What cannot be left out does not fit. Raised before any request. `parts` tells what is large,
    in tokens by name."""

    def __init__(self, needed: int, allowed: int, parts: Mapping[str, int] | None = None) -> None:
        named = ", ".join(f"{name} {tokens:,}" for name, tokens in (parts or {}).items() if tokens)
        super().__init__(
            f"The prompt needs about {needed:,} tokens and {allowed:,} are allowed"
            f"{f' ({named})' if named else ''}. Shorten the message, persona or server rules, "
            "switch tools off, or raise the context window."
        )
        self.needed = needed
        self.allowed = allowed
        self.parts = dict(parts or {})
