"""The limit on all requests together."""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import aiohttp
import pytest
from aiohttp import web

from cogs.pacing import Pace, paced, smoothly
from tests.cogs.conftest import Scene
from tests.cogs.scripted import Stage
from tests.loopback.discord_server import Channel, Throttle, User


async def begin_times(pace: Pace, count: int) -> list[float]:
    clock = asyncio.get_running_loop().time
    begun: list[float] = []

    async def one() -> None:
        await pace.turn()
        begun.append(clock())

    await asyncio.gather(*(one() for _ in range(count)))
    return begun


async def test_no_window_holds_more_than_is_allowed() -> None:
    begun = await begin_times(Pace(4, seconds=0.1), 11)
    assert begun[3] - begun[0] < 0.05  # a burst that is allowed does not wait
    assert all(later - earlier >= 0.1 for earlier, later in zip(begun, begun[4:], strict=False))


async def test_a_stall_does_not_let_a_burst_follow_it() -> None:
    pace = Pace(2, seconds=0.1)
    begun: list[float] = []

    async def one() -> None:
        await pace.turn()
        begun.append(asyncio.get_running_loop().time())

    tasks = [asyncio.create_task(one()) for _ in range(6)]
    await asyncio.sleep(0.05)
    asyncio.get_running_loop().call_later(0.01, lambda: time.sleep(0.25))
    await asyncio.gather(*tasks)
    assert all(later - earlier >= 0.1 for earlier, later in zip(begun, begun[2:], strict=False))


async def test_replies_are_spread_over_a_second() -> None:
    begun = await begin_times(smoothly(20), 9)
    assert all(later - earlier >= 0.2 for earlier, later in zip(begun, begun[4:], strict=False))
    assert begun[-1] - begun[0] < 0.6


async def test_who_goes_ahead_waits_for_one_at_most() -> None:
    pace = Pace(1, seconds=0.05)
    order: list[str] = []

    async def one(name: str, *, ahead: bool = False) -> None:
        await pace.turn(ahead=ahead)
        order.append(name)

    names = ("first", "second", "third", "fourth")
    tasks = [asyncio.create_task(one(name)) for name in names]
    await asyncio.sleep(0)
    tasks.append(asyncio.create_task(one("ahead", ahead=True)))
    await asyncio.gather(*tasks)
    assert order == ["first", "second", "ahead", "third", "fourth"]


async def test_it_is_crowded_while_who_comes_has_to_wait_for_long() -> None:
    pace = Pace(2, seconds=0.2)
    within = Pace(100, within=pace)
    tasks = [asyncio.create_task(pace.turn()) for _ in range(3)]
    await asyncio.sleep(0.01)
    assert not pace.is_crowded
    tasks += [asyncio.create_task(pace.turn()) for _ in range(2)]
    await asyncio.sleep(0.01)
    assert pace.is_crowded
    assert within.is_crowded
    tasks[-1].cancel()
    await asyncio.wait(tasks)
    assert not pace.is_crowded
    assert not within.is_crowded


async def test_where_words_wait_nothing_is_spent_on_the_typing_indicator(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Pace, "is_crowded", property(lambda _: True))
    scene.ask("hello")
    await scene.turns_done()
    assert [answer.text for answer in scene.answers()] == ["Hello."]
    assert scene.server.journal.of("typing") == []


async def test_who_gives_up_waiting_holds_up_nobody() -> None:
    pace = Pace(1, seconds=0.1)
    await pace.turn()
    waiting = asyncio.create_task(pace.turn())
    behind = asyncio.create_task(pace.turn())
    await asyncio.sleep(0.01)
    waiting.cancel()
    await asyncio.wait_for(behind, 0.2)


@asynccontextmanager
async def listening() -> AsyncGenerator[str]:
    """A server that says yes to all."""

    async def answer(request: web.Request) -> web.Response:
        return web.Response()

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


@pytest.mark.parametrize(
    ("path", "waits"),
    [
        ("/api/v10/channels/1/messages", True),
        ("/api/v10/interactions/1/token/callback", False),
        ("/api/v10/webhooks/1/token/messages/@original", False),
        ("/attachments/1/2/file.txt", False),
    ],
)
async def test_only_what_discord_counts_waits(path: str, waits: bool) -> None:
    pace = Pace(1, seconds=1.0)
    clock = asyncio.get_running_loop().time
    async with listening() as origin, aiohttp.ClientSession(trace_configs=[paced(pace)]) as http:
        await pace.turn()
        begun = clock()
        async with http.get(origin + path):
            assert (clock() - begun > 0.5) is waits


async def test_who_gives_up_while_discord_has_all_wait_holds_up_nobody(scene: Scene) -> None:
    # The first words end the typing indicator, whose request waits for the limit to be over.
    async def script(stage: Stage) -> None:
        stage.say("Hello.")
        await asyncio.sleep(1.0)

    scene.service.script = script
    throttle = Throttle(retry_after=1.5, scope="global", everywhere=True)
    scene.server.faults.plant(r"/typing$", throttle)
    scene.ask("hello")
    await scene.turns_done(within=5.0)
    assert [answer.text for answer in scene.answers()] == ["Hello."]


async def test_many_that_ask_at_once_do_not_break_the_limit(scene: Scene) -> None:
    async def script(stage: Stage) -> None:
        await stage.stream("some words that grow " * 10, seconds=1.0, pieces=20)

    scene.service.script = script
    places: list[tuple[Channel, User]] = []
    for number in range(40):
        channel = scene.server.build.channel(scene.guild, f"c{number}")
        places.append((channel, scene.server.build.user(f"m{number}", scene.guild)))
    for channel, user in places:
        scene.server.driver.say(channel, user, f"{scene.server.bot.mention} tell me")
    await scene.turns_done(len(places), within=15.0)
    for channel, _ in places:
        (answer,) = scene.answers(channel)
        assert answer.text == ("some words that grow " * 10).strip()
    assert scene.server.violations() == []
