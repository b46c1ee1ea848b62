"""Texts by key."""

from data.database import Database
from data.meta import Meta


async def test_the_last_text_of_each_key_holds(database: Database):
    meta = Meta(database)
    assert await meta.get("a") is None
    await meta.put("a", "1")
    await meta.put("b", "2")
    await meta.put("a", "")
    assert (await meta.get("a"), await meta.get("b")) == ("", "2")
