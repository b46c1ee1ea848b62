"""Makes up what the speed of a search is measured with: text, questions, directions.

Invariant: words are as frequent as words are, and every run makes the same ones.
"""

import random
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.minilm import DIMENSION
from data.knowledge import Embedder


class Vocabulary:
    """Made-up words, the n-th one as frequent as 1/n."""

    def __init__(self) -> None:
        self._random = np.random.default_rng(1)
        choose = random.Random(1)
        syllables = [c + v for c in "bcdfglmnprstvz" for v in "aeiou"]
        words = {"".join(choose.choices(syllables, k=choose.randint(2, 5))) for _ in range(40_000)}
        self.words = np.array(sorted(words, key=lambda word: (len(word), word)), dtype=object)
        self._random.shuffle(self.words)
        self._edges: NDArray[np.float64] = np.cumsum(1 / np.arange(1, len(self.words) + 1))

    def text(self, count: int) -> str:
        """`count` words."""
        drawn: NDArray[np.float64] = self._random.random(count) * self._edges[-1]
        places = self._edges.searchsorted(drawn)
        return " ".join(self.words[places])

    def question(self) -> str:
        """Five words, neither the most frequent ones nor the rarest."""
        return " ".join(self.words[self._random.integers(50, 3_000, 5)])


class RandomDirections:
    """An embedder that answers at once with random directions."""

    model = "random"

    def __init__(self) -> None:
        self._random = np.random.default_rng(2)

    async def embed(self, texts: Sequence[str], model: str) -> NDArray[np.float32]:
        return self._random.standard_normal((len(texts), DIMENSION), dtype=np.float32)


class ForAll:
    """One embedder for every guild."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    async def of(self, guild_id: int) -> Embedder:
        return self._embedder
