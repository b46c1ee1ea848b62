"""An admin's choices, by guild and model."""

import asyncio

import pytest

from data.database import Database
from data.guild_settings import GuildSettings
from prompt.values import Json


@pytest.mark.parametrize(
    "value", [False, 0, "", "auto", 1.5, [], {"a": [1, None]}, "½ \ud800"], ids=repr
)
async def test_any_json_value_comes_back(database: Database, value: Json):
    settings = GuildSettings(database)
    await settings.put(1, "", "name", "before")
    await settings.put(1, "", "name", value)
    assert await settings.values(1, "") == {"name": value}


async def test_none_goes_back_to_the_default(database: Database):
    settings = GuildSettings(database)
    await settings.put(1, "", "a", 1)
    await settings.put(1, "", "b", 2)
    await settings.put(1, "", "a", None)
    await settings.put(1, "", "never set", None)
    assert await settings.values(1, "") == {"b": 2}


async def test_guilds_and_models_do_not_see_each_other(database: Database):
    settings = GuildSettings(database)
    await settings.put(1, "", "a", "guild")
    await settings.put(1, "m", "a", "model")
    await settings.put(2, "", "a", "other")
    assert await settings.values(1, "") == {"a": "guild"}
    assert await settings.values(1, "m") == {"a": "model"}
    assert await settings.values(2, "m") == {}
    assert await settings.values(0, "") == {}


async def test_what_json_cannot_hold_is_refused(database: Database):
    with pytest.raises(ValueError, match="JSON"):
        await GuildSettings(database).put(1, "", "a", float("nan"))


async def test_everything_of_a_guild_can_be_taken_out_and_put_in_its_place(database: Database):
    settings = GuildSettings(database)
    await settings.put(1, "", "a", "guild")
    await settings.put(1, "m", "b", ["x", 1])
    await settings.put(2, "", "a", "other")
    everything = await settings.everything(1)
    assert everything == {"": {"a": "guild"}, "m": {"b": ["x", 1]}}
    await settings.replace(1, {"n": {"c": True}})
    assert await settings.everything(1) == {"n": {"c": True}}
    await settings.replace(1, {})
    assert await settings.everything(1) == {}
    assert await settings.everything(2) == {"": {"a": "other"}}


async def test_of_changes_at_once_none_is_lost(database: Database):
    settings = GuildSettings(database)

    async def add(number: int) -> None:
        def one_more(present: Json) -> Json:
            return [*(present if isinstance(present, list) else ()), number]

        await settings.change(1, "", "numbers", one_more)

    await asyncio.gather(*(add(number) for number in range(10)))
    match (await settings.values(1, ""))["numbers"]:
        case [*numbers]:
            assert set(numbers) == set(range(10))
        case other:
            raise AssertionError(other)


async def test_a_change_that_raises_changes_nothing(database: Database):
    settings = GuildSettings(database)
    await settings.put(1, "", "a", 1)
    told: list[int] = []
    settings.watched_by(told.append)

    def refuse(present: Json) -> Json:
        raise ValueError(f"not in place of {present}")

    with pytest.raises(ValueError, match="not in place of 1"):
        await settings.change(1, "", "a", refuse)
    assert await settings.values(1, "") == {"a": 1}
    assert told == []
