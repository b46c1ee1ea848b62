"""Who searches and who draws for which guild."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from pydantic import SecretStr

from chat.admission import Admission
from chat.entries import SetupRefused
from chat.services import ChosenServices, Wanted, operators_services
from data.keys import open_keys
from data.settings import Settings
from data.store import Store, open_store
from tools.services import Missing, Service

OPERATOR, ADMIN = 1, 2
HOME, AWAY = 100, 200
OPERATORS = {
    "search": Service(provider="brave", key="operators-key", allow_private=True),
    "images": Service(provider="openai", url="http://10.0.0.9/v1", model="m", allow_private=True),
}


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with open_store(tmp_path) as opened:
        yield opened


def services(store: Store, tmp_path: Path, *, offered: bool = False) -> ChosenServices:
    """HOME alone is approved by the operator."""
    admission = Admission(store, approved_guilds={HOME}, dms=None)
    admission.introduce({OPERATOR}, is_public=True)
    return ChosenServices(
        store,
        open_keys(tmp_path, None),
        admission,
        operators={"search": OPERATORS["search"], "images": OPERATORS["images"]} if offered else {},
    )


async def test_without_any_each_kind_says_what_would_set_it(store: Store, tmp_path: Path) -> None:
    here = services(store, tmp_path)
    assert await here.search(HOME) == Missing(
        why="no search provider is set; /config search sets one"
    )
    assert await here.images(0) == Missing(why="no image endpoint is set; /config images sets one")


async def test_the_operators_serve_approved_guilds_and_direct_messages_alone(
    store: Store, tmp_path: Path
) -> None:
    here = services(store, tmp_path, offered=True)
    assert await here.search(HOME) == OPERATORS["search"]
    assert await here.images(0) == OPERATORS["images"]
    refused = await here.search(AWAY)
    assert isinstance(refused, Missing)
    assert "approved servers only" in refused.why


async def test_a_guilds_own_goes_before_the_operators_and_serves_that_guild(
    store: Store, tmp_path: Path
) -> None:
    here = services(store, tmp_path, offered=True)
    said = await here.choose(AWAY, "search", Wanted(provider="ddgs"), by=ADMIN)
    assert said == "Saved: ddgs, without a key."
    assert await here.search(AWAY) == Service(provider="ddgs")
    assert await here.search(HOME) == OPERATORS["search"]
    await here.choose(HOME, "search", Wanted(provider="none"), by=ADMIN)
    assert isinstance(await here.search(HOME), Missing)
    await here.forget(HOME, "search")
    assert await here.search(HOME) == OPERATORS["search"]


async def test_a_key_is_kept_sealed_and_stays_with_its_origin(store: Store, tmp_path: Path) -> None:
    here = services(store, tmp_path)
    wanted = Wanted(provider="openai", url="8.8.8.8/v1/", model="flux", key="draw-key-1")
    assert "draw-key-1" not in repr(wanted)
    said = await here.choose(AWAY, "images", wanted, by=ADMIN)
    assert said == "Saved: flux at https://8.8.8.8/v1, with a key."
    kept = await here.chosen(AWAY, "images")
    assert kept is not None
    assert "draw-key-1" not in str(kept.sealed_key)
    found = await here.images(AWAY)
    assert isinstance(found, Service)
    assert (found.url, found.model, found.key) == ("https://8.8.8.8/v1", "flux", "draw-key-1")
    # The same server without a key keeps it; another one drops it.
    for url, key in (("https://8.8.8.8/v2", "draw-key-1"), ("https://8.8.4.4/v2", None)):
        await here.choose(AWAY, "images", Wanted(provider="openai", url=url, model="m"), by=ADMIN)
        found = await here.images(AWAY)
        assert isinstance(found, Service)
        assert found.key == key


@pytest.mark.parametrize("url", ["http://127.0.0.1:8888", "10.0.0.5", "http://169.254.169.254"])
async def test_a_private_address_is_the_operators_to_set(
    store: Store, tmp_path: Path, url: str
) -> None:
    here = services(store, tmp_path)
    wanted = Wanted(provider="searxng", url=url)
    with pytest.raises(SetupRefused, match="Only the bot's operator may set"):
        await here.choose(AWAY, "search", wanted, by=ADMIN)
    assert await here.chosen(AWAY, "search") is None
    await here.choose(AWAY, "search", wanted, by=OPERATOR)
    found = await here.search(AWAY)
    assert isinstance(found, Service)
    assert found.allow_private


@pytest.mark.parametrize(
    ("kind", "wanted", "words"),
    [
        ("search", Wanted(provider="bing"), "is one of: none, searxng, brave, ddgs"),
        ("search", Wanted(provider="brave"), "needs a key"),
        ("search", Wanted(provider="searxng"), "Enter the URL"),
        ("search", Wanted(provider="searxng", url="https://8.8.8.8/?q=1"), "end with its path"),
        ("search", Wanted(provider="brave", key="two words"), "one word"),
        ("images", Wanted(provider="openai", url="https://8.8.8.8/v1"), "Name the model"),
        ("images", Wanted(provider="openai", url="ftp://8.8.8.8", model="m"), "start with https"),
    ],
)
async def test_what_cannot_be_used_is_refused_with_what_to_do(
    store: Store, tmp_path: Path, kind: str, wanted: Wanted, words: str
) -> None:
    here = services(store, tmp_path)
    with pytest.raises(SetupRefused, match=words):
        await here.choose(AWAY, "search" if kind == "search" else "images", wanted, by=ADMIN)


async def test_a_key_of_another_master_key_says_what_to_enter(store: Store, tmp_path: Path) -> None:
    here = services(store, tmp_path)
    await here.choose(AWAY, "search", Wanted(provider="brave", key="brave-key-1"), by=ADMIN)
    (tmp_path / "master.key").unlink()
    found = await services(store, tmp_path).search(AWAY)
    assert isinstance(found, Missing)
    assert "enter it again with /config search" in found.why


def test_the_operators_settings_become_services() -> None:
    assert operators_services(Settings()) == {}
    found = operators_services(
        Settings(
            search="searxng",
            search_url="http://127.0.0.1:8888/",
            image_url="http://127.0.0.1:8081",
            image_model="flux",
            image_key=SecretStr("draw-key-1"),
        )
    )
    assert found == {
        "search": Service(provider="searxng", url="http://127.0.0.1:8888", allow_private=True),
        "images": Service(
            provider="openai",
            url="http://127.0.0.1:8081/v1",
            model="flux",
            key="draw-key-1",
            allow_private=True,
        ),
    }


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"search": "searxng"}, "needs VERBATIM_SEARCH_URL"),
        ({"search": "brave"}, "needs VERBATIM_SEARCH_KEY"),
        ({"image_url": "https://host/v1"}, "needs VERBATIM_IMAGE_MODEL"),
    ],
)
def test_settings_that_are_half_a_service_are_refused(values: dict[str, str], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Settings.model_validate(values)
