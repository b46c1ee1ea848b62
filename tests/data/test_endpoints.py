import pytest

from data.database import Database
from data.endpoints import GuildEndpoint, GuildEndpoints
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
) -> None:
    await endpoints.put(
        guild_id,
        base_url=base_url,
        model=model,
        sealed_key=sealed_key,
        allow_private=allow_private,
        set_by=5,
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
