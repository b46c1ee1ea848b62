"""What single settings may hold, each kind with its check.

Invariant: a check raises ValueError in words that go on from the setting's name, and never
repeats the value, which may be a secret.
"""

import math
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit, urlunsplit

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr

_MOST_HOURS = 24 * 365
_MOST_DAYS = 36500


def _one_line_of_ascii(secret: SecretStr) -> SecretStr:
    value = secret.get_secret_value()
    if not (value.isascii() and value.isprintable()) or " " in value:
        raise ValueError("must be one word of plain letters, digits and signs; copy it again")
    return secret


def _service_url(url: str) -> str:
    """A URL with a host and a path, without a slash at its end."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise ValueError("is no valid URL") from error
    if parts.scheme not in {"http", "https"}:
        raise ValueError("must start with http:// or https://")
    if not host:
        raise ValueError("names no host")
    if parts.username is not None or parts.password is not None:
        raise ValueError(
            "must not hold a user name or password; a key has a setting of its own, such as "
            "VERBATIM_API_KEY"
        )
    if parts.query or parts.fragment:
        raise ValueError("must end with its path, without ? and #")
    return urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/"), "", ""))


def _endpoint_url(url: str) -> str:
    parts = urlsplit(_service_url(url))
    # What most people copy is the address of the chat route; the base is what stands before it.
    path = parts.path.removesuffix("/chat/completions").rstrip("/")
    return urlunsplit((parts.scheme, parts.netloc, path or "/v1", "", ""))


def absolute(path: Path) -> Path:
    """`path` with its `~` filled in, seen from the working directory."""
    try:
        return path.expanduser().absolute()
    except RuntimeError as error:
        raise ValueError("starts with ~, but the home directory of that user is unknown") from error


def _finite(seconds: float) -> float:
    if not math.isfinite(seconds):
        raise ValueError("must be a finite number")
    return seconds


def _lower(value: object) -> object:
    return value.lower() if isinstance(value, str) else value


def _guilds(value: object) -> object:
    """A word, or guild ids as people write them: numbers with commas or blanks between."""
    text = str(value).strip().lower().strip("[]")
    if text in {"ask", "all"}:
        return text
    ids = text.replace(",", " ").split()
    if not ids or not all(one.isascii() and one.isdecimal() for one in ids):
        raise ValueError("must be ask, all, or the ids of servers with commas between")
    return frozenset(map(int, ids))


def _hours(value: object) -> object:
    """`off`, or a whole number of hours from 1."""
    text = str(value).strip().lower()
    if text == "off":
        return None
    if not (text.isascii() and text.isdecimal() and 1 <= int(text) <= _MOST_HOURS):
        raise ValueError("must be off, or a whole number of hours, at least 1")
    return int(text)


def _days(value: object) -> object:
    """`off`, or a whole number of days from 1."""
    text = str(value).strip().lower()
    if text == "off":
        return None
    if not (text.isascii() and text.isdecimal() and 1 <= int(text[:9]) <= _MOST_DAYS):
        raise ValueError("must be off, or a whole number of days, at least 1")
    return int(text)


Secret = Annotated[SecretStr, AfterValidator(_one_line_of_ascii)]
Seconds = Annotated[float, Field(gt=0), AfterValidator(_finite)]
AbsolutePath = Annotated[Path, AfterValidator(absolute)]
EndpointUrl = Annotated[str, AfterValidator(_endpoint_url)]
ServiceUrl = Annotated[str, AfterValidator(_service_url)]
Guilds = Annotated[Literal["ask", "all"] | frozenset[int], BeforeValidator(_guilds)]
DaysOrOff = Annotated[int | None, BeforeValidator(_days)]
HoursOrOff = Annotated[int | None, BeforeValidator(_hours)]
OnOff = Annotated[Literal["on", "off"], BeforeValidator(_lower)]
SearchProvider = Annotated[Literal["none", "searxng", "brave", "ddgs"], BeforeValidator(_lower)]
LogLevel = Annotated[
    Literal["debug", "info", "warning", "error", "critical"], BeforeValidator(_lower)
]
LogForm = Annotated[Literal["text", "json"], BeforeValidator(_lower)]
Port = Annotated[int, Field(ge=1, le=65535)]
