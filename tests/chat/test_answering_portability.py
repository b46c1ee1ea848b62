"""Whom a server answers, and within which limits, moves along with its configuration."""

import json

import pytest

from chat.answering import ANSWERING, Answering
from chat.desk import Desk
from chat.quotas import BUDGET, LIMITS, Budget, Limit, Limits
from chat.usage import PRICES, Price
from data.store import Store
from prompt.values import Json
from tests.chat.test_guild_setup import ADMIN, GUILD, desk, read_in, server

__all__ = ["desk", "server"]  # fixtures

OTHER = GUILD + 1
SETTINGS = Answering(words=("robot",), members=(10**17,), window=30)
MEMBERS = Limits(member=Limit(minute=3), roles={10**17: Limit(day=9)})


async def test_what_is_taken_out_can_be_read_in_elsewhere(desk: Desk, store: Store) -> None:
    await desk.answering.change(GUILD, lambda _: SETTINGS)
    await desk.quotas.set_limits(GUILD, MEMBERS)
    await desk.quotas.set_budget(GUILD, Budget(money=2.0))
    price = Price(prompt=1.0, cached=0.5, completion=2.0)
    await desk.usage.set_price(GUILD, "m", price)
    taken = (await desk.portability.export(GUILD)).encode()
    done = await desk.portability.read_in(OTHER, taken, by=ADMIN, channels=())
    assert done.done, done.lines
    assert await desk.answering.of(OTHER) == SETTINGS
    assert await desk.quotas.limits(OTHER) == MEMBERS
    assert await desk.quotas.budget(OTHER) == Budget(money=2.0)
    assert await desk.usage.prices(OTHER) == {"m": price}
    assert json.loads(await desk.portability.export(OTHER)) == json.loads(taken)


async def test_a_file_that_does_not_name_them_leaves_them(desk: Desk) -> None:
    await desk.quotas.set_limits(GUILD, MEMBERS)
    await desk.quotas.set_budget(GUILD, Budget(money=2.0))
    assert (await read_in(desk, {"verbatim_config": 1, BUDGET: None})).done
    assert await desk.quotas.limits(GUILD) == MEMBERS
    assert await desk.quotas.budget(GUILD) == Budget()


@pytest.mark.parametrize("name", [ANSWERING, LIMITS, BUDGET, PRICES])
@pytest.mark.parametrize("value", [7, [], {"x": 1}])
async def test_what_is_not_valid_is_not_read_in(desk: Desk, name: str, value: Json) -> None:
    await desk.quotas.set_limits(GUILD, MEMBERS)
    imported = await read_in(desk, {"verbatim_config": 1, name: value})
    assert not imported.done
    assert next(line.what for line in imported.lines if not line.fine).startswith(f"{name}:")
    assert await desk.quotas.limits(GUILD) == MEMBERS
