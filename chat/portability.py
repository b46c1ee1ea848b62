"""A guild's configuration as a file: taken out, and read back in.

Invariant: no secret is in the file, and nothing is read in unless every line of it holds; what
an import may set is what its admin could set by hand.
"""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import cast

from chat.admission import CHANNELS
from chat.answering import ANSWERING, is_answering
from chat.config import as_word, checked
from chat.endpoints import CHANNEL_MODELS, LAST_RESORT, channel_models, read_channel_model
from chat.entries import SetupRefused, checked_model
from chat.guild_setup import GuildSetup
from chat.knowledge_admin import MEMBERS_SEARCH
from chat.moderation import MODERATION, is_moderation
from chat.personas import (
    CHANNEL_TEXTS,
    LONGEST_TEXT,
    MOST_CHANNELS,
    TEXTS,
    read_channel_texts,
)
from chat.portable_services import SERVICES, ReadServices, exported
from chat.quotas import BUDGET, LIMITS, are_limits, is_budget
from chat.services import ChosenServices
from chat.tool_settings import PORTABLE, is_setting
from chat.usage import PRICES, are_prices
from data.endpoints import MOST
from data.guild_settings import Everything
from data.store import Store
from prompt.templates import BadTemplate, check
from prompt.values import Json

FORM = 1
LARGEST_FILE = 256 * 1024
"""Bytes."""

_MOST_CHANNELS = 500
_MOST_MODELS = 100
_FALLBACKS = "fallbacks"
_TOOLS = "tools"
_WHOLE: Mapping[str, Callable[[Json], bool]] = {
    ANSWERING: is_answering,
    LIMITS: are_limits,
    BUDGET: is_budget,
    PRICES: are_prices,
    MODERATION: is_moderation,
    MEMBERS_SEARCH: lambda value: isinstance(value, bool),
}
"""Settings that are taken as they are, by what tells whether they may be."""

