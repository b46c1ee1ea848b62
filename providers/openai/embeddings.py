"""Turns texts into vectors at an endpoint with OpenAI's embeddings route.

Invariant: one vector a text, in the order of the texts. A text counts as refused only while the
endpoint embeds others, so that a wrong model name or key never passes for a bad text.
"""

import json
from collections.abc import Mapping, Sequence
from typing import cast

import httpx2
import numpy as np

from data.knowledge import InputRefused, Vectors
from prompt.values import Json
from providers.openai.adapter import OpenAIProvider

_BATCH = 8
"""Texts a request: vectors of 4,096 numbers, written as text, then stay within what is read of an
answer."""
_SECONDS = 60.0
_REFUSALS = (400, 413, 422)
_HARMLESS = "ok"


class EmbeddingsFailed(Exception):
    """The endpoint gave no vectors, whatever the texts. Says nothing of what was sent."""


class OpenAIEmbedder:
    """data.knowledge.Embedder over an endpoint and a model of it."""

    def __init__(
        self,
        *,
        base_url: str,
        model: str,
        api_key: str | None,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        self._provider = OpenAIProvider(
            base_url=base_url, model=model, api_key=api_key, transport=transport
        )

    @property
    def model(self) -> str:
        """See Embedder: the model's name, and where it is."""
        return f"{self._provider.model}{self._here}"

    async def embed(self, texts: Sequence[str], model: str) -> Vectors:
        """See Embedder. Raises EmbeddingsFailed and EndpointError beside InputRefused."""
        if not model.endswith(self._here):
            raise EmbeddingsFailed("those vectors were made at another endpoint")
        name = model.removesuffix(self._here)
        rows: list[Sequence[float]] = []
        for begin in range(0, len(texts), _BATCH):
            rows += await self._asked(texts[begin : begin + _BATCH], name)
        return np.asarray(rows, dtype=np.float32)

    async def close(self) -> None:
        """Release the connection pool."""
        await self._provider.close()

    @property
    def _here(self) -> str:
        return f" at {self._provider.endpoint}"

    async def _asked(self, texts: Sequence[str], model: str) -> Sequence[Sequence[float]]:
        body = {"model": model, "input": [*texts], "encoding_format": "float"}
        answer = await self._provider.exchange("/embeddings", body, seconds=_SECONDS)
        if answer.status in _REFUSALS and [*texts] != [_HARMLESS]:
            await self._asked([_HARMLESS], model)
            raise InputRefused
        if answer.status != 200:
            raise EmbeddingsFailed(f"the embeddings endpoint answered {answer.status}")
        try:
            return _vectors(json.loads(answer.text), len(texts))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise EmbeddingsFailed("the embeddings endpoint sent something else") from error


def _vectors(answer: Mapping[str, Json], count: int) -> Sequence[Sequence[float]]:
    """The vectors in the order of the texts; some servers number them and mix them up."""
    entries = cast("Sequence[Mapping[str, Json]]", answer["data"])
    ordered = sorted(entries, key=lambda entry: int(entry.get("index", 0)))
    vectors = [[float(number) for number in entry["embedding"]] for entry in ordered]
    if len(vectors) != count or len({len(vector) for vector in vectors}) != 1:
        raise ValueError
    return vectors
