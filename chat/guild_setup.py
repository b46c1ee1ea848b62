"""What a guild's admins set up for it: endpoint, model, persona; and whether it works.

Invariant: nothing is kept that was not checked, an address in the operator's own network only
when the operator sets it, and a key is never handed out again in any form.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime

from chat.admission import Admission
from chat.endpoints import (
    CHANNEL_MODELS,
    FIRST_SPOT,
    LAST_RESORT,
    MODEL,
    ChannelModel,
    Connect,
    Endpoints,
    Spot,
    channel_models,
)
from chat.entries import LONGEST_URL, SetupRefused, check_reachable, checked_key, checked_model
from chat.personas import MOST_CHANNELS
from chat.planning import MAX_REPLANS
from data.endpoints import GuildEndpoint, TooMany
from data.keys import KeyLost, origin
from data.services import KINDS
from data.store import Store
from prompt.assemble import assemble
from prompt.events import ReasoningDelta, TextDelta
from prompt.prompt import Prompt
from prompt.snapshot import Budget, Snapshot
from prompt.surface import ToolSurface
from prompt.values import Json, TextPart, Turn
from prompt.verbatim import ToolConfig, Verdict
from providers.base import EndpointError, Provider, Replan, RequestOptions
from providers.openai.address import normalised
from providers.wire import WIRE_NAMES

log = logging.getLogger(__name__)

_LISTED_FOR = 30.0
"""Seconds that a list of models is good for."""

_LIST_PATIENCE = 2.0
"""Seconds that whoever types waits for it; Discord allows three."""

_TEST_TOKENS = 256
_SHOWN_ANSWER = 100
_NAMED_MODELS = 10


_OPERATORS_MODEL = (
    "This server uses the operator's endpoint, whose model the operator chooses. Bring an endpoint "
    "of your own with /config setup to choose a model."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """An endpoint as an admin entered it. Without a model, the first that the server lists is
    taken; without a key, the one that is kept for the same server stays."""

    url: str
    model: str = ""
    key: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Saved:
    """An endpoint as it was kept. `behind` is whether others are asked before it, `doubt` tells
    what may still be wrong with it."""

    url: str
    model: str
    has_key: bool
    behind: bool = False
    doubt: str = ""


class GuildSetup:
    """One guild's setup at a time, over the store and the endpoints of all.

    `changed` is told the guild that has another endpoint or model from now on, and where.
    """

    def __init__(
        self,
        *,
        store: Store,
        endpoints: Endpoints,
        connect: Connect,
        admission: Admission,
        changed: Callable[[int, Spot], None] = lambda _, __: None,
    ) -> None:
        self._store = store
        self._endpoints = endpoints
        self._connect = connect
        self._admission = admission
        self._changed = changed
        self._listed: dict[tuple[str, str], tuple[float, Sequence[str]]] = {}

    async def endpoint(self, guild_id: int) -> GuildEndpoint | None:
        """The first of the guild's own endpoints, if it brought any."""
        return await self._store.endpoints.get(guild_id)

    async def endpoints(self, guild_id: int) -> Sequence[GuildEndpoint]:
        """The guild's own endpoints, in the order in which they are tried."""
        return await self._store.endpoints.all(guild_id)

    async def move_endpoint(self, guild_id: int, endpoint_id: str, *, by: int) -> None:
        """Let one be tried so many places later, earlier if negative."""
        await self._store.endpoints.move(guild_id, endpoint_id, by=by)
        self._changed(guild_id, FIRST_SPOT)

    async def remove_endpoint(self, guild_id: int, endpoint_id: str) -> None:
        """Forget one with its key."""
        await self._store.endpoints.remove_one(guild_id, endpoint_id)
        log.info("Server %s removed one of its endpoints.", guild_id)
        self._changed(guild_id, FIRST_SPOT)

    async def last_resort(self, guild_id: int) -> bool:
        """Whether the operator's endpoint is to answer where the guild's own fail."""
        return bool((await self._store.settings.values(guild_id, "")).get(LAST_RESORT))

    async def set_last_resort(self, guild_id: int, *, on: bool) -> None:
        """Let it, or not. It answers only a guild that the operator has approved."""
        await self._store.settings.put(guild_id, "", LAST_RESORT, on or None)

    async def check_address(self, guild_id: int, url: str, *, by: int) -> tuple[str, bool]:
        """A URL in the form that is kept, and whether it may lead into the operator's network.

        Raises SetupRefused.
        """
        text = url.strip()
        try:
            text = normalised(text if "://" in text else f"https://{text}")
        except ValueError as error:
            raise SetupRefused("That is no valid URL. It looks like https://host/v1.") from error
        own = await self._store.endpoints.all(guild_id)
        if former := [each for each in own if each.base_url == text]:
            allowed = any(each.allow_private for each in former)
            return text, allowed or by in self._admission.operators
        allow_private = by in self._admission.operators
        if len(text) > LONGEST_URL:
            raise SetupRefused(f"The URL must not be longer than {LONGEST_URL} characters.")
        await check_reachable(text, allow_private=allow_private)
        return text, allow_private

    async def set_endpoint(
        self, guild_id: int, wish: Wish, *, by: int, added: bool = False
    ) -> Saved:
        """Keep an endpoint for a guild, in the place of its first or `added` behind all others,
        after asking it for its models. Raises SetupRefused."""
        url, allow_private = await self.check_address(guild_id, wish.url, by=by)
        key = checked_key(wish.key)
        model = checked_model(wish.model)
        sealed = self._endpoints.sealed(url, key) if key else await self._kept_key(guild_id, url)
        tried = GuildEndpoint(
            id="",
            guild_id=guild_id,
            base_url=url,
            model=model,
            sealed_key=sealed,
            allow_private=allow_private,
            set_by=by,
            at=datetime.now(UTC),
        )
        model, doubt = await self._chosen_model(tried)
        try:
            await self._store.endpoints.put(
                guild_id,
                base_url=url,
                model=model,
                sealed_key=sealed,
                allow_private=allow_private,
                set_by=by,
                added=added,
            )
        except TooMany as error:
            raise SetupRefused(str(error)) from error
        log.info("Server %s has an endpoint of its own, set by %s.", guild_id, by)
        own = await self.endpoints(guild_id)
        places = [place for place, each in enumerate(own) if _is(each, url, model)]
        self._changed(guild_id, Spot(rank=places[0] if added and places else 0))
        return Saved(
            url=url,
            model=model,
            has_key=sealed is not None,
            behind=added and len(own) > 1,
            doubt=doubt,
        )

    async def models(self, guild_id: int, *, by: int) -> Sequence[str]:
        """The models that may be chosen, as far as the server lists them in time."""
        if not await self._may_choose(guild_id, by=by):
            return []
        try:
            async with self._endpoints.serving(guild_id) as route:
                cached = route.key, str(route.owner)
                at, names = self._listed.get(cached, (0.0, []))
                if not names or time.monotonic() - at > _LISTED_FOR:
                    async with asyncio.timeout(_LIST_PATIENCE):
                        names = await route.provider.list_models()
                    self._listed[cached] = time.monotonic(), names
                return names
        except (EndpointError, TimeoutError) as error:
            log.info("The models for server %s could not be listed: %s", guild_id, error)
            return []

    async def set_model(self, guild_id: int, model: str, *, by: int) -> str:
        """Choose a model of the endpoint that serves the guild, and return what is doubtful about
        it, empty if nothing is. Raises SetupRefused."""
        name = checked_model(model)
        if not name:
            raise SetupRefused("Name a model.")
        if not await self._may_choose(guild_id, by=by):
            raise SetupRefused(_OPERATORS_MODEL)
        if await self._store.endpoints.get(guild_id) is None:
            await self._store.settings.put(guild_id, "", MODEL, name)
        else:
            await self._store.endpoints.set_model(guild_id, name)
        self._changed(guild_id, FIRST_SPOT)
        return _unlisted(name, await self.models(guild_id, by=by))

    async def reset(self, guild_id: int) -> None:
        """Forget all that admins have set, their endpoints with their keys too."""
        await self._store.endpoints.remove(guild_id)
        await self._store.settings.replace(guild_id, {})
        for kind in KINDS:
            await self._store.services.remove(guild_id, kind)
        log.info("The configuration of server %s was reset.", guild_id)

    async def test(self, guild_id: int, *, by: int, spot: Spot = FIRST_SPOT) -> str:
        """One short request to an endpoint of the guild, and in a sentence what came. Raises
        NoFurther."""
        told = await self._may_choose(guild_id, by=by)
        try:
            serving = self._endpoints.serving(guild_id, spot.rank, channel_id=spot.channel_id)
            async with serving as route:
                # Where the operator's lies is theirs alone.
                told = bool(route.owner) or by in self._admission.operators
                answer, seconds = await _ask(route.provider)
        except EndpointError as error:
            return f"{error.member} {error.remedy}" if told else error.member
        model = route.provider.model
        where = f"{model} at {route.provider.endpoint}" if told else model
        if not answer:
            return f"{where} took the request and said nothing in {seconds:.1f} s."
        return f"It works: {where} answered “{answer}” after {seconds:.1f} s."

    async def set_channel_model(
        self, guild_id: int, channel_id: int, model: str, *, by: int, url: str = ""
    ) -> str:
        """Choose a model for a channel, at the guild's endpoint of `url` if one is named; with an
        empty one the channel has the guild's again. See `set_model`."""
        name = checked_model(model)
        if not await self._may_choose(guild_id, by=by):
            raise SetupRefused(_OPERATORS_MODEL)
        own = [each.base_url for each in await self._store.endpoints.all(guild_id)]
        if url and url not in own:
            raise SetupRefused("This server has no endpoint of that URL. /config endpoints has.")

        def change(present: Json) -> Json:
            chosen = channel_models({CHANNEL_MODELS: present})
            chosen.pop(channel_id, None)
            if name:
                chosen[channel_id] = ChannelModel(model=name, url=url, operators=not own)
            if len(chosen) > MOST_CHANNELS:
                raise SetupRefused(f"{MOST_CHANNELS} channels have models of their own, the most.")
            return {str(id_): asdict(each) for id_, each in sorted(chosen.items())} or None

        await self._store.settings.change(guild_id, "", CHANNEL_MODELS, change)
        if name:
            self._changed(guild_id, Spot(channel_id=channel_id))
        is_listed = not url or url == own[0]
        return _unlisted(name, await self.models(guild_id, by=by)) if is_listed else ""

    async def _may_choose(self, guild_id: int, *, by: int) -> bool:
        own = await self._store.endpoints.get(guild_id) is not None
        return own or by in self._admission.operators

    async def _kept_key(self, guild_id: int, url: str) -> str | None:
        own = await self._store.endpoints.all(guild_id)
        keys = [each.sealed_key for each in own if origin(each.base_url) == origin(url)]
        return next((key for key in keys if key is not None), None)

    async def _chosen_model(self, tried: GuildEndpoint) -> tuple[str, str]:
        """The model to use, and what is doubtful about it."""
        try:
            key = self._endpoints.unsealed(tried)
        except KeyLost as error:
            raise SetupRefused(
                "The key that was kept can no longer be read. Enter it again."
            ) from error
        provider = self._connect(tried, key)
        try:
            names = await provider.list_models()
        except EndpointError as error:
            told = f"{error.member} {error.remedy}"
            if not tried.model:
                raise SetupRefused(f"{told} Nothing was saved.") from error
            return tried.model, f"The server did not list its models: {told}"
        finally:
            await provider.close()
        if not tried.model and not names:
            raise SetupRefused("The server lists no model. Load one there, or name one here.")
        return tried.model or names[0], _unlisted(tried.model, names)


