"""What turns use is measured, priced and kept."""

import asyncio
from datetime import date, timedelta

import pytest

from chat.metering import Meter
from chat.usage import Price, UsageLedger, are_prices, prices_of, today_in_utc
from data.store import Store
from data.usage import Amount, Spender, Whose
from prompt.events import Usage
from providers.base import Unavailable
from tests.chat.house import House
from tests.chat.scripted import ADA, PLACE, ScriptedModel, call, end, say, soon

MINE = Whose(guild_id=PLACE.guild_id or 0, member_id=ADA.id)


async def kept(store: Store) -> Amount:
    today = today_in_utc()
    return await store.usage.total(MINE, since=today - timedelta(days=1), until=today)


async def test_what_the_endpoint_reports_is_kept_as_it_is(store: Store) -> None:
    house = House(store)
    reported = Usage(prompt_tokens=100, completion_tokens=7, cached_tokens=60)
    await house.ask("hi", [say("Hello."), reported, end("stop")])
    amount = await kept(store)
    assert (amount.turns, amount.requests, amount.estimated) == (1, 1, 0)
    assert (amount.prompt_tokens, amount.cached_tokens, amount.completion_tokens) == (100, 60, 7)
    assert amount.first_tokens == 1


async def test_cached_tokens_that_are_counted_apart_are_added_to_the_prompt(store: Store) -> None:
    house = House(store)
    reported = Usage(prompt_tokens=10, completion_tokens=1, cached_tokens=90)
    await house.ask("hi", [say("Hello."), reported, end("stop")])
    amount = await kept(store)
    assert (amount.prompt_tokens, amount.cached_tokens) == (100, 90)


async def test_what_is_not_reported_is_estimated_and_marked(store: Store) -> None:
    house = House(store)
    await house.ask("hi", [say("Hello, " * 40), end("stop")])
    amount = await kept(store)
    assert amount.estimated == 1
    assert amount.prompt_tokens > 100
    assert 40 <= amount.completion_tokens <= 160
    assert amount.cached_tokens == 0


async def test_every_request_of_a_turn_counts_and_so_do_its_tools(store: Store) -> None:
    house = House(store)
    reported = Usage(prompt_tokens=50, completion_tokens=5)
    await house.ask(
        "what do you know?",
        [call("recall_facts"), reported, end("tool_calls")],
        [say("Nothing."), reported, end("stop")],
    )
    amount = await kept(store)
    assert (amount.turns, amount.requests, amount.tool_calls) == (1, 2, 1)
    assert (amount.prompt_tokens, amount.completion_tokens) == (100, 10)


async def test_money_is_reckoned_with_the_owners_prices_of_that_moment(store: Store) -> None:
    house = House(store)
    ledger = UsageLedger(store)
    price = Price(prompt=2.0, cached=0.5, completion=10.0)
    await ledger.set_price(0, house.model.model, price)
    reported = Usage(prompt_tokens=1000, completion_tokens=100, cached_tokens=400)
    await house.ask("hi", [say("Hello."), reported, end("stop")])
    await ledger.set_price(0, house.model.model, None)
    await house.ask("again", [say("Hello."), reported, end("stop")])
    assert (await kept(store)).cost_micros == 600 * 2 + 400 * 0.5 + 100 * 10
    assert await ledger.prices(0) == {}


async def test_a_report_has_every_day_of_its_period(store: Store) -> None:
    day = date(2026, 12, 10)
    ledger = UsageLedger(store, today=lambda: day)
    mine = Spender(guild_id=1, channel_id=2, member_id=3, model="m")
    await store.usage.add(day, mine, Amount(turns=1, prompt_tokens=4))
    await store.usage.add(day - timedelta(days=6), mine, Amount(turns=2))
    await store.usage.add(day - timedelta(days=7), mine, Amount(turns=40))
    report = await ledger.report(Whose(guild_id=1), "week")
    assert [amount.turns for _, amount in report.days] == [2, 0, 0, 0, 0, 0, 1]
    assert report.total.turns == 3
    assert [(name, amount.turns) for name, amount in report.models] == [("m", 3)]


@pytest.mark.parametrize(
    "stored",
    [
        7,
        {"m": 7},
        {"m": {"prompt": 1, "cached": 1}},
        {"m": {"prompt": -1, "cached": 1, "completion": 1}},
        {"m": {"prompt": True, "cached": 1, "completion": 1}},
        {"m": {"prompt": 1e9, "cached": 1, "completion": 1}},
    ],
)
def test_what_is_no_price_is_left_out(stored: object) -> None:
    good = {"prompt": 1, "cached": 0.5, "completion": 2}
    assert prices_of({"prices": stored}) == {}  # pyright: ignore[reportArgumentType]
    assert not are_prices(stored)  # pyright: ignore[reportArgumentType]
    assert are_prices({"m": good})


def test_a_request_that_brought_nothing_cost_nothing() -> None:
    meter = Meter()
    with pytest.raises(OSError, match="refused"), meter.request("m", None):  # pyright: ignore[reportArgumentType]
        raise OSError("refused")
    assert meter.used == []


async def test_a_turn_that_is_stopped_is_kept_with_what_came_of_it(store: Store) -> None:
    house = House(store)
    reached = asyncio.Event()

    async def hang() -> None:
        reached.set()
        await asyncio.Event().wait()

    house.model.add([say("Once upon a time there was"), hang])
    turn = asyncio.create_task(
        house.service.respond(house.request("a story"), house.channel, house.presenter())
    )
    await soon(reached.wait())
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    amount = await kept(store)
    assert (amount.turns, amount.requests, amount.estimated) == (1, 1, 1)
    assert amount.completion_tokens > 0


async def test_what_a_fallback_used_is_its_own(store: Store) -> None:
    second = ScriptedModel([say("From the second."), Usage(prompt_tokens=9), end("stop")])
    house = House(store, fallbacks=[second])
    await house.ask("hi", [Unavailable("The first is down.", remedy="Start it.")])
    amount = await kept(store)
    assert (amount.turns, amount.requests, amount.prompt_tokens) == (1, 1, 9)
