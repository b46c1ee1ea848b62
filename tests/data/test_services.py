"""Services that guilds have chosen."""

from pathlib import Path

import pytest

from data.services import KINDS
from data.store import Store, open_store


async def choose(store: Store, guild_id: int, provider: str, key: str | None = None) -> None:
    await store.services.put(
        guild_id,
        "search",
        provider=provider,
        base_url="https://search.example",
        model="m",
        sealed_key=key,
        allow_private=True,
        set_by=10,
    )


async def test_a_choice_is_a_guilds_and_a_kinds_own(tmp_path: Path) -> None:
    async with open_store(tmp_path) as store:
        assert [await store.services.get(1, kind) for kind in KINDS] == [None] * 3
        await choose(store, 1, "searxng", "sealed")
        found = await store.services.get(1, "search")
        assert found is not None
        assert (found.provider, found.base_url, found.model) == (
            "searxng",
            "https://search.example",
            "m",
        )
        assert (found.sealed_key, found.allow_private, found.set_by) == ("sealed", True, 10)
        assert "sealed" not in repr(found).replace("sealed_key", "")
        assert await store.services.get(2, "search") is None
        assert await store.services.get(1, "images") is None


async def test_a_new_choice_takes_the_place_of_the_former_with_its_key(tmp_path: Path) -> None:
    async with open_store(tmp_path) as store:
        await choose(store, 1, "brave", "sealed")
        await choose(store, 1, "ddgs")
        found = await store.services.get(1, "search")
        assert found is not None
        assert (found.provider, found.sealed_key) == ("ddgs", None)
        await store.services.remove(1, "search")
        assert await store.services.get(1, "search") is None


@pytest.mark.parametrize("guild_id", [1, 2])
async def test_a_choice_goes_with_its_guild(tmp_path: Path, guild_id: int) -> None:
    async with open_store(tmp_path) as store:
        await choose(store, 1, "brave", "sealed")
        await store.erase_guild(guild_id)
        assert (await store.services.get(1, "search") is None) == (guild_id == 1)
