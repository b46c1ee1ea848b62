"""Choosing who searches and who draws with /config, over real sockets to Discord."""

import json
from pathlib import Path

from cogs.tree import NOT_ALLOWED
from tests.cogs.town import Town, shown, town
from tests.loopback.discord_server import User
from tools.services import Missing, Service

KEY = "their-draw-key-1"


async def filled(here: Town, user: User, path: str, values: dict[str, str], **options: str) -> str:
    """Open the form of a command with options, submit it, and read what comes of it."""
    opened = await here.slash(here.away_channel, user, path, **options)
    sent = here.server.driver.submit(user, opened, values)
    return shown(await here.server.driver.answered(sent)).text


async def test_the_choices_are_for_those_who_may_manage_the_server(tmp_path: Path) -> None:
    async with town(tmp_path) as here:
        for path, options in (("config search", {"provider": "ddgs"}), ("config images", {})):
            said = await here.said(here.home_channel, here.alice, path, **options)
            assert said == NOT_ALLOWED


async def test_a_provider_without_a_form_is_chosen_at_once(tmp_path: Path) -> None:
    async with town(tmp_path, away=True) as here:
        said = await here.said(here.away_channel, here.stranger, "config search", provider="ddgs")
        assert said.startswith("Saved: ddgs, without a key.")
        assert "`web` is on in `/config exposure`" in said
        assert await here.desk.services.search(here.away.id) == Service(provider="ddgs")
        assert isinstance(await here.desk.services.search(here.home.id), Missing)
        await here.said(here.away_channel, here.stranger, "config search", provider="default")
        assert isinstance(await here.desk.services.search(here.away.id), Missing)


async def test_a_key_is_entered_in_a_form_and_shown_to_nobody(tmp_path: Path) -> None:
    async with town(tmp_path, away=True) as here:
        values = {"url": "https://8.8.8.8/v1", "model": "flux", "key": KEY}
        said = await filled(here, here.stranger, "config images", values)
        assert said.startswith("Saved: flux at https://8.8.8.8/v1, with a key.")
        assert KEY not in said
        opened = await here.slash(here.away_channel, here.stranger, "config images")
        assert "flux" in json.dumps(opened.modal)
        assert KEY not in json.dumps(opened.modal)
        kept = b"".join(path.read_bytes() for path in tmp_path.glob("verbatim.db*"))
        assert b"https://8.8.8.8/v1" in kept
        assert KEY.encode() not in kept
        found = await here.desk.services.images(here.away.id)
        assert isinstance(found, Service)
        assert found.key == KEY
        await here.desk.setup.reset(here.away.id)
        assert isinstance(await here.desk.services.images(here.away.id), Missing)


async def test_a_private_search_server_is_refused_with_the_reason(tmp_path: Path) -> None:
    async with town(tmp_path, away=True) as here:
        said = await filled(
            here,
            here.stranger,
            "config search",
            {"url": "http://127.0.0.1:8888", "key": ""},
            provider="searxng",
        )
        assert "Only the bot's operator may set such an address" in said
        assert await here.desk.services.chosen(here.away.id, "search") is None
        said = await filled(
            here, here.stranger, "config search", {"key": "brave-key-1"}, provider="brave"
        )
        assert said.startswith("Saved: brave, with a key.")
