"""What a model file on this disk is: whether it can be one, and whether it is a pinned one.

Invariant: a file counts as a pinned model only by its digest.
"""

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from cli.embedded.catalogue import MODELS, PinnedModel
from cli.embedded.errors import EmbeddedError

_MAGIC = b"GGUF"


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalModel:
    """A model file that is ready to be served.

    `name` is what requests call it. `plain_template` asks the server for a bare ChatML
    template into which a request's `tools` never goes: the prompt teaches calls itself, and a
    template that renders them too would send every definition twice. It is off for a model
    whose dialogue format is not known here; then the file's own template is used.
    """

    path: Path
    name: str
    plain_template: bool


def inspect(path: Path) -> LocalModel:
    """Look at an operator's own model file. Raises EmbeddedError that names VERBATIM_MODEL_PATH.

    Reads the whole file only if its size is that of a pinned model.
    """
    try:
        with path.open("rb") as file:
            magic = file.read(len(_MAGIC))
    except FileNotFoundError:
        raise EmbeddedError(
            f"VERBATIM_MODEL_PATH names {path}, where there is no file. Correct the path, or "
            "unset it to be offered a model."
        ) from None
    except OSError as error:
        raise EmbeddedError(
            f"VERBATIM_MODEL_PATH names {path}, which cannot be read ({error.strerror}). It must "
            "be a GGUF file that this user may read."
        ) from error
    if magic != _MAGIC:
        raise EmbeddedError(
            f"VERBATIM_MODEL_PATH names {path}, which is no GGUF file. Models in other formats "
            "need a server of their own; set VERBATIM_BASE_URL to its URL."
        )
    pinned = _recognise(path)
    if pinned is None:
        return LocalModel(path=path, name=path.stem, plain_template=False)
    return LocalModel(path=path, name=pinned.name, plain_template=True)


def _recognise(path: Path) -> PinnedModel | None:
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        alike = [model for model in MODELS if model.size == size]
        digest = hashlib.file_digest(file, "sha256").hexdigest() if alike else ""
    return next((model for model in alike if model.sha256 == digest), None)
