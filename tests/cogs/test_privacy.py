"""Members' own data over real sockets: seen, taken out, erased, and kept out of prompts."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path

from cogs.admitting import OPTED_OUT
from cogs.tree import NOT_ALLOWED
from data.services import ServiceKind
from tests.cogs.town import Town, shown, town
from tests.loopback.discord_server import User
from tests.loopback.discord_server.wire import Payload
from tests.loopback.endpoint import Step

SECRET = "My cat is called Mog."


async def converse(here: Town) -> None:
    """Alice has something remembered, and an answer."""
    here.operators.add(Step(text="Mog it is."))
    await here.answer(here.ask(here.home_channel, here.alice, SECRET), contains="Mog it is.")
    async with asyncio.timeout(5):  # it is kept once it is shown
        while not (await here.store.export_member(here.home.id, here.alice.id))["turns"]:
            await asyncio.sleep(0.01)
    await here.store.facts.remember(here.home.id, here.alice.id, SECRET)
    await here.store.facts.remember(here.home.id, here.operator.id, "Likes dogs.")


async def exported(here: Town, user: User) -> Payload:
    told = shown(await here.slash(here.home_channel, user, "privacy export"))
    (file,) = told.attachments
    assert file.name == "privacy.json"
    return json.loads(file.data)


async def test_a_member_takes_out_their_own_data_alone(tmp_path: Path) -> None:
    async with town(tmp_path) as here:
        await converse(here)
        data = await exported(here, here.alice)
        assert data["member_id"] == here.alice.id
        assert [fact["text"] for fact in data["facts"]] == [SECRET]
        assert "Mog it is." in json.dumps(data["turns"])
        assert "dogs" not in json.dumps(data)


async def test_a_file_too_large_for_discord_comes_in_parts(tmp_path: Path) -> None:
    async with town(tmp_path) as here:
        await converse(here)
        here.server.limits.file_bytes = 400
        used = await here.slash(here.home_channel, here.alice, "privacy export")

        def whole() -> bytes:
            parts = [shown(used), *used.followups]
            assert all(part.ephemeral for part in parts)
            return b"".join(part.attachments[0].data for part in parts)

        await here.until(lambda: whole().endswith(b"\n}"))
        assert used.followups
        assert json.loads(whole())["member_id"] == here.alice.id


async def test_erasing_takes_a_second_yes_and_leaves_others_alone(tmp_path: Path) -> None:
    async with town(tmp_path) as here:
        await converse(here)
        asked = shown(await here.slash(here.home_channel, here.alice, "privacy erase"))
        assert "**This stays** Messages on Discord" in asked.text
        assert (await exported(here, here.alice))["facts"] != []
        here.server.driver.press(here.alice, asked, "Erase it")
        await here.until(lambda: "Nothing of you is kept" in asked.text)
        assert not asked.components
        data = await exported(here, here.alice)
        assert (data["facts"], data["turns"], data["usage"]) == ([], [], [])
        assert (await exported(here, here.operator))["facts"] != []


async def test_who_opts_out_is_not_read_and_told_so(tmp_path: Path) -> None:
    async with town(tmp_path) as here:
        await converse(here)
        said = await here.said(here.home_channel, here.alice, "privacy opt-out")
        assert "your messages are read to no model here" in said
        refused = here.ask(here.home_channel, here.alice, "Hello?")
        assert OPTED_OUT in await here.answer(refused)
        here.operators.add(Step(text="Hello."))
        await here.answer(here.ask(here.home_channel, here.operator, "Hi"), contains="Hello.")
        sent = here.operators.received[-1].raw.decode()
        assert "Mog" not in sent
        assert "Hello?" not in sent
        assert len((await exported(here, here.alice))["opt_outs"]) == 1
        assert "opted out" in await here.said(here.home_channel, here.alice, "privacy info")
        await here.slash(here.home_channel, here.alice, "privacy opt-in")
        here.operators.add(Step(text="Welcome back."))
        back = here.ask(here.home_channel, here.alice, "Me again")
        assert "Welcome back." in await here.answer(back, contains="back")
        assert "Mog" in here.operators.received[-1].raw.decode()


async def test_a_server_goes_when_its_name_is_typed(tmp_path: Path) -> None:
    async with town(tmp_path) as here:
        await converse(here)
        path, channel = "privacy erase-server", here.home_channel
        assert await here.said(channel, here.alice, path) == NOT_ALLOWED
        wrong = await here.submitted(channel, here.operator, path, {"name": "Hom"})
        assert "Nothing was erased" in wrong
        assert (await exported(here, here.alice))["facts"] != []
        done = await here.submitted(channel, here.operator, path, {"name": " Home "})
        assert "Nothing of this server is kept any more" in done
        assert (await exported(here, here.alice))["facts"] == []
        assert (await exported(here, here.operator))["facts"] == []


async def test_direct_messages_have_data_of_their_own(tmp_path: Path) -> None:
    async with town(tmp_path, dms="on") as here:
        await converse(here)
        mail = here.server.build.direct_messages(here.alice)
        await here.store.facts.remember(0, here.alice.id, "Writes at night.")
        told = shown(await here.slash(mail, here.alice, "privacy export"))
        assert "in direct messages" in told.text
        text = told.attachments[0].data.decode()
        assert "Writes at night." in text
        assert "Mog" not in text


async def test_info_tells_where_words_go_without_the_operators_address(tmp_path: Path) -> None:
    async with town(tmp_path) as here:
        told = await here.said(here.home_channel, here.alice, "privacy info")
        assert "the endpoint of this bot's operator" in told
        assert "127.0.0.1" not in told
        assert "You have not opted out" in told


async def test_where_words_go_is_told_where_nothing_serves(tmp_path: Path) -> None:
    async with town(tmp_path, away=True) as here:
        told = await here.said(here.away_channel, here.bob, "privacy info")
        assert "no endpoint serves this place" in told
        assert "**What I keep until it is erased**" in told
        assert "You have not opted out." in told


async def test_how_much_goes_and_where_that_is(tmp_path: Path) -> None:
    async with town(tmp_path) as here:
        channel, home = here.home_channel, here.home.id
        told = await here.said(channel, here.alice, "privacy info")
        where = "the endpoint of this bot's operator, on the machine that I run on"
        assert f"the latest messages of that channel go to {where}." in told
        assert "127.0.0.1" not in told
        assert "What else" not in told
        await here.desk.answering.change(home, lambda now: replace(now, history="replies"))
        told = await here.said(channel, here.alice, "privacy info")
        assert f"that message and those that it replies to go to {where};" in told


async def test_the_services_that_words_may_reach_are_named(tmp_path: Path) -> None:
    async with town(tmp_path) as here:
        channel, home = here.home_channel, here.home.id
        await here.store.settings.put(home, "", "web", True)
        await here.store.settings.put(home, "", "images", True)
        chosen: list[tuple[ServiceKind, str, str]] = [
            ("search", "ddgs", ""),
            ("images", "openai", "https://draw.example/v1"),
            ("embeddings", "openai", "http://192.168.7.7/v1"),
        ]
        for kind, provider, url in chosen:
            await here.store.services.put(
                home,
                kind,
                provider=provider,
                base_url=url,
                model="m",
                sealed_key=None,
                allow_private=True,
                set_by=1,
            )
        await here.store.mcp_servers.put(
            home,
            "docs",
            url="https://mcp.example/",
            sealed_token=None,
            trusted=False,
            allow_private=False,
            set_by=1,
        )
        told = await here.said(channel, here.alice, "privacy info")
        assert "- Searches of the web: DuckDuckGo, on the internet" in told
        assert "- Descriptions of pictures: `draw.example`, on the internet, which admins" in told
        assert "knowledge: `192.168.7.7`, in a private network, which admins" in told
        assert "- What tools of MCP servers are asked: `docs`" in told
