"""Writes config.toml in the home directory.

Invariant: the file is whole at any moment, readable by its owner only, and secrets are written
encrypted. What a change does not name stays as it was, comments excepted; the file before it is
kept beside it.
"""

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import tomli_w

from data.home import prepare_home
from data.keys import KeyRing, origin
from data.settings import CONFIG_NAME, ENCRYPTED, SECRETS, SettingsError

ConfigValue: TypeAlias = str | int | float

BACKUP_SUFFIX = ".bak"


def write_config(
    home: Path, changes: Mapping[str, ConfigValue | None], keys: KeyRing
) -> Path | None:
    """Set fields in config.toml, None removing one; returns the copy of the file before, if any.

    Secrets are encrypted, an endpoint's key for the origin of the base URL that goes with it. A
    change of that origin without a new key removes the old one. Raises SettingsError or
    StoreError.
    """
    prepare_home(home)
    path = home / CONFIG_NAME
    after = _changed(_read(path), changes, keys)
    text = tomli_w.dumps(after, multiline_strings=True)
    try:
        backup = _back_up(path)
        _replace(path, text)
    except OSError as error:
        raise SettingsError(
            f"{path} cannot be written: {error.strerror}. Give the user that runs Verbatim the "
            "right to write there, or point VERBATIM_HOME at another directory."
        ) from error
    return backup


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError):
        raise SettingsError(
            f"{path} cannot be read as TOML. Mend it, or move it away, before it is written anew."
        ) from None


def _changed(
    before: Mapping[str, Any], changes: Mapping[str, ConfigValue | None], keys: KeyRing
) -> dict[str, Any]:
    after = {**before, **{f: value for f, value in changes.items() if f not in SECRETS}}
    old_url, url = before.get("base_url"), after.get("base_url")
    moved = _origin(old_url) != _origin(url)
    for field in SECRETS:
        bound = field == "api_key"
        if field in changes:
            secret = changes[field]
        elif bound and moved:
            secret = None
        elif field in before and (url or not bound):
            secret = before[field]  # an operator's own, in the clear: encrypted in passing
        else:
            continue
        after.pop(field, None)
        after.pop(f"{field}{ENCRYPTED}", None)
        if secret:
            after[f"{field}{ENCRYPTED}"] = (
                keys.encrypt_for(str(url), str(secret)) if bound else keys.encrypt(str(secret))
            )
    return {field: value for field, value in after.items() if value is not None}


def _origin(url: object) -> str | None:
    try:
        return origin(str(url)) if url else None
    except ValueError:  # not a URL
        return None


def _back_up(path: Path) -> Path | None:
    backup = path.with_name(path.name + BACKUP_SUFFIX)
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    _replace(backup, content.decode("utf-8"))
    return backup


def _replace(path: Path, text: str) -> None:
    """Write aside and move into place, so that an interruption leaves the former file."""
    aside = path.with_name(path.name + ".new")
    aside.unlink(missing_ok=True)
    descriptor = os.open(aside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    aside.replace(path)
