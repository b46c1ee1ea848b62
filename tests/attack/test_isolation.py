"""Everything that is kept of one guild, sought from another: by every command, every suggestion,
every tool and every button."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from data.keys import open_keys
from data.knowledge.values import Context, Document, NewDocument
from prompt.values import Json
from tests.attack.walking import arguments_for, commands, options_for, walked
from tests.cogs.town import Town, shown, town
from tests.loopback.discord_server import Interaction
from tests.loopback.discord_server.model import walk_components
from tests.loopback.endpoint import Step
from tools.builtin import builtin_tools
from tools.registry import NoFiles, ToolContext, ToolFailure
from tools.toolset import Toolset

CANARY = "canary7f3a"
"""Stands in all that is kept of the first guild, and in nothing that anyone types."""

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)


async def furnish(here: Town) -> None:
    """Keep something of every kind for the first guild, of which the stranger is a member too."""
    store, home, member = here.store, here.home.id, here.stranger.id
    here.server.build.member(here.home, here.stranger)
    for text in ("persona", "rules", "notes"):
        await store.settings.put(home, "", text, f"You know {CANARY}.")
    await store.facts.remember(home, member, f"Likes {CANARY}")
    keys = open_keys(here.home_directory, None)
    url = f"https://{CANARY}.example/v1"
    await store.endpoints.put(
        home,
        base_url=url,
        model=CANARY,
        sealed_key=keys.encrypt_for(url, CANARY),
        allow_private=False,
        set_by=member,
    )
    await store.mcp_servers.put(
        home,
        CANARY[:8],
        url=url,
        sealed_token=None,
        trusted=True,
        allow_private=False,
        set_by=member,
    )
    for kind in ("search", "images", "embeddings"):
        await store.services.put(
            home, kind, provider="openai", base_url=url, model=CANARY, set_by=member
        )
    context = await store.knowledge.contexts.create(home, "Alpha", member)
    assert isinstance(context, Context)
    document = await store.knowledge.documents.add(
        context,
        NewDocument(
            name=f"{CANARY}.txt",
            content=f"The alpha word is {CANARY}.",
            kind="message",
            url=url,
            size=10,
            added_by=member,
            author_id=member,
        ),
    )
    assert isinstance(document, Document)
    for channel_id in (0, here.away_channel.id):  # the second as if somebody had forged it
        await store.knowledge.contexts.use(
            await store.knowledge.contexts.authorise(home, [context.id]), channel_id
        )
    await store.reminders.add(
        guild_id=home,
        channel_id=here.home_channel.id,
        member_id=member,
        message_id=1,
        text=f"feed {CANARY}",
        due=datetime.now(UTC) + timedelta(days=9),
        now=datetime.now(UTC),
    )


@pytest.fixture
async def here(tmp_path: Path) -> AsyncGenerator[Town]:
    async with town(tmp_path, away=True, approved="all") as made:
        await furnish(made)
        yield made


def everything(used: Interaction) -> Iterator[str]:
    """All that came of an interaction."""
    for message in (used.original, *used.followups):
        if message is not None:
            yield f"{message.text} {message.embeds} {message.components}"
            yield from (file.data.decode("utf-8", "replace") for file in message.attachments)
    yield f"{used.modal} {used.choices}"


async def test_no_command_tells_another_guild_of_it(here: Town) -> None:
    """With the options that must be given, and with all that there are."""
    driver, channel, stranger = here.server.driver, here.away_channel, here.stranger
    pairs: list[tuple[str, Interaction]] = []
    for path, declared in commands(here.server.world.commands_in(here.away)):
        for optional in (False, True):
            values = options_for(declared, here, optional=optional)
            if optional and values == options_for(declared, here, optional=False):
                continue
            pairs.append((path, driver.slash(channel, stranger, path, values)))
            await asyncio.sleep(0.02)
    assert len(pairs) > 50
    for path, used in pairs:
        await driver.acknowledged(used)
        assert used.state.name == "ACKNOWLEDGED", path
    await asyncio.sleep(1.0)
    here.operators.problems.clear()  # some commands ask the endpoint, which knows no answer here
    told = {path for path, used in pairs if any(CANARY in text for text in everything(used))}
    assert told == set()
    # Nor did any of them change it.
    exported = await here.store.export_member(here.home.id, stranger.id)
    assert str(exported).count(CANARY) >= 4
    assert await here.store.endpoints.get(here.home.id) is not None


async def test_no_suggestion_tells_another_guild_of_it(here: Town) -> None:
    driver, channel, stranger = here.server.driver, here.away_channel, here.stranger
    asked: list[tuple[str, Interaction]] = []
    for path, declared in commands(here.server.world.commands_in(here.away)):
        for option in walked(declared):
            if option.get("autocomplete"):
                for typed in ("", "a", "1", f"\u202e{'x' * 90}"):
                    typing = driver.autocomplete(channel, stranger, path, option["name"], typed)
                    asked.append((f"{path} {option['name']}", typing))
    assert len(asked) > 20
    for path, used in asked:
        await driver.acknowledged(used)
        assert CANARY not in str(used.choices), path


async def test_no_tool_tells_another_guild_of_it(here: Town) -> None:
    context = ToolContext(
        guild_id=here.away.id,
        channel_id=here.away_channel.id,
        member_id=here.stranger.id,
        message_id=5,
        now=NOW,
        facts=here.store.facts,
        files=NoFiles(),
    )
    toolsets: tuple[Toolset, ...] = (builtin_tools(), here.desk.grounder, here.desk.server_tools)
    tried: list[str] = []
    for toolset in toolsets:
        for offered in await toolset.offered(here.away.id):
            spec = offered.tool.spec
            assert CANARY not in f"{spec} {offered.off}"
            try:
                output = await offered.tool.run(context, arguments_for(spec.parameters, here))
                told = f"{output.text} {output.files}"
            except ToolFailure as failure:
                told = str(failure)
            assert CANARY not in told, spec.name
            tried.append(spec.name)
    assert len(tried) >= 10
    assert len(set(tried)) == len(tried)


async def test_no_prompt_holds_anything_of_another_guild(here: Town) -> None:
    here.operators.add(Step(text="It is nothing."))
    asked = here.ask(here.away_channel, here.stranger, "What is the alpha word?")
    assert await here.answer(asked) == "It is nothing."
    (received,) = here.operators.received
    assert CANARY not in received.raw.decode()
    assert CANARY not in str(received.headers)


def forged(here: Town, asked: int, endpoint_id: str) -> tuple[str, ...]:
    """Ids of buttons as a client of one's own might send them."""
    member = here.alice.id
    return (
        f"reply:delete:{here.stranger.id}:{asked}:{asked}",
        f"reply:again:{here.stranger.id}:{asked}:{asked}",
        f"reply:on:{member}:{asked}:{asked}",
        f"reply:stop:{'9' * 20}:{'9' * 20}:{'9' * 20}",
        "reply:stop:-1:-1:-1",
        "reply:delete:\u0661:\u0662:\u0663",
        "reply:" + "9" * 90,
        f"endpoints:remove:{endpoint_id}",
        f"endpoints:up:{endpoint_id}",
        f"endpoints:add:{endpoint_id}",
        "endpoints:",
        "endpoints:nothing:nowhere",
        f"consent:{'0' * 16}:always",
        "consent:../../etc:once",
        "details",
        "thinking",
        "tuning:apply",
        "\u202e\u0000\ud83d\ude00" + "\u0300" * 60,
        "a" * 100,
    )


