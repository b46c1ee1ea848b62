"""The stable part of a prompt is read before anyone asks, and never in anyone's way."""

import asyncio
import json
from collections.abc import AsyncIterator

import pytest

from chat.ports import Place
from chat.scheduler import Parallelism, Scheduler
from chat.warming import Warmer, warming
from data.store import Store
from providers.openai.adapter import OpenAIProvider
from tests.chat.house import House
from tests.chat.scripted import GUILD, PLACE
from tests.loopback.endpoint import LoopbackEndpoint, Step


class Kitchen:
    """A house at a real endpoint."""

    def __init__(self, store: Store, endpoint: LoopbackEndpoint) -> None:
        self.endpoint = endpoint
        self.provider = OpenAIProvider(base_url=endpoint.base_url, model="m")
        self.house = House(store, provider=self.provider)
        self.warmed = asyncio.Semaphore(0)

    async def warm(self, place: Place) -> None:
        await self.house.service.warm_up(place)
        self.warmed.release()

    async def done(self) -> None:
        async with asyncio.timeout(5):
            await self.warmed.acquire()


@pytest.fixture
async def kitchen(store: Store) -> AsyncIterator[Kitchen]:
    async with LoopbackEndpoint() as endpoint:
        made = Kitchen(store, endpoint)
        yield made
        await made.provider.close()


async def test_the_next_turn_begins_with_what_was_warmed_up(kitchen: Kitchen) -> None:
    kitchen.endpoint.add(Step(text="x"), Step(text="Good day."))
    await kitchen.house.service.warm_up(PLACE)
    await kitchen.house.ask("Good day!")
    warm, turn = kitchen.endpoint.received
    assert warm.body["max_tokens"] == 1
    head = [json.dumps(each) for each in warm.messages[:-1]]
    assert head
    assert [json.dumps(each) for each in turn.messages[: len(head)]] == head
    assert kitchen.house.channel.reads[0][1] is None, "the warm-up moved no cut point"


async def test_a_switch_forbids_it(kitchen: Kitchen) -> None:
    await kitchen.house.service.configure(GUILD, "warm_up", "off")
    await kitchen.house.service.warm_up(PLACE)
    assert kitchen.endpoint.received == []


async def test_a_turn_ends_a_warm_up_and_goes_first(kitchen: Kitchen) -> None:
    kitchen.endpoint.add(Step(when="Hello", hang=True, pieces=[]))
    warmup = asyncio.create_task(kitchen.house.service.warm_up(PLACE))
    while not kitchen.endpoint.received:
        await asyncio.sleep(0.01)
    kitchen.endpoint.add(Step(text="At once."))
    async with asyncio.timeout(5):
        shown = await kitchen.house.ask("Are you there?")
        await warmup
    assert shown.reply.text == "At once."
    assert kitchen.endpoint.received[0].left


async def test_it_waits_until_no_turn_wants_the_endpoint() -> None:
    scheduler, ran = Scheduler(assumed=1), asyncio.Event()

    async def work() -> None:
        ran.set()

    async def ask() -> None:
        return None

    async with scheduler.turn(PLACE, Parallelism(), ask=ask, moved=lambda _: None) as lease:
        async with lease.request():
            waiting = asyncio.create_task(scheduler.aside(work))
            await asyncio.sleep(0.05)
            assert not ran.is_set()
        await asyncio.sleep(0.05)
        assert not ran.is_set(), "the turn keeps its slot between two rounds"
    assert await waiting


async def test_at_the_start_and_after_changes_once_they_settle(kitchen: Kitchen) -> None:
    house = kitchen.house
    kitchen.endpoint.add(Step(text="Hi."), Step(text="x"), Step(text="x"))
    await house.ask("Hello?")
    order: list[str] = []

    async def first() -> None:
        order.append("first")
        assert len(kitchen.endpoint.received) == 1

    warmer = Warmer(store=house.store, warm=kitchen.warm, settles_in=0.2)
    await warmer.begin(first)
    await kitchen.done()
    assert order == ["first"]
    for persona in ("You are Oak.", "You are Elm."):
        await house.store.settings.put(GUILD, "", "persona", persona)
    await kitchen.done()
    await warmer.close()
    _, started, changed = kitchen.endpoint.received
    assert "You are Fern." in started.raw.decode()
    assert "You are Elm." in changed.raw.decode()


async def test_nothing_is_sent_where_no_turn_has_ever_run(kitchen: Kitchen) -> None:
    begun = asyncio.Event()

    async def first() -> None:
        begun.set()

    async with warming(kitchen.house.store, kitchen.warm, first=first):
        async with asyncio.timeout(5):
            await begun.wait()
    assert kitchen.endpoint.received == []
