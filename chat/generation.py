"""How replies are sampled, and what a prompt may cost for it."""

from dataclasses import dataclass, replace

from data.settings import Settings
from prompt.pricing import ESTIMATES, Pricing
from prompt.snapshot import Budget
from providers.base import RequestOptions

CALL_ROOM = 384
"""Tokens that a prompt leaves for a call and its result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """How replies are sampled. `context_window` is in tokens, None where it is not known;
    `token_ratio` as in Verdict, `pricing` as in Budget."""

    max_reply_tokens: int
    temperature: float | None
    context_window: int | None
    token_ratio: float | None = None
    pricing: Pricing = ESTIMATES

    @classmethod
    def of(cls, settings: Settings, *, embedded: bool) -> "Generation":
        """As the operator set it. The small models of the `embedded` endpoint call tools best when
        nothing is left to chance, and llama.cpp's own default is 0.8."""
        return cls(
            max_reply_tokens=settings.max_reply_tokens,
            temperature=0.0 if embedded and settings.temperature is None else settings.temperature,
            context_window=settings.context_window,
        )

    def at(self, *, owner: int, settings_hold: bool) -> "Generation":
        """This at an endpoint: what the operator set about their own says nothing about that of an
        `owner`, a guild, nor does its window where the settings do not hold, at a fallback."""
        if owner:
            return replace(self, temperature=None, context_window=None)
        return self if settings_hold else replace(self, context_window=None)

    def holding(self, window: int | None) -> "Generation":
        """This with another window, but none larger than what the operator set."""
        known = [size for size in (window, self.context_window) if size is not None]
        return replace(self, context_window=min(known, default=None))

    def window(self, window: int | None) -> int:
        """Tokens that a prompt and its reply may have where `window` is configured."""
        return self.holding(window).budget.window

    @property
    def budget(self) -> Budget:
        """What a prompt may cost. 8,192 is assumed where the window is unknown."""
        window = self.context_window or Budget().window
        return Budget(
            window=window,
            reply_reserve=min(self.max_reply_tokens, window // 2),
            call_room=min(CALL_ROOM, window // 8),
            token_ratio=(self.pricing.counted is None and self.token_ratio) or 1.0,
            pricing=self.pricing,
        )

    def options(self, turn_id: str) -> RequestOptions:
        """What the requests of a turn ask for."""
        return RequestOptions(
            turn_id=turn_id, max_tokens=self.max_reply_tokens, temperature=self.temperature
        )
