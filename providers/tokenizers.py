"""How servers are asked to count the tokens of a text.

Invariant: pure. An answer is believed only where it has the shape of the server that owns the path,
since some answer every path with 200.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import cast

from prompt.values import Json, JsonObject
from providers.base import Exchange
from providers.openai.fault import as_object
from providers.openai.response import decode

SAMPLE = "Seven wet dogs, 24 cats & no bird."
"""A text of ours, to find out whether a server counts at all."""

_PLAUSIBLE = range(8, 36)
"""Tokens of SAMPLE with any vocabulary, down to single characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokenizer:
    """One way to ask. `aside`: beside the API. `body` makes what is POSTed, of a text and the
    model's name; `tokens` finds the number in an answer."""

    path: str
    aside: bool
    body: Callable[[str, str], JsonObject]
    tokens: Callable[[Mapping[str, Json]], Json]

    def count(self, answer: Exchange) -> int | None:
        """The tokens that an answer tells; None where it tells none."""
        if answer.status != 200:
            return None
        try:
            told = self.tokens(as_object(decode(answer.text)) or {})
        except ValueError:
            return None
        if isinstance(told, int) and not isinstance(told, bool) and told >= 0:
            return told
        return None

    def is_sound(self, answer: Exchange) -> bool:
        """Whether an answer about SAMPLE is one that a tokenizer can have given."""
        return self.count(answer) in _PLAUSIBLE


def _listed(fields: Mapping[str, Json]) -> Json:
    """vLLM tells a number beside the tokens, llama.cpp the tokens alone."""
    tokens = fields.get("tokens")
    listed = len(cast("list[Json]", tokens)) if isinstance(tokens, list) else None
    return fields.get("count", listed)


TOKENIZERS = (
    Tokenizer(  # llama.cpp takes `content`, vLLM and SGLang `model` and `prompt`
        path="/tokenize",
        aside=True,
        body=lambda text, model: {
            "content": text,
            "add_special": False,
            "model": model,
            "prompt": text,
            "add_special_tokens": False,
        },
        tokens=_listed,
    ),
    Tokenizer(  # KoboldCpp
        path="/api/extra/tokencount",
        aside=True,
        body=lambda text, _: {"prompt": text, "special": False},
        tokens=lambda fields: fields.get("value"),
    ),
    Tokenizer(  # TabbyAPI
        path="/token/encode",
        aside=False,
        body=lambda text, _: {"text": text, "add_bos_token": False},
        tokens=lambda fields: fields.get("length"),
    ),
)
"""All that is known, in the order in which they are tried."""