def _is(endpoint: GuildEndpoint, url: str, model: str) -> bool:
    return (endpoint.base_url, endpoint.model) == (url, model)


def _unlisted(model: str, names: Sequence[str]) -> str:
    """What is doubtful about a model that a server does not list, if it lists any."""
    # Ollama lists `name:latest` and takes `name`.
    if not model or not names or model in names or f"{model}:latest" in names:
        return ""
    return f"The server does not list {model}. It lists: {', '.join(names[:_NAMED_MODELS])}."


async def _ask(provider: Provider) -> tuple[str, float]:
    """The first words of an answer and the seconds until they came."""
    snapshot = Snapshot(
        persona="You are being tested.",
        server_rules="",
        config=ToolConfig(tool_mode="off"),
        verdict=Verdict(),
        surface=ToolSurface(),
        dialogue=(Turn(role="user", parts=(TextPart(text="Answer with the word: ready"),)),),
        now=datetime.now(UTC),
    )
    prompt = assemble(snapshot, Budget())
    options = RequestOptions(turn_id="test", max_tokens=_TEST_TOKENS)
    for _ in range(MAX_REPLANS):
        try:
            return await _heard(provider, prompt, options)
        except Replan as error:
            if error.change.name not in WIRE_NAMES:
                raise
            change = error.change
            options = replace(options, wire=options.wire.changed(change.name, change.value))
    return await _heard(provider, prompt, options)


async def _heard(provider: Provider, prompt: Prompt, options: RequestOptions) -> tuple[str, float]:
    started = time.monotonic()
    begun: float | None = None
    answer = ""
    async with provider.stream(prompt, options) as events:
        async for event in events:
            if isinstance(event, TextDelta | ReasoningDelta) and begun is None:
                begun = time.monotonic()
            if isinstance(event, TextDelta):
                answer += event.text
            if len(answer) > _SHOWN_ANSWER:
                break
    plain = " ".join(answer.split())
    shown = plain if len(plain) <= _SHOWN_ANSWER else f"{plain[: _SHOWN_ANSWER - 1]}…"
    return shown, (begun or time.monotonic()) - started
