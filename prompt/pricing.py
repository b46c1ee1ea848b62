"""Tells what the pieces of a prompt cost.

Invariant: pure. The same pricing gives the same text the same price; what an endpoint's tokenizer
counted comes in as a value.
"""

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass

from prompt.tokens import MESSAGE_OVERHEAD, estimate, estimate_image
from prompt.values import ImageReference, PromptItem, ReasoningPart

MARGIN = 1.1
"""How much higher a measured ratio is taken: the next text may cost more than those before."""

MOST_OVERHEAD = 8
"""Tokens that a chat template puts around one message, where that was not measured."""


def digest(text: str) -> bytes:
    """What a text is known by."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Pricing:
    """Prices in tokens.

    Without `counted` they are estimates. With it they are tokens of the endpoint: `counted` holds
    what its tokenizer made of texts, by digest, and the estimate of any other text is taken times
    `ratio`. `overhead` is what its chat template adds to a message. `counts_field` tells
    whether the `tools` field costs anything in verbatim mode, where the block says the same.
    """

    counted: Mapping[bytes, int] | None = None
    ratio: float = 1.0
    overhead: int = MOST_OVERHEAD
    counts_field: bool = True

    def of(self, text: str) -> int:
        """The price of one message that holds this text."""
        if self.counted is None:
            return estimate(text)
        tokens = self.counted.get(digest(text))
        if tokens is None:
            tokens = math.ceil((estimate(text) - MESSAGE_OVERHEAD) * self.ratio * MARGIN)
        return tokens + self.overhead

    def item(self, item: PromptItem) -> int:
        """The price of an item, with its images and the thinking that may go back with it."""
        tokens = self.of(item.text)
        for part in item.parts:
            if isinstance(part, ReasoningPart):
                tokens += self.of(part.text)
            elif isinstance(part, ImageReference):
                tokens += estimate_image(part.width, part.height)
        return tokens

    def is_counted(self, text: str) -> bool:
        """Whether the endpoint's tokenizer counted this text."""
        return self.counted is not None and digest(text) in self.counted

    def estimated(self, tokens: int) -> int:
        """How many estimated tokens of a new message have room in so many."""
        if self.counted is None:
            return tokens
        return int((tokens - self.overhead) / (self.ratio * MARGIN)) + MESSAGE_OVERHEAD


ESTIMATES = Pricing()
"""Prices where nothing else is known."""
