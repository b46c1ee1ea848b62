"""What the index needs of whoever turns text into vectors.

Invariant: the index knows a model by its name alone and learns the dimension from its vectors.
"""

from collections.abc import Sequence
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

Vectors: TypeAlias = NDArray[np.float32]
"""One row a text; one column a dimension."""


class InputRefused(Exception):
    """The endpoint will never embed one of these texts: too long, or against its rules.

    Everything else that an Embedder raises counts as an endpoint out of order, to be tried again.
    """


class Embedder(Protocol):
    """An embeddings endpoint."""

    @property
    def model(self) -> str:
        """The model that new vectors are made with; names it in the database. Two models that
        are not the same must differ in it, be they of one name at two endpoints."""
        ...

    async def embed(self, texts: Sequence[str], model: str) -> Vectors:
        """One vector for each text, of any length. `model` is not always `self.model`: while
        vectors are made anew, questions go to the model of the old ones. Raises InputRefused,
        and what it likes if the endpoint is out of order or knows the model no more."""
        ...


class Embedders(Protocol):
    """Who embeds for which guild."""

    async def of(self, guild_id: int) -> Embedder | None:
        """The guild's embedder; None if no endpoint serves it with embeddings."""
        ...


def unit(vectors: Vectors) -> Vectors:
    """The vectors at length 1, so that a dot product is the cosine; a zero vector stays zero."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
