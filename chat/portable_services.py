"""The services beside the model that a guild has chosen, as part of its configuration as a file.

Invariant: no key is in the file, and what a file may choose is what its admin could choose by hand.
A service that does nothing without a key, where none is kept for it, is left as it was, and told.
"""

from collections.abc import Mapping
from typing import cast

from chat.entries import SetupRefused
from chat.services import ChosenServices, Wanted
from data.services import KINDS, GuildService, ServiceKind
from prompt.values import Json

SERVICES = "services"
"""Their name in the file."""

_FIELDS = {"provider", "base_url", "model"}
_NEEDS_KEY = "brave"


async def exported(services: ChosenServices, guild_id: int) -> dict[str, Json]:
    """What the guild has chosen, by kind; None where it has the operator's."""
    chosen = {kind: await services.chosen(guild_id, kind) for kind in KINDS}
    return {
        kind: each and {"provider": each.provider, "base_url": each.base_url, "model": each.model}
        for kind, each in chosen.items()
    }


class ReadServices:
    """Services out of a file. `wrong` tells what does not hold, `fine` what does."""

    def __init__(self) -> None:
        self.wrong: list[str] = []
        self.fine: list[str] = []
        self._made: dict[ServiceKind, GuildService | None] = {}

    async def read(self, services: ChosenServices, guild_id: int, value: Json, *, by: int) -> None:
        """Check what stands under SERVICES."""
        entries = cast("Mapping[str, Json]", value) if isinstance(value, Mapping) else None
        if entries is None or not entries.keys() <= set(KINDS):
            self.wrong.append(f"{SERVICES}: must be an object with {', '.join(KINDS)} at most")
            return
        for kind in KINDS:
            if kind not in entries:
                continue
            if (entry := entries[kind]) is None:
                self._made[kind] = None
                continue
            if (wanted := _wanted(entry)) is None:
                fields = "provider, base_url and model"
                self.wrong.append(f"{SERVICES}: {kind} must hold the texts {fields} alone")
                continue
            present = await services.chosen(guild_id, kind)
            has_key = present is not None and present.sealed_key is not None
            if wanted.provider == _NEEDS_KEY and not (
                has_key and present is not None and present.provider == _NEEDS_KEY
            ):
                self.fine.append(f"{SERVICES}: {wanted.provider} needs a key, choose it anew")
                continue
            try:
                self._made[kind] = await services.checked(guild_id, kind, wanted, by=by)
            except SetupRefused as error:
                self.wrong.append(f"{SERVICES}: {error}")
            else:
                self.fine.append(f"{SERVICES}: {kind} by {wanted.model or wanted.provider}")

    async def keep(self, services: ChosenServices, guild_id: int) -> None:
        """Put what was read in the place of what the guild had."""
        for kind, made in self._made.items():
            if made is None:
                await services.forget(guild_id, kind)
            else:
                await services.keep(guild_id, made)


def _wanted(entry: Json) -> Wanted | None:
    if not isinstance(entry, Mapping):
        return None
    fields = cast("Mapping[str, Json]", entry)
    if set(fields) != _FIELDS or not all(isinstance(each, str) for each in fields.values()):
        return None
    return Wanted(provider=fields["provider"], url=fields["base_url"], model=fields["model"])
