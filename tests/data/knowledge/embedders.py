"""Embedders whose vectors can be reckoned by hand: a word is a direction."""

import asyncio
import hashlib
import re
from collections.abc import Sequence

import numpy as np

from data.knowledge import Embedder, InputRefused, Vectors

WORDS = (
    *("red", "crimson", "blue", "azure", "green", "emerald"),
    *("small", "tiny", "big", "huge", "boat", "ship"),
)
SENSES = {word: at // 2 for at, word in enumerate(WORDS)}
"""Two neighbouring words mean the same."""


class Senses:
    """Embeds a text as the count of each meaning in it. When `down` it fails; a text that holds
    `refused` never passes."""

    def __init__(self, model: str = "senses-1", refused: str = "") -> None:
        self.model = model
        self.down = False
        self.refused = refused
        self.asked: list[tuple[str, int]] = []

    async def embed(self, texts: Sequence[str], model: str) -> Vectors:
        self.asked.append((model, len(texts)))
        if self.down:
            raise ConnectionError("out of order")
        if self.refused and any(self.refused in text for text in texts):
            raise InputRefused
        rows = np.zeros((len(texts), len(WORDS)), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in re.findall(r"\w+", text.lower()):
                if word in SENSES:
                    # Another model has other directions: its vectors must not be mixed up.
                    row[(SENSES[word] + (model != "senses-1")) % len(WORDS)] += 1
        return rows


class Hashes:
    """Embeds each text as a direction of its own that has nothing to do with its meaning."""

    model = "hashes"

    async def embed(self, texts: Sequence[str], model: str) -> Vectors:
        digests = [hashlib.shake_256(text.encode()).digest(1536) for text in texts]
        flat = np.frombuffer(b"".join(digests), dtype=np.uint8).astype(np.float32)
        return flat.reshape(len(texts), -1) - 127.5


class Slow:
    """Never answers."""

    model = "senses-1"

    async def embed(self, texts: Sequence[str], model: str) -> Vectors:
        await asyncio.Event().wait()
        raise AssertionError


class For:
    """Serves the guilds that are named, with one embedder each."""

    def __init__(self, **guilds: Embedder) -> None:
        self.guilds = {int(name.removeprefix("g")): embedder for name, embedder in guilds.items()}

    async def of(self, guild_id: int) -> Embedder | None:
        return self.guilds.get(guild_id)
