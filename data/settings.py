"""What the operator decides about this process, read once at its start.

Invariant: nothing is read at import. `load_settings` looks at the environment that it is given
and at two files, and yields a frozen, checked Settings or a SettingsError that names every
problem at once. Secrets appear neither in a repr nor in an error.
"""

import logging
import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError, model_validator
from pydantic_settings import (
    BaseSettings,
    DotEnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)
from pydantic_settings.exceptions import SettingsError as _SourceError

from data.errors import StoreError
from data.fallbacks import Fallbacks
from data.keys import KeyLost, KeyRing, WrongOrigin, open_keys
from data.service_settings import ServiceSettings
from data.setting_types import (
    AbsolutePath,
    DaysOrOff,
    EndpointUrl,
    Guilds,
    HoursOrOff,
    LogForm,
    LogLevel,
    OnOff,
    Port,
    Seconds,
    Secret,
    absolute,
)

log = logging.getLogger(__name__)

REPOSITORY = Path(__file__).resolve().parent.parent
DOTENV = REPOSITORY / ".env"
CONFIG_NAME = "config.toml"
"""Looked for in the home directory."""

SECRETS = ("discord_token", "api_key")
ENCRYPTED = "_encrypted"
"""Ends the name under which config.toml holds one of SECRETS encrypted."""

_NOT_IN_CONFIG = {
    "home": "since it lies there",
    "master_key": "since a key beside its lock protects nothing",
}


class SettingsError(Exception):
    """Settings that cannot be used. The message has one line for each problem, and no value."""


