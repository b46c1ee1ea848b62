"""Takes over the configuration of llmcord, and says line by line what became of it.

Invariant: every entry of the file gets a line, none of which holds a secret; nothing is written
before the operator has seen them all.
"""

import argparse
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO, TypeAlias, cast

import yaml
from pydantic import ValidationError
from rich.console import Console

from cli.setup.questions import InputEnded, Questions
from data.config_file import ConfigValue, write_config
from data.errors import StoreError
from data.keys import open_keys
from data.settings import CONFIG_NAME, Settings, SettingsError

Entries: TypeAlias = Mapping[str, Any]

_NO_KEY = "sk-no-key-required"
"""What llmcord sends where none is set."""

_CLOCK = re.compile(r"[^.!?\n]*\{(?:date|time)\}[^.!?\n]*[.!?]?[ \t]*")
"""A sentence in which llmcord fills in the time."""

_INSTEAD = {
    "client_id": "not needed: the bot learns it from Discord and shows the invite link",
    "status_message": "the bot shows no status of its own",
    "max_text": "the length of a message counts against the context window (context_window)",
    "max_images": "up to four images of the newest messages are sent",
    "max_messages": "history is measured in tokens and fills the context window (context_window)",
    "use_plain_responses": "replies are plain messages, as with `true` there",
    "users.admin_ids": "who runs the bot is whoever owns the application, or its team, in the "
    "Developer Portal; who configures it on a server is whoever has Manage Server",
    "users": "Discord decides: give the bot's role access to channels that only those people see",
    "roles": "Discord decides: give the bot's role access to channels that only those roles see",
    "channels": "Discord decides: take View Channel from the bot's role where it is not to answer",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Takeover:
    """What config.toml gets, and a line for each entry: what was taken over, and what was not."""

    changes: Mapping[str, ConfigValue] = field(repr=False)
    taken: Sequence[str]
    left: Sequence[str]


class NotReadable(Exception):
    """The file is no configuration of llmcord. The text says why, and quotes nothing of it."""


def run(args: argparse.Namespace, settings: Settings, stdin: TextIO, stdout: TextIO) -> int:
    """Read, tell, ask and write; returns an exit status."""
    ask = Questions(Console(file=stdout), stdin, assume_defaults=args.yes)
    try:
        takeover = translate(_read(args.file), model=args.model)
        for title, lines in (("Taken over", takeover.taken), ("Not taken over", takeover.left)):
            if lines:
                ask.say(f"{title}:", "bold")
            for line in lines:
                ask.say(f"  {line}")
        return _write(takeover, settings, ask)
    except InputEnded:
        ask.say("\nNothing was written.")
    except (NotReadable, SettingsError, StoreError) as error:
        ask.say(f"{error}\nNothing was written.")
    return 1


def translate(config: Entries, *, model: str | None = None) -> Takeover:
    """What a configuration comes to. `model` is `provider/model`, by default the first one.

    Raises NotReadable if `model` is not in it.
    """
    taking = _Taking()
    chosen, parameters = _chosen_model(config, model, taking)
    for name, value in config.items():
        match name:
            case "bot_token":
                taking.take("discord_token", value, "bot_token")
            case "providers":
                _take_provider(_mapping(value), chosen.partition("/")[0], taking)
            case "models" | "model":
                pass  # looked at before
            case "extra_api_parameters":
                _take_parameters(_mapping(value), name, taking)
            case "system_prompt":
                _take_prompt(value, taking)
            case "allow_dms":
                taking.take("dms", "on" if value else "off", name)
            case "permissions":
                taking.left += _permissions(_mapping(value))
            case _:
                taking.left.append(f"{name}: {_INSTEAD.get(name, 'not known here')}")
    _take_parameters(parameters, chosen, taking)
    return Takeover(changes=taking.changes, taken=taking.taken, left=taking.left)


class _Taking:
    """Collects changes, each checked as a setting, and lines."""

    def __init__(self) -> None:
        self.changes: dict[str, ConfigValue] = {}
        self.taken: list[str] = []
        self.left: list[str] = []

    def take(self, setting: str, value: Any, source: str, words: str = "") -> None:
        """Take `value` over, unless it is empty or not valid here."""
        if value is None or value == "":
            return
        try:
            checked = getattr(Settings.model_validate({setting: value}), setting)
        except ValidationError as error:
            (detail, *_) = error.errors(include_url=False, include_context=False)
            problem = detail["msg"].removeprefix("Value error, ")
            self.left.append(f"{source}: {problem}")
            return
        secret = setting in {"discord_token", "api_key"}
        self.changes[setting] = checked.get_secret_value() if secret else checked
        shown = words or ("kept encrypted" if secret else str(checked))
        self.taken.append(f"{source} -> {setting}: {shown}")


def _chosen_model(config: Entries, wanted: str | None, taking: _Taking) -> tuple[str, Entries]:
    """The model that is used, as `provider/model`, and its parameters."""
    models = _mapping(config.get("models"))
    if not models and isinstance(config.get("model"), str):
        models = _mapping(
            {config["model"]: None}
        )  # how llmcord named its one model before it knew several
    if wanted is not None and wanted not in models:
        raise NotReadable(
            f"There is no model {wanted!r} in it, only: {', '.join(models) or 'none'}."
        )
    chosen = wanted or next(iter(models), "")
    if chosen:
        # llmcord marks models that see with a suffix that is not part of the name
        name = chosen.partition("/")[2].removesuffix(":vision")
        taking.take("model", name, f"model {chosen}")
    taking.left += [
        f"model {other}: one model is used at a time; a server can bring its own with /config setup"
        for other in models
        if other != chosen
    ]
    return chosen, _mapping(models.get(chosen))


def _take_provider(providers: Entries, chosen: str, taking: _Taking) -> None:
    for name, value in providers.items():
        if name != chosen:
            taking.left.append(f"provider {name}: the model that is used is not one of its")
            continue
        entries = _mapping(value)
        taking.take("base_url", entries.get("base_url"), f"provider {name}")
        key = entries.get("api_key")
        if key and key != _NO_KEY and "base_url" in taking.changes:
            taking.take("api_key", key, f"provider {name}")
        taking.left += [
            f"provider {name}, {entry}: extra fields are not sent"
            for entry in entries
            if entry not in {"base_url", "api_key"}
        ]
    if chosen and chosen not in providers:
        taking.left.append(
            f"model: its provider {chosen} is not there; set base_url in {CONFIG_NAME}"
        )


def _take_parameters(parameters: Entries, source: str, taking: _Taking) -> None:
    for name, value in parameters.items():
        match name:
            case "temperature":
                taking.take("temperature", value, f"{source}, {name}")
            case "max_tokens" | "max_completion_tokens":
                taking.take("max_reply_tokens", value, f"{source}, {name}")
            case _:
                taking.left.append(f"{source}, {name}: set it at the server that runs the model")


def _take_prompt(value: Any, taking: _Taking) -> None:
    if not isinstance(value, str):
        return
    taking.left += [
        f"system_prompt, {sentence.group().strip()!r}: the bot tells the model the time by itself"
        for sentence in _CLOCK.finditer(value)
    ]
    persona = _CLOCK.sub("", value).strip()
    taking.take("persona", persona, "system_prompt", f"{len(persona)} characters")


def _permissions(permissions: Entries) -> Iterator[str]:
    for kind, lists in permissions.items():
        for name, ids in _mapping(lists).items():
            if ids:
                instead = _INSTEAD.get(f"{kind}.{name}") or _INSTEAD.get(kind, "not known here")
                count = len(cast("list[Any]", ids)) if isinstance(ids, list) else 1
                yield f"permissions, {kind}.{name} ({count}): {instead}"


def _mapping(value: Any) -> Entries:
    """Entries by name; empty for anything else, as YAML has None for an empty one."""
    if not isinstance(value, dict):
        return {}
    return {str(name): entry for name, entry in cast("dict[Any, Any]", value).items()}


def _read(path: Path) -> Entries:
    try:
        config = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise NotReadable(f"{path} cannot be read: {reason}.") from error
    except (yaml.YAMLError, RecursionError) as error:
        mark = error.problem_mark if isinstance(error, yaml.MarkedYAMLError) else None
        where = f" in line {mark.line + 1}" if mark else ""
        # Without the error itself, which quotes the line.
        raise NotReadable(f"{path} is not valid YAML{where}.") from None
    entries = _mapping(config)
    if not entries.keys() & {"providers", "models", "bot_token"}:
        raise NotReadable(
            f"{path} is no configuration of llmcord: it has neither providers nor models."
        )
    return entries


def _write(takeover: Takeover, settings: Settings, ask: Questions) -> int:
    path = settings.home / CONFIG_NAME
    question = f"Change {path}, which exists?" if path.exists() else f"Write it to {path}?"
    if not takeover.changes or not ask.yes(question):
        ask.say("Nothing was written.")
        return 0
    master = settings.master_key.get_secret_value() if settings.master_key else None
    backup = write_config(settings.home, takeover.changes, open_keys(settings.home, master))
    kept = f" The file before it is {backup.name}." if backup else ""
    ask.say(f"Written: {path}.{kept} Secrets in it are encrypted.")
    ask.say("Try it: python bot.py setup")
    return 0
