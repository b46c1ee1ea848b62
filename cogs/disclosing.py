"""Tells a member where their words go: to which endpoints and services, and how much of them.

Invariant: of what the operator set no address is told, only whether it lies on the bot's machine,
in a private network or on the internet; of what a server's admins chose the host is. What serves
nobody is said so, and the rest is told all the same.
"""

from collections.abc import Sequence
from ipaddress import ip_address
from urllib.parse import urlsplit

import discord

from chat.desk import Desk
from chat.endpoints import NoFurther, Route
from chat.scheduler import is_near
from chat.tool_settings import tool_settings
from cogs.quoting import code
from cogs.translations.saying import Speaks, retold, tr
from data.services import ServiceKind
from providers.base import EndpointError
from tools.services import Missing, Service

_MOST_ENDPOINTS = 10
_MOST_SERVERS = 10

_ON_THIS_MACHINE = "on the machine that I run on"
_IN_A_NETWORK = "in a private network"
_ON_THE_INTERNET = "on the internet"


async def where_words_go(interaction: discord.Interaction, desk: Desk) -> list[str]:
    """One line for each thing that a member's words may reach. Raises StoreError."""
    locale, guild_id = interaction.locale, interaction.guild_id
    lines = [await _model_line(locale, guild_id, interaction.channel_id, desk)]
    if guild_id is None:
        return lines
    others = [
        *await _services(locale, guild_id, desk),
        *await _servers(locale, guild_id, desk),
    ]
    if others:
        head = tr(locale, "**What else they may reach** in a turn, and no more than that needs:")
        lines.append("\n".join([head, *(f"- {line}" for line in others)]))
    return lines


async def _model_line(
    locale: Speaks, guild_id: int | None, channel_id: int | None, desk: Desk
) -> str:
    head = tr(locale, "**Where your words go**")
    routes, why = await _routes(guild_id, channel_id, desk)
    if not routes:
        nothing = tr(locale, "Nowhere at present: no endpoint serves this place.")
        return f"{head} {nothing} {retold(locale, why)}".rstrip()
    places = list(dict.fromkeys(_endpoint(route, locale) for route in routes))
    where = places[0]
    what = (
        tr(
            locale,
            "When you ask me something, our latest messages here go to {where}.",
            where=where,
        )
        if guild_id is None
        else tr(
            locale,
            "When someone asks me something, the latest messages of that channel go to {where}.",
            where=where,
        )
        if await _reads_channels(guild_id, routes[0], desk)
        else tr(
            locale,
            "When someone asks me something, that message and those that it replies to go to "
            "{where}; in threads that I opened, their latest messages do.",
            where=where,
        )
    )
    if len(places) > 1:
        instead = tr(locale, "Where that fails, they go to {others}.", others="; ".join(places[1:]))
        return f"{head} {what} {instead}"
    return f"{head} {what}"


async def _routes(
    guild_id: int | None, channel_id: int | None, desk: Desk
) -> tuple[Sequence[Route], str]:
    """The endpoints that serve a place, in order, and why there is none."""
    found: list[Route] = []
    try:
        for rank in range(_MOST_ENDPOINTS):
            async with desk.endpoints.serving(guild_id, rank, channel_id=channel_id) as route:
                found.append(route)
    except NoFurther:
        pass
    except EndpointError as error:
        return found, error.member
    return found, ""


async def _reads_channels(guild_id: int, route: Route, desk: Desk) -> bool:
    mode = (await desk.answering.of(guild_id)).history
    return is_near(route.provider.endpoint) if mode == "auto" else mode == "channel"


def _endpoint(route: Route, locale: Speaks) -> str:
    url = route.provider.endpoint
    place = retold(locale, _place(url))
    if route.owner:
        return tr(
            locale,
            "an endpoint that this server's admins chose, {host}, {place}",
            host=code(_host(url)),
            place=place,
        )
    return tr(locale, "the endpoint of this bot's operator, {place}", place=place)


async def _services(locale: Speaks, guild_id: int, desk: Desk) -> list[str]:
    gates = tool_settings(await desk.noted.values(guild_id, "")).gates
    asked: list[tuple[str, ServiceKind, bool]] = [
        (tr(locale, "Texts and questions about knowledge"), "embeddings", True),
        (tr(locale, "Searches of the web"), "search", gates.web),
        (tr(locale, "Descriptions of pictures"), "images", gates.images),
    ]
    lines: list[str] = []
    for what, kind, is_on in asked:
        if not is_on:
            continue
        service: Service | Missing = await getattr(desk.services, kind)(guild_id)
        if isinstance(service, Service):
            is_own = await desk.services.chosen(guild_id, kind) is not None
            lines.append(f"{what}: {_service(service, locale, is_own=is_own)}")
    if gates.web:
        lines.append(tr(locale, "Addresses of pages that I read: the servers of those pages"))
    return lines


def _service(service: Service, locale: Speaks, *, is_own: bool) -> str:
    name = {"brave": "Brave", "ddgs": "DuckDuckGo"}.get(service.provider)
    if name is not None:
        return f"{name}, {retold(locale, _ON_THE_INTERNET)}"
    place = retold(locale, _place(service.url))
    if is_own:
        host = code(_host(service.url))
        return tr(locale, "{host}, {place}, which admins chose", host=host, place=place)
    return tr(locale, "a service of this bot's operator, {place}", place=place)


async def _servers(locale: Speaks, guild_id: int, desk: Desk) -> list[str]:
    views = [view for view in await desk.mcp.servers(guild_id) if view.enabled]
    if not views:
        return []
    names = ", ".join(code(view.name, 40) for view in views[:_MOST_SERVERS])
    if len(views) > _MOST_SERVERS:
        names += ", …"
    return [tr(locale, "What tools of MCP servers are asked: {names}", names=names)]


def _host(url: str) -> str:
    return urlsplit(url).hostname or url


def _place(url: str) -> str:
    host = _host(url)
    try:
        is_here = ip_address(host).is_loopback
    except ValueError:
        is_here = host == "localhost" or host.endswith(".localhost")
    if is_here:
        return _ON_THIS_MACHINE
    return _IN_A_NETWORK if is_near(url) else _ON_THE_INTERNET
