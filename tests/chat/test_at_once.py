"""Two admins change parts of one setting at the same time, and both changes hold."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from chat.approval import Policies
from chat.desk import Desk, open_desk
from chat.guild_setup import Wish
from chat.learning import Learning
from chat.personas import ChannelTexts
from chat.quotas import Limit
from chat.usage import Price
from data.keys import open_keys
from data.store import Store
from prompt.values import Json
from prompt.verbatim import Verdict
from tests.chat.house import House, SoleEndpoint
from tests.chat.scripted import ScriptedModel

GUILD, OPERATOR = 7, 1
CHANNELS = range(100, 110)


@pytest.fixture
def desk(store: Store, tmp_path: Path) -> Desk:
    made = open_desk(
        store,
        open_keys(tmp_path, None),
        operators=ScriptedModel(),
        with_model=lambda model: ScriptedModel(),
        connect=lambda endpoint, key: ScriptedModel(),
        approved_guilds="all",
        dms=None,
    )
    made.admission.introduce({OPERATOR}, is_public=True)
    return made


Change = Callable[[Desk, int], Awaitable[object]]


async def model(desk: Desk, channel: int) -> None:
    await desk.setup.set_channel_model(GUILD, channel, "other", by=OPERATOR)


async def texts(desk: Desk, channel: int) -> None:
    await desk.personas.set_channel(GUILD, channel, ChannelTexts(notes=f"Of {channel}."))


async def price(desk: Desk, number: int) -> None:
    await desk.usage.set_price(GUILD, f"model {number}", Price(prompt=1, cached=1, completion=1))


async def role(desk: Desk, number: int) -> None:
    await desk.quotas.change_limits(
        GUILD, lambda now: replace(now, roles={**now.roles, number: Limit(hour=1)})
    )


async def ignored(desk: Desk, number: int) -> None:
    await desk.answering.change(GUILD, lambda now: replace(now, roles=(*now.roles, number)))


@pytest.mark.parametrize(
    ("change", "path"),
    [
        (model, ("channel_models",)),
        (texts, ("channel_personas",)),
        (price, ("prices",)),
        (role, ("limits", "roles")),
        (ignored, ("answering", "roles")),
    ],
)
async def test_of_changes_at_once_none_is_lost(
    store: Store, desk: Desk, change: Change, path: tuple[str, ...]
) -> None:
    await asyncio.gather(*(change(desk, number) for number in CHANNELS))
    found: Json = {**await store.settings.values(GUILD, "")}
    for name in path:
        found = cast("dict[str, Json]", found)[name]
    assert len(cast("list[Json]", found)) == len(CHANNELS)


async def test_tools_that_are_switched_at_once_are_all_switched(store: Store) -> None:
    house = House(store)
    names = [tool.name for tool in await house.service.tools(GUILD)]
    assert len(names) > 3
    await asyncio.gather(*(house.service.toggle(GUILD, name, False) for name in names))
    switched = (await store.settings.values(GUILD, ""))["tools"]
    assert switched == dict.fromkeys(sorted(names), False)


async def test_what_is_learnt_at_once_is_all_remembered(store: Store) -> None:
    provider = ScriptedModel()
    async with SoleEndpoint(provider).serving(GUILD) as route:
        learning = Learning(store=store, route=route)
        await asyncio.gather(
            learning.learn({"tool_role": "as_user"}),
            learning.counted(0.5),
            learning.cut(4000),
            learning.structured_calls_seen(field_sent=True),
            learning.learn({"nudge": "off"}),
        )
        assert await learning.verdict() == Verdict(
            structured_calls=True,
            reason="it has sent a structured tool call in a turn",
            learnt={"tool_role": "as_user", "nudge": "off"},
            token_ratio=0.5,
            cut_at=4000,
        )


async def test_an_import_beside_a_change_loses_none_of_both(store: Store, desk: Desk) -> None:
    await desk.setup.set_endpoint(GUILD, Wish(url="https://8.8.8.8/v1", model="m"), by=OPERATOR)
    file = (await desk.portability.export(GUILD)).encode()
    policies = Policies(store=store)
    await asyncio.gather(
        *(policies.choose(GUILD, f"tool {number}", "asks") for number in range(5)),
        desk.portability.read_in(GUILD, file, by=OPERATOR, channels=()),
        store.settings.put(GUILD, "", "operator_alone", True),
    )
    assert (await store.settings.values(GUILD, ""))["operator_alone"] is True
    (endpoint,) = await desk.setup.endpoints(GUILD)
    assert endpoint.model == "m"
