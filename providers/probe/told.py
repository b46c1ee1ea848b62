"""What a server tells about itself, beside the API: context window and sight.

Invariant: pure but for the list of paths to ask. A body is believed only where it has the shape
of the server that owns the path, since some answer every path with 200.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from prompt.values import Json, JsonObject
from providers.base import Exchange
from providers.openai.fault import as_object
from providers.openai.response import decode

_WINDOWS = range(256, 100_000_001)
_SEES = re.compile(
    r"llava|bakllava|vision|pixtral|moondream|minicpm-v|internvl|smolvlm|[-_.]vl\b", re.IGNORECASE
)
_NUM_CTX = re.compile(r"^num_ctx\s+(\d+)", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Path:
    """An address that some server has. `aside`: beside the API. `body`: what to POST, if that."""

    path: str
    aside: bool = True
    body: JsonObject | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What was told; None where nothing was."""

    context_window: int | None = None
    sees: bool | None = None


def paths(model: str) -> Sequence[Path]:
    """Where to ask: llama.cpp and KoboldCpp, Ollama, LM Studio, vLLM, TabbyAPI."""
    return (
        Path(path="/props"),
        Path(path="/api/extra/true_max_context_length"),
        Path(path="/api/ps"),
        Path(path="/api/show", body={"model": model}),
        Path(path="/api/v0/models"),
        Path(path="/models", aside=False),
        Path(path="/model", aside=False),
    )


def understood(answers: Mapping[str, Exchange], model: str) -> Told:
    """What `answers`, by path, tell about `model`."""
    bodies = {path: _body(answer) for path, answer in answers.items()}
    windows = (
        _props_window(bodies.get("/props", {})),
        _window(bodies.get("/api/extra/true_max_context_length", {}).get("value")),
        _window(_entry(bodies.get("/api/ps", {}), "models", model).get("context_length")),
        _show_window(bodies.get("/api/show", {})),
        _studio_window(_entry(bodies.get("/api/v0/models", {}), "data", model)),
        _window(_entry(bodies.get("/models", {}), "data", model).get("max_model_len")),
        _window((as_object(bodies.get("/model", {}).get("parameters")) or {}).get("max_seq_len")),
    )
    sights = (
        _boolean((as_object(bodies.get("/props", {}).get("modalities")) or {}).get("vision")),
        _listed(bodies.get("/api/show", {}).get("capabilities"), "vision"),
        _studio_sight(_entry(bodies.get("/api/v0/models", {}), "data", model)),
        _boolean((as_object(bodies.get("/model", {}).get("parameters")) or {}).get("use_vision")),
    )
    return Told(
        context_window=next((window for window in windows if window is not None), None),
        sees=next((sight for sight in sights if sight is not None), None),
    )


def sees_by_name(model: str) -> bool:
    """Whether the model's name is one of those that models with sight have."""
    return bool(_SEES.search(model))


def _props_window(props: JsonObject) -> int | None:
    settings = as_object(props.get("default_generation_settings")) or {}
    return _window(settings.get("n_ctx"))


def _show_window(show: JsonObject) -> int | None:
    """The window that a Modelfile sets; what the model was trained for says nothing of it."""
    parameters: Json = show.get("parameters")
    found = _NUM_CTX.search(parameters) if isinstance(parameters, str) else None
    return _window(int(found[1][:12])) if found else None


def _studio_window(entry: JsonObject) -> int | None:
    """The window that the loaded model got; the largest possible one says nothing of it."""
    return _window(entry.get("loaded_context_length"))


def _studio_sight(entry: JsonObject) -> bool | None:
    kind: Json = entry.get("type")
    return kind == "vlm" if kind in {"vlm", "llm"} else None


def _entry(listing: JsonObject, key: str, model: str) -> JsonObject:
    """The entry of `model` in a listing; Ollama adds `:latest` where no tag was given."""
    entries: Json = listing.get(key)
    for entry in cast("list[Json]", entries) if isinstance(entries, list) else []:
        fields = as_object(entry) or {}
        if {fields.get(name) for name in ("id", "name", "model")} & {model, f"{model}:latest"}:
            return fields
    return {}


def _listed(value: Json, word: str) -> bool | None:
    return word in cast("list[Json]", value) if isinstance(value, list) else None


def _boolean(value: Json) -> bool | None:
    return value if isinstance(value, bool) else None


def _window(value: Json) -> int | None:
    plausible = isinstance(value, int) and not isinstance(value, bool) and value in _WINDOWS
    return value if plausible else None


def _body(answer: Exchange) -> JsonObject:
    if answer.status != 200:
        return {}
    try:
        return as_object(decode(answer.text)) or {}
    except ValueError:
        return {}
