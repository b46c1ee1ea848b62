"""What a guild has set about its tools.

Invariant: what is written is checked strictly; of what is read, each part that is no longer valid
is left out with a warning, and the rest holds.
"""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from prompt.values import Json
from tools.exposure import ExposureMode, Gates
from tools.policy import POLICIES, chosen_of

log = logging.getLogger(__name__)

EXPOSURE = "exposure"
READ_ONLY = "read_only"
WEB = "web"
IMAGES = "images"
ALLOWLIST = "allowlist"
TOOLS = "tools"
DISPATCH_MODELS = "dispatch_models"

PORTABLE = (EXPOSURE, READ_ONLY, WEB, IMAGES, ALLOWLIST, TOOLS, POLICIES)
"""Those that mean the same in another guild; the models listed for an endpoint do not."""

MODES: tuple[ExposureMode, ...] = ("upfront", "search")
ANY_MODEL = "*"

_LONGEST_ENTRY = 200
_MOST_ENTRIES = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSettings:
    """The settings of one guild. `dispatch_models` are the models, by id of the endpoint, or its
    key in older settings, whose requests stay the same whatever tools were loaded; `*` stands for
    any."""

    mode: ExposureMode = "upfront"
    gates: Gates = field(default=Gates())
    dispatch_models: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])

    def models_of(self, names: Iterable[str]) -> Sequence[str]:
        """The models listed for an endpoint, by the first of its names that is known."""
        lists = self.dispatch_models
        return next((lists[name] for name in names if name in lists), ())

    def is_stable(self, names: Iterable[str], model: str) -> bool:
        """Whether the stable dispatcher is on for a model of an endpoint of these names."""
        listed = self.models_of(names)
        return model in listed or ANY_MODEL in listed


def tool_settings(wide: Mapping[str, Json]) -> ToolSettings:
    """What the settings of a guild as a whole amount to."""
    mode = wide.get(EXPOSURE)
    return ToolSettings(
        mode=mode if mode in MODES else "upfront",
        gates=Gates(
            read_only=wide.get(READ_ONLY) is True,
            web=wide.get(WEB) is True,
            images=wide.get(IMAGES) is True,
            switched=_switched(wide.get(TOOLS)),
            allowlist=_allowlist(wide.get(ALLOWLIST)),
        ),
        dispatch_models=_dispatch_models(wide.get(DISPATCH_MODELS)),
    )


def is_setting(name: str, value: Json) -> bool:
    """Whether `value` can be stored under one of these names as it is."""
    match name:
        case "exposure":
            return value in MODES
        case "read_only" | "web" | "images":
            return isinstance(value, bool)
        case "allowlist":
            return isinstance(value, list) and _are_names(cast("list[Json]", value))
        case "tool_policies":
            return isinstance(value, dict) and all(
                chosen_of(tool, {POLICIES: value}) for tool in cast("dict[str, Json]", value)
            )
        case "tools":
            return isinstance(value, dict) and _switched(value) == value
        case _:
            return False


def _are_names(entries: Sequence[Json]) -> bool:
    return all(isinstance(name, str) and len(name) <= _LONGEST_ENTRY for name in entries)


def checked_models(entries: Sequence[str]) -> list[str]:
    """Entries of `dispatch_models` as they are stored. ValueError says which one is wrong."""
    models = list(dict.fromkeys(entry.strip() for entry in entries))
    if len(models) > _MOST_ENTRIES:
        raise ValueError(f"At most {_MOST_ENTRIES} models can be listed.")
    for model in models:
        if not _is_entry(model):
            raise ValueError(
                f"Each entry is the name of a model, or {ANY_MODEL} for all; up to "
                f"{_LONGEST_ENTRY} characters without blanks."
            )
    return models


def _is_entry(entry: Json) -> bool:
    return (
        isinstance(entry, str)
        and 0 < len(entry) <= _LONGEST_ENTRY
        and entry.isprintable()
        and not any(character.isspace() for character in entry)
        and (ANY_MODEL not in entry or entry == ANY_MODEL)
    )


def _dispatch_models(stored: Json) -> Mapping[str, Sequence[str]]:
    if stored is None:
        return {}
    if not isinstance(stored, Mapping):
        log.warning("%s is no list of models by endpoint and is ignored", DISPATCH_MODELS)
        return {}
    found: dict[str, Sequence[str]] = {}
    for endpoint, entries in cast("Mapping[str, Json]", stored).items():
        if not isinstance(entries, list):
            log.warning("%s of %s is no list and is ignored", DISPATCH_MODELS, endpoint)
            continue
        listed = cast("list[Json]", entries)
        good = [entry for entry in listed if _is_entry(entry)]
        if len(good) < len(listed):
            log.warning(
                "%s of %s: %d entries are no names of models and are ignored",
                DISPATCH_MODELS,
                endpoint,
                len(listed) - len(good),
            )
        found[endpoint] = good
    return found


def _switched(stored: Json) -> Mapping[str, bool]:
    if not isinstance(stored, Mapping):
        return {}
    named = cast("Mapping[str, Json]", stored)
    return {name: state for name, state in named.items() if isinstance(state, bool)}


def _allowlist(stored: Json) -> frozenset[str] | None:
    if stored is None:
        return None
    if not isinstance(stored, list):
        # Not what it was meant to be: to allow all tools then would be the worse mistake.
        log.warning("%s is no list of names: no tool is allowed", ALLOWLIST)
        return frozenset()
    return frozenset(name for name in cast("list[Json]", stored) if isinstance(name, str))
