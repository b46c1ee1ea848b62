"""A small scene on a loopback Discord, and a client without a client library for it.

Invariant: what is sent is exactly what a test says; rate limits are out of the way.
"""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

import aiohttp

from tests.loopback.discord_server import (
    PRIVILEGED_INTENTS,
    Bucket,
    Channel,
    Guild,
    Limits,
    LoopbackDiscord,
    User,
)

PASSES = (200, None)
INVALID = (400, 50035)
"""Refusals of a Reply: none, and the one that points at a field of the body."""
UNLIMITED = Bucket(requests=1_000_000, seconds=1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """An answer to a request; `body` is its JSON, None if there is none."""

    status: int
    body: Any
    headers: Mapping[str, str]

    @property
    def refusal(self) -> tuple[int, int | None]:
        """Status and Discord's error code."""
        return self.status, self.body["code"] if self.status >= 400 and self.body else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A guild with a channel and a member, and the bot's way to REST."""

    server: LoopbackDiscord
    guild: Guild
    channel: Channel
    alice: User
    http: aiohttp.ClientSession

    async def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        form: aiohttp.FormData | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """One request of the bot, with JSON or a form as its body."""
        async with self.http.request(
            method, self.server.address.api + path, json=body, data=form, headers=headers
        ) as response:
            content = await response.json() if response.content_type == "application/json" else None
            return Reply(status=response.status, body=content, headers=response.headers)

    async def post(self, **body: Any) -> Reply:
        """Send a message to the channel."""
        return await self.request("POST", f"/channels/{self.channel.id}/messages", body)


def unthrottled(**changes: Any) -> Limits:
    """Limits without rate limits, and with these changes."""
    limits = Limits(requests_per_second=UNLIMITED.requests)
    limits.buckets = dict.fromkeys(limits.buckets, UNLIMITED)
    return replace(limits, **changes)


@asynccontextmanager
async def scene(
    limits: Limits | None = None, *, granted_intents: int = PRIVILEGED_INTENTS
) -> AsyncGenerator[Scene]:
    """A running server with the scene on it."""
    server = LoopbackDiscord(limits=limits or unthrottled(), granted_intents=granted_intents)
    guild = server.build.guild()
    channel = server.build.channel(guild, "general")
    alice = server.build.user("alice", guild)
    authorization = {"Authorization": f"Bot {server.token}"}
    async with server, aiohttp.ClientSession(headers=authorization) as http:
        yield Scene(server=server, guild=guild, channel=channel, alice=alice, http=http)