_KEYS = {
    *_WHOLE,
    *("verbatim_config", "endpoint", _FALLBACKS, LAST_RESORT, *TEXTS, CHANNEL_TEXTS),
    *(CHANNEL_MODELS, CHANNELS, "switches", _TOOLS, SERVICES),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """What an import makes of one thing in the file."""

    fine: bool
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What was read, line by line; `done` tells whether it holds now."""

    lines: Sequence[Line]
    done: bool


class Portability:
    """Exports and imports of guilds."""

    def __init__(self, *, store: Store, setup: GuildSetup, services: ChosenServices) -> None:
        self._store = store
        self._setup = setup
        self._services = services

    async def export(self, guild_id: int) -> str:
        """The guild's configuration as JSON text."""
        everything = dict(await self._store.settings.everything(guild_id))
        wide = dict(everything.pop("", {}))
        endpoints = [
            {"base_url": each.base_url, "model": each.model}
            for each in await self._setup.endpoints(guild_id)
        ]
        document: dict[str, Json] = {
            "verbatim_config": FORM,
            "endpoint": endpoints[0] if endpoints else None,
            _FALLBACKS: [*endpoints[1:]],
            LAST_RESORT: bool(wide.get(LAST_RESORT)),
            **{name: wide.get(name) for name in (*TEXTS, CHANNEL_TEXTS, CHANNELS)},
            CHANNEL_MODELS: {
                str(id_): {"model": each.model, "url": each.url}
                for id_, each in channel_models(wide).items()
                if not each.operators
            },
            **{name: wide.get(name) for name in _WHOLE},
            _TOOLS: {name: wide[name] for name in PORTABLE if name in wide},
            SERVICES: await exported(self._services, guild_id),
            "switches": {model: dict(values) for model, values in everything.items()},
        }
        return json.dumps(document, ensure_ascii=False, indent=2) + "\n"

    async def read_in(
        self, guild_id: int, content: bytes, *, by: int, channels: Collection[int]
    ) -> Imported:
        """Put a configuration in the place of the guild's, if all of it holds there.

        `channels` are those of the guild. Keys are in no file: the guild's own stays if the
        endpoint is on the same server, else it has to be entered.
        """
        reading = _Reading(content, channels)
        checked_ones: list[tuple[str, str, bool]] = []
        for url, model in reading.endpoints:
            try:
                name = checked_model(model)
                address, allow_private = await self._setup.check_address(guild_id, url, by=by)
            except SetupRefused as error:
                reading.wrong(f"endpoint: {error}")
            else:
                checked_ones.append((address, name, allow_private))
                reading.fine(f"endpoint: {address}")
        services = ReadServices()
        if reading.services is not None:
            await services.read(self._services, guild_id, reading.services, by=by)
        for line in services.wrong:
            reading.wrong(line)
        for line in services.fine:
            reading.fine(line)
        if not all(line.fine for line in reading.lines):
            return Imported(lines=reading.lines, done=False)

        def imported(present: Everything) -> Everything:
            wide = present.get("", {})
            kept = {name: value for name, value in wide.items() if name not in reading.covered}
            return {"": {**kept, **reading.wide}, **reading.switches}

        wanted = list(dict.fromkeys(checked_ones))
        await self._store.endpoints.replace(guild_id, wanted, set_by=by)
        if any(each.sealed_key is None for each in await self._setup.endpoints(guild_id)):
            reading.fine("An endpoint has no key. Enter one with /config setup if it needs it")
        await services.keep(self._services, guild_id)
        await self._store.settings.rewrite(guild_id, imported)
        return Imported(lines=reading.lines, done=True)


class _Reading:
    """One file, read as far as it can be, with a line for each thing found."""

    def __init__(self, content: bytes, channels: Collection[int]) -> None:
        self.lines: list[Line] = []
        self.wide: dict[str, Json] = {}
        self.switches: dict[str, Mapping[str, Json]] = {}
        self.covered = {LAST_RESORT, *TEXTS, CHANNEL_TEXTS, CHANNEL_MODELS, CHANNELS}
        """What of a guild's settings the file decides; the rest of them stays."""
        self.endpoints: list[tuple[str, str]] = []
        """URL and model of each, in order."""
        self.services: Json = None
        document = self._document(content)
        if document is None:
            return
        readers: dict[str, Callable[[Json], None]] = {
            "endpoint": self._read_endpoint,
            _FALLBACKS: self._read_fallbacks,
            LAST_RESORT: self._read_last_resort,
            **{name: partial(self._read_text, name) for name in TEXTS},
            CHANNEL_TEXTS: lambda value: self._read_channel_texts(value, channels),
            CHANNEL_MODELS: lambda value: self._read_channel_models(value, channels),
            CHANNELS: lambda value: self._read_channels(value, channels),
            "switches": self._read_switches,
            _TOOLS: self._read_tools,
        }
        for name in document.keys() - _KEYS:
            self.wrong(f"{name[:100]!r} is not part of a configuration")
        for name, read in readers.items():
            if document.get(name) is not None:
                read(document[name])
        self.services = document.get(SERVICES)
        for name in _WHOLE.keys() & document.keys():
            self._read_whole(name, document[name])

    def fine(self, what: str) -> None:
        """Note something that holds."""
        self.lines.append(Line(fine=True, what=what))

    def wrong(self, what: str) -> None:
        """Note something that does not; nothing is imported then."""
        self.lines.append(Line(fine=False, what=what))

    def _document(self, content: bytes) -> Mapping[str, Json] | None:
        if len(content) > LARGEST_FILE:
            self.wrong(f"The file is larger than {LARGEST_FILE // 1024} KB")
            return None
        try:
            value = json.loads(content.decode("utf-8"))
        except (ValueError, RecursionError):
            self.wrong("The file is not JSON in UTF-8")
            return None
        document = _mapping(value)
        if document is None or document.get("verbatim_config") != FORM:
            self.wrong(
                f'The file is not what /config export makes: "verbatim_config" is not {FORM}'
            )
            return None
        return document

    def _read_endpoint(self, value: Json) -> None:
        fields = _mapping(value)
        url, model = (fields or {}).get("base_url"), (fields or {}).get("model")
        if fields is None or set(fields) != {"base_url", "model"}:
            self.wrong("endpoint: must hold base_url and model, and nothing else")
        elif not isinstance(url, str) or not isinstance(model, str) or not model.strip():
            self.wrong("endpoint: base_url and model must be texts")
        else:
            self.endpoints.append((url, model))

    def _read_fallbacks(self, value: Json) -> None:
        entries = cast("list[Json]", value) if isinstance(value, list) else None
        if entries is None or len(entries) >= MOST or (entries and not self.endpoints):
            self.wrong(f"{_FALLBACKS}: must be a list of {MOST - 1} at most, behind an endpoint")
            return
        for each in entries:
            self._read_endpoint(each)

    def _read_last_resort(self, value: Json) -> None:
        if not isinstance(value, bool):
            self.wrong(f"{LAST_RESORT}: must be true or false")
        elif value:
            self.wide[LAST_RESORT] = True
            self.fine(f"{LAST_RESORT}: on")

    def _read_text(self, name: str, value: Json) -> None:
        if self._takes_text(name, value):
            self.wide[name] = value
            self.fine(f"{name}: {len(value)} characters")

    def _takes_text(self, name: str, value: Json) -> bool:
        if not isinstance(value, str) or len(value) > LONGEST_TEXT:
            self.wrong(f"{name}: must be a text of at most {LONGEST_TEXT} characters")
            return False
        try:
            doubts = check(value)
        except BadTemplate as error:
            self.wrong(f"{name}, line {error.line}: {error.problem}")
            return False
        for each in doubts:
            self.fine(f"{name}: {each} is no variable and will be empty")
        return True

    def _read_channel_models(self, value: Json, here: Collection[int]) -> None:
        entries = _mapping(value)
        if entries is None or len(entries) > MOST_CHANNELS or (entries and not self.endpoints):
            self.wrong(
                f"{CHANNEL_MODELS}: must be an object of at most {MOST_CHANNELS} channels, behind "
                "an endpoint"
            )
            return
        kept: dict[str, Json] = {}
        for id_, each in entries.items():
            name, chosen = f"{CHANNEL_MODELS} of {id_[:40]}", read_channel_model(each)
            if not (id_.isdecimal() and int(id_[:20]) in here):
                self.wrong(f"{name}: no channel of this server")
            elif chosen is None or (chosen.url and chosen.url not in dict(self.endpoints)):
                self.wrong(f"{name}: must hold a model, and the URL of an endpoint above or none")
            else:
                kept[id_] = {"model": chosen.model, "url": chosen.url}
                self.fine(f"{name}: {chosen.model[:100]}")
        if kept:
            self.wide[CHANNEL_MODELS] = kept

    def _read_channel_texts(self, value: Json, here: Collection[int]) -> None:
        entries = _mapping(value)
        if entries is None or len(entries) > MOST_CHANNELS:
            self.wrong(f"{CHANNEL_TEXTS}: must be an object of at most {MOST_CHANNELS} channels")
            return
        for id_, each in entries.items():
            name = f"{CHANNEL_TEXTS} of {id_[:40]}"
            texts = read_channel_texts(each)
            if not (id_.isdecimal() and int(id_[:20]) in here):
                self.wrong(f"{name}: no channel of this server")
            elif texts is None:
                self.wrong(f"{name}: must hold persona, notes, and how: append or replace")
            elif self._takes_text(name, texts.persona) and self._takes_text(name, texts.notes):
                self.fine(f"{name}: {len(texts.persona) + len(texts.notes)} characters")
        if entries:
            self.wide[CHANNEL_TEXTS] = dict(entries)

    def _read_channels(self, value: Json, here: Collection[int]) -> None:
        ids = cast("list[Json]", value) if isinstance(value, list) else []
        if not ids or len(ids) > _MOST_CHANNELS:
            self.wrong(f"{CHANNELS}: must be a list of 1 to {_MOST_CHANNELS} ids, or null for all")
            return
        unknown = [
            one
            for one in ids
            if not (isinstance(one, str) and one.isdecimal() and int(one[:20]) in here)
        ]
        for one in unknown[:5]:
            self.wrong(f"{CHANNELS}: {str(one)[:40]!r} is no channel of this server")
        if not unknown:
            self.wide[CHANNELS] = ids
            self.fine(f"{CHANNELS}: {len(ids)}")

    def _read_whole(self, name: str, value: Json) -> None:
        self.covered.add(name)
        if value is None:
            return
        if _WHOLE[name](value):
            self.wide[name] = value
            self.fine(f"{name}: is set")
        else:
            self.wrong(f"{name}: something in it is no setting, or not with this value")

    def _read_tools(self, value: Json) -> None:
        fields = _mapping(value)
        if fields is None:
            self.wrong(f"{_TOOLS}: must be an object")
            return
        self.covered.update(PORTABLE)
        for name, setting in fields.items():
            if name in PORTABLE and is_setting(name, setting):
                self.wide[name] = setting
                self.fine(f"{_TOOLS}: {name} is set")
            else:
                self.wrong(f"{_TOOLS}: {name[:100]!r} is no setting, or not with this value")

    def _read_switches(self, value: Json) -> None:
        models = _mapping(value)
        if models is None or len(models) > _MOST_MODELS:
            self.wrong(f"switches: must be an object with at most {_MOST_MODELS} models")
            return
        for model, values in models.items():
            self._read_model(model, _mapping(values))

    def _read_model(self, model: str, values: Mapping[str, Json] | None) -> None:
        try:
            name = checked_model(model)
        except SetupRefused as error:
            self.wrong(f"switches: {error}")
            return
        if not name or values is None:
            self.wrong("switches: each model must be named and hold an object")
            return
        read: dict[str, Json] = {}
        for switch, value in values.items():
            try:
                read[switch] = checked(switch[:100], as_word(value))
            except ValueError as error:
                self.wrong(f"switches of {name}: {error}")
            else:
                self.fine(f"switches of {name}: {switch} is {read[switch]}")
        self.switches[name] = read


def _mapping(value: Json) -> Mapping[str, Json] | None:
    return cast("Mapping[str, Json]", value) if isinstance(value, dict) else None
