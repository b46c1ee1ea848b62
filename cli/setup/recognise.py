"""Tells which model server answered, from the bodies of its answers.

Invariant: pure, and never judged by the port or the status alone: several servers imitate each
other's routes, one answers 200 on any route, and anything at all may listen on their ports. What
a server says about itself goes before what it imitates.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias, cast

from prompt.values import Json, JsonObject

MODELS = "/v1/models"
KOBOLD_VERSION = "/api/extra/version"
LM_STUDIO_MODELS = "/api/v0/models"
TABBY_MODEL = "/v1/model"
TABBY_HEALTH = "/health"
LLAMA_PROPS = "/props"
OLLAMA_VERSION = "/api/version"
OLLAMA_TAGS = "/api/tags"
VLLM_VERSION = "/version"

PATHS = (
    MODELS,
    KOBOLD_VERSION,
    LM_STUDIO_MODELS,
    TABBY_MODEL,
    TABBY_HEALTH,
    LLAMA_PROPS,
    OLLAMA_VERSION,
    OLLAMA_TAGS,
    VLLM_VERSION,
)
"""What is asked for, with GET and without a key."""

LM_STUDIO = "LM Studio"

_WANTS_KEY = frozenset({401, 403})


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One answer: its status, and its body where that is JSON."""

    status: int
    body: Json = None


Answers: TypeAlias = Mapping[str, Answer]


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A model server. `models` is empty where it has loaded none or does not tell without a key."""

    kind: str
    version: str = ""
    models: tuple[str, ...] = ()
    needs_key: bool = False


def recognise(answers: Answers) -> Server | None:
    """The server that gave these answers, by path; None if it is no model server."""
    told = ((kind, test(answers)) for kind, test in _TESTS)
    kind, version = next(
        ((kind, version) for kind, version in told if version is not None), ("", "")
    )
    if not kind:
        return None
    models = _lm_studio_models(answers) if kind == LM_STUDIO else _listed(answers)
    return Server(
        kind=kind,
        version=version,
        models=models,
        needs_key=not models and _status(answers, MODELS) in _WANTS_KEY,
    )


def _kobold(answers: Answers) -> str | None:
    body = _object(answers, KOBOLD_VERSION)
    return _text(body, "version") if body.get("result") == "KoboldCpp" else None


def _lm_studio(answers: Answers) -> str | None:
    if _lm_studio_entries(answers):
        return ""
    # Whatever is asked for and not there: it says so under status 200.
    said = _text(_object(answers, KOBOLD_VERSION), "error")
    return "" if said.startswith("Unexpected endpoint or method") else None


def _tabby(answers: Answers) -> str | None:
    if "tabbyapi" in _owners(answers) or _owner(_object(answers, TABBY_MODEL)) == "tabbyapi":
        return ""
    wants_key = _status(answers, TABBY_MODEL) in _WANTS_KEY
    return (
        "" if wants_key and isinstance(_object(answers, TABBY_HEALTH).get("issues"), list) else None
    )


def _llama(answers: Answers) -> str | None:
    props = _object(answers, LLAMA_PROPS)
    if isinstance(props.get("default_generation_settings"), dict) or "llamacpp" in _owners(answers):
        return _text(props, "build_info").removesuffix("b0-unknown")  # built outside its repository
    return None


def _ollama(answers: Answers) -> str | None:
    version = _text(_object(answers, OLLAMA_VERSION), "version")
    tags = _object(answers, OLLAMA_TAGS).get("models")
    return version if version and (isinstance(tags, list) or tags is None) else None


def _vllm(answers: Answers) -> str | None:
    version = _text(_object(answers, VLLM_VERSION), "version")
    if "vllm" in _owners(answers):
        return version
    guarded = _object(answers, MODELS) == {"error": "Unauthorized"}
    return version if version and guarded else None


def _other(answers: Answers) -> str | None:
    body, status = _object(answers, MODELS), _status(answers, MODELS)
    lists = status == 200 and isinstance(body.get("data"), list)
    if lists and (body.get("object") == "list" or _listed(answers)):
        return ""
    error = body.get("error")
    guarded = status in _WANTS_KEY and isinstance(error, dict) and "message" in error
    return "" if guarded else None


_TESTS: tuple[tuple[str, Callable[[Answers], str | None]], ...] = (
    ("KoboldCpp", _kobold),
    (LM_STUDIO, _lm_studio),
    ("TabbyAPI", _tabby),
    ("llama.cpp", _llama),
    ("vLLM", _vllm),
    ("Ollama", _ollama),
    ("an OpenAI-compatible server", _other),
)
"""Each yields the version, empty where it is not told, or None. KoboldCpp imitates llama.cpp and
Ollama, llama.cpp imitates Ollama, hence the order."""


def _listed(answers: Answers) -> tuple[str, ...]:
    return tuple(name for entry in _entries(answers, MODELS) if (name := _text(entry, "id")))


def _lm_studio_models(answers: Answers) -> tuple[str, ...]:
    """Those that can chat, loaded ones first: its list under /v1 holds all kinds alike."""
    chat = [entry for entry in _lm_studio_entries(answers) if _text(entry, "type") != "embeddings"]
    chat.sort(key=lambda entry: entry.get("state") != "loaded")
    return tuple(name for entry in chat if (name := _text(entry, "id"))) or _listed(answers)


def _lm_studio_entries(answers: Answers) -> list[JsonObject]:
    return [entry for entry in _entries(answers, LM_STUDIO_MODELS) if "compatibility_type" in entry]


def _owners(answers: Answers) -> set[str]:
    return {_owner(entry) for entry in _entries(answers, MODELS)}


def _owner(entry: JsonObject) -> str:
    return _text(entry, "owned_by").lower()


def _entries(answers: Answers, path: str) -> list[JsonObject]:
    data = _object(answers, path).get("data")
    if not isinstance(data, list):
        return []
    entries = cast("list[Json]", data)
    return [cast("JsonObject", entry) for entry in entries if isinstance(entry, dict)]


def _object(answers: Answers, path: str) -> JsonObject:
    body = answers[path].body if path in answers else None
    return cast("JsonObject", body) if isinstance(body, dict) else {}


def _status(answers: Answers, path: str) -> int:
    return answers[path].status if path in answers else 0


def _text(body: JsonObject, name: str) -> str:
    value = body.get(name)
    return value if isinstance(value, str) else ""
