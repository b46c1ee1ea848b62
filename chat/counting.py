"""Compares the tokens that an endpoint counts with those that were estimated.

Invariant: pure. A report that no vocabulary explains changes nothing, for some servers count only
what was not in their cache.

The ratio follows an endpoint up at once and down slowly, and keeps still within STEADY, so that
what fits into a prompt does not change with every turn. It falls only with prompts that fit into
any window: a longer one may have been cut by a little.

A cut: the server reports less than CUT_BELOW of the fewest tokens that the prompt can have cost,
those are over LEAST_EXPECTED, and the report is over LEAST_WINDOW. Ollama does so: it holds 2,048
or 4,096 tokens unless it was told otherwise, and drops the front of what is longer without a word.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from prompt.events import Usage
from prompt.prompt import Prompt
from prompt.tokens import estimate, fewest
from prompt.values import ImageReference, ReasoningPart

STEADY = 0.05
"""A report this near to the ratio does not change it."""

_FALL = 0.25
"""How far one lower report draws the ratio down towards itself."""

_PLAUSIBLE = (0.25, 3.0)
"""Tokens counted for one estimated: long words of one letter, and signs of several tokens each."""

_LEAST_SAMPLE = 100
"""Estimated tokens under which a report tells too little."""

CUT_BELOW = 0.7
LEAST_EXPECTED = 1000
LEAST_WINDOW = 1000

_WINDOWS = (2048, 4096, 8192, 16384, 32768, 65536, 131072, 262144)
_FILLED = 0.6
"""A cut prompt fills its window at least this far, for servers drop whole messages."""

_STEP = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """One request: its tokens by estimate, the fewest that it can have cost, and those that the
    endpoint reported.

    Where the endpoint's tokenizer has counted every text of it, `texts` are those tokens, without
    what a chat template adds to each of the `messages`; `field` are those of the `tools` field
    where the block says the same, and `priced` is what the budget took the request for.
    """

    estimated: int
    fewest: int
    reported: int
    texts: int | None = None
    field: int = 0
    messages: int = 1
    priced: int = 0

    def in_words(self, ratio: float | None) -> str:
        """How far the budget was off, where it estimates with the ratio that is known by now."""
        how, expected = "estimate", round(self.estimated * (ratio or 1.0))
        if self.texts is not None:
            how, expected = "counted", self.priced
        error = (expected - self.reported) / max(self.reported, 1)
        return f"{how} {expected:,}, reported {self.reported:,}, error {error:+.0%}"


def counted(prompt: Prompt, usage: Usage) -> Count | None:
    """The count of one request; None where the endpoint told nothing, or where images make up a
    part that nobody can estimate."""
    if usage.prompt_tokens is None:
        return None
    items = prompt.all_items
    parts = [part for item in items for part in item.parts]
    if any(isinstance(part, ImageReference | ReasoningPart) for part in parts):
        return None
    reported = usage.prompt_tokens
    if (usage.cached_tokens or 0) > reported:
        reported += usage.cached_tokens or 0  # they were counted apart
    native = prompt.report.mode == "native"
    sent = [*(item.text for item in items), *([prompt.surface.block] if native else [])]
    # In verbatim mode most endpoints ignore the field, and what they count is the block.
    count = Count(
        estimated=sum(estimate(text) for text in sent),
        fewest=sum(fewest(item.text) for item in items),
        reported=reported,
    )
    pricing = prompt.pricing
    field = [prompt.surface.block] if prompt.report.mode == "verbatim" else []
    if not all(pricing.is_counted(text) for text in (*sent, *field)):
        return count
    return replace(
        count,
        texts=sum(pricing.of(text) - pricing.overhead for text in sent),
        field=sum(pricing.of(text) - pricing.overhead for text in field),
        messages=len(items),
        priced=prompt.report.tokens + prompt.report.room - prompt.room,
    )


def ratio_after(ratio: float | None, counts: Iterable[Count]) -> float | None:
    """Tokens counted for each that is estimated, as known after `counts`."""
    for count in counts:
        if count.estimated < _LEAST_SAMPLE or cut_at(count, ratio) is not None:
            continue
        seen = count.reported / count.estimated
        if not _PLAUSIBLE[0] <= seen <= _PLAUSIBLE[1]:
            continue
        if ratio is None or seen > ratio * (1 + STEADY):
            ratio = seen
        elif seen < ratio * (1 - STEADY) and count.estimated < _WINDOWS[0]:
            ratio += (seen - ratio) * _FALL
    return ratio


def cut_at(count: Count, ratio: float | None) -> int | None:
    """The tokens that were left of a prompt which the server cut; None if it did not."""
    expected = min(count.fewest, count.estimated * (ratio or 1.0))
    if expected <= LEAST_EXPECTED or not LEAST_WINDOW <= count.reported < CUT_BELOW * expected:
        return None
    return count.reported


def window_of(reported: int) -> int:
    """The window of a server that left `reported` tokens of a longer prompt."""
    usual = next((size for size in _WINDOWS if size >= reported), None)
    if usual is not None and reported >= _FILLED * usual:
        return usual
    return -(-reported // _STEP) * _STEP


def window_below(tokens: int) -> int | None:
    """The largest usual window that would not have held so many tokens."""
    return max((size for size in _WINDOWS if size < tokens), default=None)
