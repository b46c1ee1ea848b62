"""The routes of REST, by resource, and the router that serves them."""

from tests.loopback.discord_server.rest import (
    applications,
    channels,
    guilds,
    interactions,
    messages,
    threads,
)
from tests.loopback.discord_server.rest.request import Route

ROUTES: tuple[Route, ...] = (
    *applications.ROUTES,
    *guilds.ROUTES,
    *channels.ROUTES,
    *messages.ROUTES,
    *threads.ROUTES,
    *interactions.ROUTES,
)