async def kept_of(here: Town) -> Json:
    """What is kept of Alice, without questions under way: these are noted behind their turns."""
    exported = dict(await here.store.export_member(here.home.id, here.alice.id))
    del exported["open_questions"]
    return exported


MENUS = (
    "workarounds:tool_mode",
    "workarounds:no_such_switch",
    "workarounds:page",
    "workarounds:page:" + "x" * 70,
    "answering:triggers",
    "endpoints:choose",
    "usage:period",
)
"""Of menus, in which a value is chosen that none of them offers."""


async def test_no_forged_button_reaches_another_guild(
    here: Town, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    driver = here.server.driver
    asked = here.ask(here.home_channel, here.alice, "hello")
    # The guild has an endpoint of its own, which cannot be reached: what it says stands there.
    reply = await here.server.wait_for_message(here.home_channel, lambda m: m.reply_to is asked)
    await here.until(lambda: bool(reply.text))
    endpoint = await here.store.endpoints.get(here.home.id)
    assert endpoint is not None
    before = await kept_of(here)
    pressed: list[Interaction] = []
    for custom_id in (*forged(here, asked.id, endpoint.id), *MENUS):
        switches = custom_id.startswith("workarounds")
        path, kind = ("config workarounds", 3) if switches else ("config endpoints", 2)
        panel = shown(await here.slash(here.away_channel, here.stranger, path))
        button = next(each for each in walk_components(panel.components) if each["type"] == kind)
        button["custom_id"], button["disabled"] = custom_id, False
        if custom_id in MENUS:
            value = endpoint.id if custom_id.startswith("endpoints") else "\u202e' OR 1=1 --"
            button["type"], button["options"] = 3, [{"value": value}]
            used = driver.choose(here.stranger, panel, custom_id, [value])
        else:
            used = driver.press(here.stranger, panel, custom_id)
        assert used.deadline is not None
        used.deadline.cancel()  # what is no button of the bot's need not be answered
        pressed.append(used)
    await asyncio.sleep(1.0)
    for used in pressed:
        assert not any(CANARY in text for text in everything(used)), used.name
    assert [record for record in caplog.records if record.exc_info] == []
    assert not reply.deleted
    assert await here.store.endpoints.get(here.home.id) == endpoint
    assert await kept_of(here) == before
