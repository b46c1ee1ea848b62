"""The operator's further endpoints, as they are written in settings.

Invariant: each key stands beside the URL that it is for, and no error repeats either.
"""

import json
from typing import Annotated, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict

from data.setting_types import EndpointUrl, Secret

MOST = 5
"""Fallbacks that an operator may name."""


class Fallback(BaseModel):
    """One endpoint. Without a model, the first that it lists is used."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    base_url: EndpointUrl
    model: str | None = None
    api_key: Secret | None = None


def _listed(value: object) -> object:
    """A list, or the JSON of one as a variable holds it."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            raise ValueError("must be a JSON list of objects with base_url") from None
    if not isinstance(value, list | tuple):
        # Settings explain ValueErrors alone.
        raise ValueError("must be a list, in config.toml [[fallbacks]]")  # noqa: TRY004
    entries = cast("list[object] | tuple[object, ...]", value)
    if len(entries) > MOST:
        raise ValueError(f"must name {MOST} endpoints at most")
    return tuple(entries)


Fallbacks = Annotated[tuple[Fallback, ...], BeforeValidator(_listed)]