class Settings(ServiceSettings):
    """The operator's settings. Constructed directly, it reads nothing but its arguments."""

    model_config = SettingsConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    discord_token: Secret | None = Field(
        default=None,
        description="the bot's token from the Discord developer portal; without it, chat runs "
        "in the terminal",
    )
    base_url: EndpointUrl | None = Field(
        default=None,
        description="the base URL of an OpenAI-compatible endpoint; without it, the embedded "
        "endpoint is offered",
        examples=["https://api.example.com/v1"],
    )
    model: str | None = Field(
        default=None,
        description="the model's name as the endpoint knows it; without it, the first one that "
        "the endpoint lists",
        examples=["qwen3-8b"],
    )
    api_key: Secret | None = Field(
        default=None, description="the key for that endpoint, if it asks for one"
    )
    fallbacks: Fallbacks = Field(
        default=(),
        description="further endpoints, tried in order where that one fails; each with base_url, "
        "and model and api_key if needed",
        examples=['[{"base_url": "https://llm.example/v1", "model": "m"}]'],
    )
    master_key: Secret | None = Field(
        default=None,
        description="the key that secrets are encrypted with; without it, one is made and kept in "
        "master.key in the home directory",
    )
    home: AbsolutePath = Field(
        default=REPOSITORY / "var",
        description="the directory for everything that is kept: database, models, logs",
        examples=["/srv/verbatim"],
    )
    model_path: AbsolutePath | None = Field(
        default=None,
        description="a GGUF file for the embedded endpoint, used instead of fetching its model",
        examples=["/srv/models/qwen3-4b.gguf"],
    )
    persona: str | None = Field(
        default=None,
        description="who the bot is and how it speaks, in place of the built-in persona",
        examples=["You are Ada, a patient librarian. Answer in two sentences."],
    )
    context_window: int | None = Field(
        default=None,
        ge=1024,
        description="the model's context window in tokens; without it, 8,192 is assumed",
        examples=[8192],
    )
    max_reply_tokens: int = Field(
        default=1024, ge=16, description="the longest reply in tokens, less than the context window"
    )
    temperature: float | None = Field(
        default=None,
        ge=0,
        le=2,
        description="the sampling temperature, 0 to 2; without it, the endpoint's own default, "
        "or 0 for the embedded endpoint",
        examples=[0.7],
    )
    first_token_timeout: Seconds = Field(
        default=300, description="the longest wait for the first piece of an answer, in seconds"
    )
    idle_timeout: Seconds = Field(
        default=120, description="the longest pause between two pieces of an answer, in seconds"
    )
    approved_guilds: Guilds = Field(
        default="ask",
        description="which servers your endpoint serves without your being asked: all, or a "
        "list of server ids; the others ask you in a direct message",
        examples=["81384788765712384, 41771983423143937"],
    )
    dms: OnOff | None = Field(
        default=None,
        description="on or off: whether others than you may chat in direct messages; without it, "
        "what /config dms says",
        examples=["off"],
    )
    probe: OnOff = Field(
        default="on",
        description="on or off: whether your endpoint is asked a few tiny questions at start, as "
        "long as nothing is known of it, to learn how it takes tools",
        examples=["off"],
    )
    keep_turns: DaysOrOff = Field(
        default=90,
        description="off, or the days for which answered messages are kept with their tool calls",
    )
    backup_every: HoursOrOff = Field(
        default=24, description="off, or the hours between two backups of the database"
    )
    backup_keep: int = Field(default=7, ge=1, description="how many of those backups are kept")
    log_level: LogLevel = Field(
        default="info", description="how much is logged: debug, info, warning, error or critical"
    )
    log_form: LogForm = Field(
        default="text", description="text or json: how a line of the log is written"
    )
    metrics_port: Port | None = Field(
        default=None,
        description="the port on which /healthz and /metrics are served; without it, none is",
        examples=[9464],
    )
    metrics_host: str = Field(
        default="127.0.0.1", description="the address of this machine that the port belongs to"
    )

    @model_validator(mode="after")
    def _room_for_a_prompt(self) -> "Settings":
        if self.context_window is not None and self.max_reply_tokens >= self.context_window:
            raise ValueError("VERBATIM_MAX_REPLY_TOKENS must be less than VERBATIM_CONTEXT_WINDOW")
        return self

    def secrets(self) -> list[str]:
        """What must appear in nothing that is shown, recorded or logged."""
        held = [self.discord_token, self.api_key, *self.service_keys]
        held += [each.api_key for each in self.fallbacks]
        return [secret.get_secret_value() for secret in held if secret is not None]

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Only arguments: layers are put together by `load_settings`, which is told of each."""
        return (init_settings,)


def variable(field: str) -> str:
    """The environment variable that sets a field."""
    return "DISCORD_TOKEN" if field == "discord_token" else f"VERBATIM_{field.upper()}"


def load_settings(
    environ: Mapping[str, str],
    *,
    dotenv: Path | None = DOTENV,
    tolerate_lost_keys: bool = False,
) -> Settings:
    """Settings from `environ`, then the file `dotenv`, then config.toml in the home directory.

    What stands earlier in this list wins. Blank values count as unset. Raises SettingsError.
    With `tolerate_lost_keys` a secret that cannot be decrypted any more counts as unset too,
    after a warning: for whoever is about to ask for it again.
    """
    layers = _variable_layers(environ, dotenv)
    home = _home(layers)
    config = home / CONFIG_NAME
    layers.append((str(config), _read_config(config)))

    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for origin, layer in layers:
        for field, value in layer.items():
            if field not in values:
                values[field] = value
                origins[field] = origin
    _decrypt(values, origins, home, tolerate_lost_keys=tolerate_lost_keys)
    try:
        return Settings(**values)
    except ValidationError as error:
        message = _explain(error, origins)
    # Raised out here so that no traceback shows the validation error and its input.
    raise SettingsError(message)


def set_by_variables(
    environ: Mapping[str, str], *, dotenv: Path | None = DOTENV
) -> Mapping[str, str]:
    """The fields that config.toml cannot change, each with the place that sets it instead."""
    layers = _variable_layers(environ, dotenv)
    return {field: origin for origin, layer in reversed(layers) for field in layer}


def _variable_layers(
    environ: Mapping[str, str], dotenv: Path | None
) -> list[tuple[str, dict[str, Any]]]:
    layers: list[tuple[str, dict[str, Any]]] = [("the environment", _from_variables(environ))]
    if dotenv is not None:
        layers.append((str(dotenv), _from_variables(_read_dotenv(dotenv))))
    return layers


def _from_variables(variables: Mapping[str, str | None]) -> dict[str, str]:
    """The fields that are set in `variables`."""
    values = {field: variables.get(variable(field)) for field in Settings.model_fields}
    return {field: value.strip() for field, value in values.items() if value and value.strip()}


def _read_dotenv(path: Path) -> Mapping[str, str | None]:
    try:
        return DotEnvSettingsSource(Settings, env_file=path, case_sensitive=True).env_vars
    except (OSError, UnicodeDecodeError, _SourceError) as error:
        raise SettingsError(
            f"{path} cannot be read: {_reason(error)}. Make it a UTF-8 text file that the user "
            "that runs Verbatim can read, or remove it."
        ) from None


def _home(layers: list[tuple[str, dict[str, Any]]]) -> Path:
    """Where config.toml is looked for: the home directory that the layers before it name."""
    for origin, layer in layers:
        if "home" in layer:
            try:
                return absolute(Path(layer["home"]))
            except ValueError as error:
                raise SettingsError(_line("home", str(error), origin)) from None
    default: Path = Settings.model_fields["home"].default
    return default


def _read_config(path: Path) -> dict[str, Any]:
    """The fields that are set in the file at `path`, if there is one."""
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        if not path.parent.is_file():
            return {}
        raise SettingsError(f"{path.parent} is no directory. Set VERBATIM_HOME to one.") from None
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{path} is not valid TOML: {error}. Mend that line.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(
            f"{path} cannot be read: {_reason(error)}. Make it a UTF-8 text file that the user "
            "that runs Verbatim can read, or remove it."
        ) from None
    valid = [field for field in Settings.model_fields if field not in _NOT_IN_CONFIG]
    encrypted = [f"{field}{ENCRYPTED}" for field in SECRETS]
    problems = [_unknown_key(key, valid, path) for key in values if key not in valid + encrypted]
    problems += [
        f"{path} holds both {field} and {field}{ENCRYPTED}. Remove one of them."
        for field in SECRETS
        if field in values and f"{field}{ENCRYPTED}" in values
    ]
    if problems:
        raise SettingsError("\n".join(problems))
    return {
        key: value
        for key, value in values.items()
        if not (isinstance(value, str) and not value.strip())
    }


def _decrypt(
    values: dict[str, Any], origins: dict[str, str], home: Path, *, tolerate_lost_keys: bool
) -> None:
    """Put what is kept encrypted into `values`, where nothing before it sets the secret.

    An endpoint's key stays out where it was entered for another server than the one in use.
    """
    keys: KeyRing | None = None
    for field in SECRETS:
        stored = values.pop(f"{field}{ENCRYPTED}", None)
        origin = origins.pop(f"{field}{ENCRYPTED}", "")
        url = values.get("base_url")
        if stored is None or field in values or (field == "api_key" and url is None):
            continue
        try:
            keys = keys or open_keys(home, values.get("master_key"))
            values[field] = (
                keys.decrypt_for(str(url), str(stored))
                if field == "api_key"
                else keys.decrypt(str(stored))
            )
            origins[field] = origin
        except WrongOrigin as error:
            log.warning("%s", error)
        except KeyLost as error:
            if not tolerate_lost_keys:
                raise SettingsError(str(error)) from None
            log.warning("%s", error)
        except StoreError as error:
            raise SettingsError(str(error)) from None
        except ValueError:  # a URL without an origin, which is told about in a moment
            pass


def _unknown_key(key: str, valid: list[str], path: Path) -> str:
    if key in _NOT_IN_CONFIG:
        return f"{path} cannot set {key}, {_NOT_IN_CONFIG[key]}. Set {variable(key)} instead."
    plain = key.lower().replace("-", "_").removeprefix("verbatim_")
    (nearest,) = get_close_matches(plain, valid, n=1, cutoff=0) or valid[:1]
    return f"{path} has an unknown key, {key!r}. Did you mean {nearest}?"


def _explain(error: ValidationError, origins: Mapping[str, str]) -> str:
    """One line a problem. Takes nothing from the error that could hold a value."""
    lines: list[str] = []
    for detail in error.errors(include_url=False, include_context=False, include_input=False):
        problem = detail["msg"].removeprefix("Value error, ").replace("Input should", "must")
        problem = problem.partition(", unable to parse")[0]
        if not detail["loc"]:
            lines.append(f"{problem}. Change one of them.")
            continue
        field = str(detail["loc"][0])
        lines.append(_line(field, problem, origins[field]))
    return "\n".join(dict.fromkeys(lines))


def _line(field: str, problem: str, origin: str) -> str:
    info = Settings.model_fields[field]
    what, _, _ = (info.description or "").partition(";")
    example = info.examples[0] if info.examples else info.default
    hint = "" if example is None else f", for example {example}"
    return f"{variable(field)} (from {origin}): {problem}. Give {what}{hint}, or leave it unset."


def _reason(error: Exception) -> str:
    return (error.strerror or "") if isinstance(error, OSError) else "it is not UTF-8 text"
