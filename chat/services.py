"""Finds who searches, draws and embeds for a guild, and lets its admins choose.

Invariant: what a guild has chosen serves that guild alone; the operator's services serve only the
guilds that the operator's endpoint serves. Nothing is kept that was not checked, and a key goes to
the origin that it was entered for and is never handed out again.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from pydantic import SecretStr

from chat.admission import Admission
from chat.entries import LONGEST_URL, SetupRefused, check_reachable, checked_key, checked_model
from data.keys import KeyLost, KeyRing, origin
from data.services import GuildService, ServiceKind
from data.settings import Settings
from data.store import Store
from tools.search_providers import BRAVE_URL, PROVIDERS
from tools.services import Missing, Service

log = logging.getLogger(__name__)

NONE = "none"

_NO_SEARCH = "no search provider is set; /config search sets one"
_NO_IMAGES = "no image endpoint is set; /config images sets one"
_NO_EMBEDDINGS = "no embeddings endpoint is set; /knowledge embeddings sets one"
_KEY_LOST = "its key can no longer be read; enter it again with {command}"
_COMMANDS: dict[ServiceKind, str] = {
    "search": "/config search",
    "images": "/config images",
    "embeddings": "/knowledge embeddings",
}
_USES: dict[ServiceKind, str] = {"images": "draws", "embeddings": "embeds"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A service as an admin entered it. Without a key, the one that is kept for the same server
    stays."""

    provider: str
    url: str = ""
    model: str = ""
    key: str = field(default="", repr=False)


def operators_services(settings: Settings) -> Mapping[ServiceKind, Service]:
    """What the operator's settings offer; their addresses may lie in the operator's network."""
    found: dict[ServiceKind, Service] = {}
    if settings.search != NONE:
        found["search"] = Service(
            provider=settings.search,
            url=settings.search_url or "",
            key=_clear(settings.search_key),
            allow_private=True,
        )
    if settings.image_url is not None:
        found["images"] = Service(
            provider="openai",
            url=settings.image_url,
            model=settings.image_model or "",
            key=_clear(settings.image_key),
            allow_private=True,
        )
    if settings.embeddings_url is not None:
        found["embeddings"] = Service(
            provider="openai",
            url=settings.embeddings_url,
            model=settings.embeddings_model or "",
            key=_clear(settings.embeddings_key),
            allow_private=True,
        )
    return found


def _clear(secret: SecretStr | None) -> str | None:
    return secret.get_secret_value() if secret else None


