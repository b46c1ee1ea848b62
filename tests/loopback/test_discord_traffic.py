"""Rate limits, planted faults and what members see of typing."""

import asyncio
from collections.abc import AsyncGenerator

import aiohttp
import pytest
import pytest_asyncio

from tests.loopback.discord_server import (
    Bucket,
    Delay,
    GatewayPage,
    LostAnswer,
    Reset,
    Status,
    Throttle,
)
from tests.loopback.discord_server.faults import Effect
from tests.loopback.raw import Scene, scene, unthrottled


@pytest_asyncio.fixture
async def place() -> AsyncGenerator[Scene]:
    async with scene() as running:
        yield running


async def test_too_many_requests_are_refused_and_recorded() -> None:
    async with scene(unthrottled(requests_per_second=2)) as place:
        statuses = [(await place.post(content="x")).status for _ in range(3)]
        assert statuses == [200, 200, 429]
        assert [v["what"] for v in place.server.violations()] == ["global rate limit"]


async def test_a_bucket_tells_when_it_is_full_and_opens_again() -> None:
    limits = unthrottled(buckets={"message_post": Bucket(requests=2, seconds=0.2)})
    async with scene(limits) as place:
        first, second, third = [await place.post(content="x") for _ in range(3)]
        assert [r.headers["X-RateLimit-Remaining"] for r in (first, second)] == ["1", "0"]
        assert third.status == 429
        assert 0 < third.body["retry_after"] <= 0.2
        assert third.body["global"] is False
        assert "Via" in third.headers
        assert [v["bucket"] for v in place.server.violations()] == ["message_post"]
        await asyncio.sleep(third.body["retry_after"] + 0.01)
        assert (await place.post(content="x")).status == 200


async def test_buckets_are_counted_by_channel() -> None:
    limits = unthrottled(buckets={"message_post": Bucket(requests=1, seconds=9.0)})
    async with scene(limits) as place:
        other = place.server.build.channel(place.guild, "other")
        assert (await place.post(content="x")).status == 200
        path = f"/channels/{other.id}/messages"
        assert (await place.request("POST", path, {"content": "x"})).status == 200
        assert (await place.post(content="x")).status == 429


async def test_typing_is_seen_for_a_while_or_until_a_message() -> None:
    async with scene(unthrottled(typing=0.5)) as place:
        path = f"/channels/{place.channel.id}/typing"
        for pause in (0.1, 0.7, 0.0):
            assert (await place.request("POST", path)).status == 204
            await asyncio.sleep(pause)
        await place.post(content="x")
        refreshed, ended = place.server.typing(place.channel)
        assert refreshed.end - refreshed.start > 0.58
        assert ended.end == place.server.journal.of("message")[0].at


@pytest.mark.parametrize(
    ("effect", "status", "sent"),
    [
        (Status(status=503), 503, 0),
        (Status(status=403, code=50001), 403, 0),
        (GatewayPage(status=502), 502, 0),
        (Throttle(retry_after=0.5, everywhere=True), 429, 0),
        (Delay(seconds=0.05), 200, 1),
        (Reset(), None, 0),
        (LostAnswer(), None, 1),
    ],
    ids=repr,
)
async def test_a_fault_meets_one_request(
    place: Scene, effect: Effect, status: int | None, sent: int
) -> None:
    place.server.faults.plant("/messages$", effect, method="POST")
    if status is None:
        with pytest.raises(aiohttp.ClientConnectionError):
            await place.post(content="x")
    else:
        assert (await place.post(content="x")).status == status
    assert len(place.server.messages(place.channel)) == sent
    assert (await place.post(content="y")).status == 200
    assert place.server.violations() == []


async def test_a_fault_lets_others_pass_first(place: Scene) -> None:
    place.server.faults.plant("/messages$", Status(status=500), times=2, skip=1)
    statuses = [(await place.post(content="x")).status for _ in range(4)]
    assert statuses == [200, 500, 500, 200]
