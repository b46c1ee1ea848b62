import pytest

from data.database import Database
from data.endpoints import MOST, GuildEndpoint, GuildEndpoints, TooMany
from data.verdicts import Verdicts
from prompt.verbatim import Verdict


async def put(
    endpoints: GuildEndpoints,
    guild_id: int,
    *,
    base_url: str = "https://llm.example/v1",
    model: str = "m",
    sealed_key: str | None = "sealed",
    allow_private: bool = False,
    added: bool = False,
) -> None:
    await endpoints.put(
        guild_id,
        base_url=base_url,
        model=model,
        sealed_key=sealed_key,
        allow_private=allow_private,
        set_by=5,
        added=added,
    )


async def known(endpoints: GuildEndpoints, guild_id: int) -> GuildEndpoint:
    found = await endpoints.get(guild_id)
    assert found is not None
    return found


async def test_an_endpoint_is_its_guilds_alone(database: Database):
    endpoints = GuildEndpoints(database)
    assert await endpoints.get(1) is None
    await put(endpoints, 1)
    await put(endpoints, 2, sealed_key="other", allow_private=True)
    one, two = await known(endpoints, 1), await known(endpoints, 2)
    assert (one.base_url, one.model, one.sealed_key) == ("https://llm.example/v1", "m", "sealed")
    assert (one.allow_private, two.allow_private) == (False, True)
    assert one.id != two.id
    await endpoints.set_model(1, "n")
    await endpoints.remove(2)
    assert (await known(endpoints, 1)).model == "n"
    assert await endpoints.get(2) is None
    assert "sealed" not in repr(one)


@pytest.mark.parametrize(
    ("url", "stays"),
    [
        ("https://llm.example/v1", True),
        ("https://llm.example:443/other", True),
        ("https://llm.example:8443/v1", False),
        ("http://llm.example/v1", False),
        ("https://llm.example.evil.example/v1", False),
    ],
)
async def test_a_key_goes_with_the_origin_of_its_url(database: Database, url: str, stays: bool):
    endpoints = GuildEndpoints(database)
    await put(endpoints, 1)
    await put(endpoints, 1, base_url=url, sealed_key=None)
    assert (await known(endpoints, 1)).sealed_key == ("sealed" if stays else None)


async def test_what_was_learnt_goes_with_the_url(database: Database):
    endpoints, verdicts = GuildEndpoints(database), Verdicts(database)
    learnt = Verdict(structured_calls=True, reason="seen")
    await put(endpoints, 1)
    first = await known(endpoints, 1)
    await verdicts.put(first.id, "m", learnt)
    await put(endpoints, 1, model="n")
    assert (await known(endpoints, 1)).id == first.id
    assert await verdicts.get(first.id, "m") == learnt
    await put(endpoints, 1, base_url="https://llm.example/v2")
    second = await known(endpoints, 1)
    assert second.id != first.id
    assert await verdicts.get(first.id, "m") == Verdict()
    await verdicts.put(second.id, "m", learnt)
    await endpoints.remove(1)
    assert await verdicts.get(second.id, "m") == Verdict()


async def urls(endpoints: GuildEndpoints, guild_id: int) -> list[str]:
    return [each.base_url for each in await endpoints.all(guild_id)]


async def test_several_keep_an_order_that_can_be_changed(database: Database):
    endpoints = GuildEndpoints(database)
    hosts = [f"https://{name}.example/v1" for name in "abc"]
    for url in hosts:
        await put(endpoints, 1, base_url=url, added=True)
    await put(endpoints, 2, base_url="https://other.example/v1", added=True)
    assert await urls(endpoints, 1) == hosts
    a, b, c = await endpoints.all(1)
    await endpoints.move(1, c.id, by=-1)
    assert await endpoints.all(1) == [a, c, b]
    await endpoints.move(1, a.id, by=1)
    assert await endpoints.all(1) == [c, a, b]
    await endpoints.move(1, c.id, by=-1)
    await endpoints.move(2, a.id, by=1)
    assert await endpoints.all(1) == [c, a, b]
    await put(endpoints, 1, base_url="https://first.example/v1")
    assert await urls(endpoints, 1) == ["https://first.example/v1", hosts[0], hosts[1]]
    assert await urls(endpoints, 2) == ["https://other.example/v1"]


async def test_removing_one_leaves_the_others_and_no_other_guild_can(database: Database):
    endpoints, verdicts = GuildEndpoints(database), Verdicts(database)
    await put(endpoints, 1)
    await put(endpoints, 1, model="n", added=True)
    one, two = await endpoints.all(1)
    for each in (one, two):
        await verdicts.put(each.id, each.model, Verdict(structured_calls=True))
    await endpoints.remove_one(2, one.id)
    await endpoints.remove_one(1, two.id)
    assert await endpoints.all(1) == [one]
    assert (await verdicts.get(one.id, "m")).structured_calls
    assert not (await verdicts.get(two.id, "n")).structured_calls


async def test_adding_what_is_there_sets_it_anew_and_there_is_an_end(database: Database):
    endpoints = GuildEndpoints(database)
    for number in range(MOST):
        await put(endpoints, 1, model=f"m{number}", sealed_key=f"key {number}", added=True)
    before = await endpoints.all(1)
    await put(endpoints, 1, model="m2", sealed_key="newer", added=True)
    after = await endpoints.all(1)
    assert [each.id for each in after] == [each.id for each in before]
    assert after[2].sealed_key == "newer"
    with pytest.raises(TooMany, match="Remove one"):
        await put(endpoints, 1, model="another", added=True)


async def test_a_fallback_on_the_same_origin_has_its_key_and_on_another_none(database: Database):
    endpoints = GuildEndpoints(database)
    await put(endpoints, 1)
    await put(endpoints, 1, model="n", sealed_key=None, added=True)
    await put(endpoints, 1, base_url="https://elsewhere.example/v1", sealed_key=None, added=True)
    assert [each.sealed_key for each in await endpoints.all(1)] == ["sealed", "sealed", None]


async def test_others_are_put_in_the_place_of_all(database: Database):
    endpoints, verdicts = GuildEndpoints(database), Verdicts(database)
    await put(endpoints, 1, model="stays")
    await put(endpoints, 1, base_url="https://gone.example/v1", added=True)
    await put(endpoints, 2, model="others")
    stays, gone = await endpoints.all(1)
    for each in (stays, gone):
        await verdicts.put(each.id, "m", Verdict(structured_calls=True))
    wanted = [
        ("https://new.example/v1", "n", True),
        ("https://llm.example/v1", "stays", False),
        ("https://llm.example/v1", "also", False),
    ]
    await endpoints.replace(1, wanted, set_by=6)
    found = await endpoints.all(1)
    assert [(each.base_url, each.model, each.allow_private) for each in found] == wanted
    assert [each.sealed_key for each in found] == [None, "sealed", "sealed"]
    assert found[1].id == stays.id
    assert (await verdicts.get(stays.id, "m")).structured_calls
    assert await verdicts.get(gone.id, "m") == Verdict()
    assert [each.model for each in await endpoints.all(2)] == ["others"]
    await endpoints.replace(1, [], set_by=6)
    assert await endpoints.all(1) == []