class ChosenServices:
    """See tools.services.Services, which this is; and what admins change.

    `operators` are the operator's services, of which there may be none.
    """

    def __init__(
        self,
        store: Store,
        keys: KeyRing,
        admission: Admission,
        *,
        operators: Mapping[ServiceKind, Service],
    ) -> None:
        self._store = store
        self._keys = keys
        self._admission = admission
        self._operators = operators

    async def search(self, guild_id: int) -> Service | Missing:
        """Who searches the web for a guild."""
        return await self._service(guild_id, "search", _NO_SEARCH)

    async def images(self, guild_id: int) -> Service | Missing:
        """Who draws for a guild."""
        return await self._service(guild_id, "images", _NO_IMAGES)

    async def embeddings(self, guild_id: int) -> Service | Missing:
        """Who turns a guild's texts into vectors: an endpoint with OpenAI's embeddings route."""
        return await self._service(guild_id, "embeddings", _NO_EMBEDDINGS)

    async def chosen(self, guild_id: int, kind: ServiceKind) -> GuildService | None:
        """What the guild itself has chosen, if anything."""
        return await self._store.services.get(guild_id, kind)

    async def choose(self, guild_id: int, kind: ServiceKind, wanted: Wanted, *, by: int) -> str:
        """Keep a choice, and tell it in a sentence. Raises SetupRefused."""
        made = await self.checked(guild_id, kind, wanted, by=by)
        await self.keep(guild_id, made)
        return _told(made)

    async def checked(
        self, guild_id: int, kind: ServiceKind, wanted: Wanted, *, by: int
    ) -> GuildService:
        """A choice as it would be kept. Raises SetupRefused."""
        if kind == "search" and wanted.provider not in {NONE, *PROVIDERS}:
            raise SetupRefused(f"The provider is one of: none, {', '.join(PROVIDERS)}.")
        if wanted.provider == NONE:
            return _made(guild_id, kind, NONE, by=by)
        url, allow_private = await self._checked_url(guild_id, kind, wanted, by=by)
        key = checked_key(wanted.key)
        sealed = self._keys.encrypt_for(url, key) if key else await self._kept(guild_id, kind, url)
        if wanted.provider == "brave" and sealed is None:
            raise SetupRefused("Brave needs a key of its Search API. Enter it in the form.")
        model = checked_model(wanted.model)
        if kind in _USES and not model:
            raise SetupRefused(f"Name the model that {_USES[kind]}, as the endpoint knows it.")
        return replace(
            _made(guild_id, kind, wanted.provider, by=by),
            base_url=url,
            model=model,
            sealed_key=sealed,
            allow_private=allow_private,
        )

    async def keep(self, guild_id: int, made: GuildService) -> None:
        """Keep a choice that was checked."""
        await self._store.services.put(
            guild_id,
            made.kind,
            provider=made.provider,
            base_url=made.base_url,
            model=made.model,
            sealed_key=made.sealed_key,
            allow_private=made.allow_private,
            set_by=made.set_by,
        )
        log.info(
            "Server %s has chosen %s for %s, set by %s.",
            guild_id,
            made.provider,
            made.kind,
            made.set_by,
        )

    async def forget(self, guild_id: int, kind: ServiceKind) -> None:
        """Go back to what the operator offers."""
        await self._store.services.remove(guild_id, kind)

    async def _service(self, guild_id: int, kind: ServiceKind, none: str) -> Service | Missing:
        own = await self._store.services.get(guild_id, kind) if guild_id else None
        if own is None:
            default = self._operators.get(kind)
            if default is None:
                return Missing(why=none)
            if guild_id and not await self._admission.is_approved(guild_id):
                return Missing(why=f"{none}. The operator's serves approved servers only")
            return default
        if own.provider == NONE:
            return Missing(why=none)
        try:
            key = own.sealed_key and self._keys.decrypt_for(own.base_url, own.sealed_key)
        except KeyLost:
            return Missing(why=_KEY_LOST.format(command=_COMMANDS[kind]))
        return Service(
            provider=own.provider,
            url=own.base_url,
            model=own.model,
            key=key,
            allow_private=own.allow_private,
        )

    async def _checked_url(
        self, guild_id: int, kind: ServiceKind, wanted: Wanted, *, by: int
    ) -> tuple[str, bool]:
        """The URL in the form that is kept, and whether it may be private. Raises SetupRefused."""
        if kind == "search" and wanted.provider != "searxng":
            return (BRAVE_URL if wanted.provider == "brave" else ""), False
        url = wanted.url.strip().rstrip("/")
        if not url:
            raise SetupRefused("Enter the URL of the server, such as https://host.")
        url = url if "://" in url else f"https://{url}"
        if len(url) > LONGEST_URL or "?" in url or "#" in url:
            raise SetupRefused(
                f"The URL must end with its path and have at most {LONGEST_URL} characters."
            )
        allow_private = by in self._admission.operators
        former = await self._store.services.get(guild_id, kind)
        if former is not None and former.base_url == url:
            return url, former.allow_private or allow_private
        await check_reachable(url, allow_private=allow_private)
        return url, allow_private

    async def _kept(self, guild_id: int, kind: ServiceKind, url: str) -> str | None:
        former = await self._store.services.get(guild_id, kind)
        if former is None or not url or not former.base_url:
            return None
        return former.sealed_key if origin(former.base_url) == origin(url) else None


def _made(guild_id: int, kind: ServiceKind, provider: str, *, by: int) -> GuildService:
    return GuildService(
        guild_id=guild_id,
        kind=kind,
        provider=provider,
        base_url="",
        model="",
        sealed_key=None,
        allow_private=False,
        set_by=by,
        at=datetime.now(UTC),
    )


def _told(made: GuildService) -> str:
    if made.provider == NONE:
        return f"Saved: off on this server, also where the operator offers {made.kind}."
    named = made.model or made.provider
    kept = "with a key" if made.sealed_key else "without a key"
    if made.base_url and made.base_url != BRAVE_URL:
        return f"Saved: {named} at {made.base_url}, {kept}."
    return f"Saved: {named}, {kept}."
