"""An admin's choices, by guild and model."""

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
