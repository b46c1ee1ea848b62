"""A member's and a guild's data can be taken out, all of it and nothing else."""

import json
from datetime import UTC, date, datetime
from pathlib import Path

from data.approvals import Approvals
from data.channels import Channels
from data.database import Database
from data.endpoints import GuildEndpoints
from data.erasure import (
    GUILD_TABLES,
    MEMBER_TABLES,
    WISHES,
    erase_guild,
    erase_member,
    export_member,
)
from data.facts import Facts
from data.guild_settings import GuildSettings
from data.knowledge import Context, Knowledge, NameTaken, NewDocument
from data.mcp_servers import GuildMcpServers
from data.opt_outs import OptOuts
from data.reminders import Reminders
from data.services import GuildServices
from data.turns import StoredTurn, Turns
from data.unfinished import HalfWritten, OpenQuestion, Unfinished
from data.usage import Amount, Spender, Usages
from prompt.values import TextPart, Turn

NOTHING = {
    "facts": 0,
    "turns": 0,
    "unfinished_replies": 0,
    "open_questions": 0,
    "reminders": 0,
    "time_zones": 0,
}
ONE_OF_EACH = dict.fromkeys(NOTHING, 1)


async def fill(database: Database, guild_id: int, member_id: int) -> None:
    """A row in every table for this member, each with words that name the two."""
    words = f"words-of-{member_id}-in-{guild_id}"
    await Facts(database).remember(guild_id, member_id, f"fact {words}")
    await Turns(database).save(
        StoredTurn(
            id=words,
            guild_id=guild_id,
            channel_id=5,
            member_id=member_id,
            asked_message_id=6,
            reply_message_ids=(guild_id * 100 + member_id,),
            turns=(Turn(role="assistant", parts=(TextPart(text=f"answer {words}"),)),),
            at=datetime.now(UTC),
        )
    )
    await Unfinished(database).begun(
        HalfWritten(
            message_id=guild_id * 100 + member_id,
            guild_id=guild_id,
            channel_id=5,
            member_id=member_id,
            asked_message_id=6,
            turn_id=6,
        )
    )
    await Unfinished(database).asked(
        OpenQuestion(
            guild_id=guild_id,
            channel_id=5,
            member_id=member_id,
            asked_message_id=guild_id * 100 + member_id,
            turn_id=6,
        )
    )
    await Reminders(database).add(
        guild_id=guild_id,
        channel_id=5,
        member_id=member_id,
        message_id=6,
        text=f"reminder {words}",
        due=datetime.now(UTC),
        now=datetime.now(UTC),
    )
    await Reminders(database).choose_zone(guild_id, member_id, f"zone {words}")
    knowledge = Knowledge(database)
    context = await knowledge.contexts.create(guild_id, f"context-of-{guild_id}", member_id)
    if isinstance(context, NameTaken):
        context = context.context
    assert isinstance(context, Context)
    for author_id in (member_id, None):
        await knowledge.documents.add(
            context,
            NewDocument(
                name=f"message {words}" if author_id else f"file by-{member_id}-in-{guild_id}",
                content=f"said {words}" if author_id else f"a file {member_id}-{guild_id}",
                kind="message",
                url="",
                size=1,
                added_by=member_id,
                author_id=author_id,
            ),
        )
    await knowledge.contexts.use(await knowledge.contexts.authorise(guild_id, [context.id]))
    await GuildSettings(database).put(guild_id, "", "rules", f"rules of {guild_id}")
    await Approvals(database).add(guild_id, "approved")
    await GuildEndpoints(database).put(
        guild_id,
        base_url=f"https://host-of-{guild_id}/v1",
        model="m",
        sealed_key="sealed",
        allow_private=False,
        set_by=member_id,
    )
    await GuildServices(database).put(
        guild_id,
        "search",
        provider="searxng",
        base_url=f"https://search-of-{guild_id}.example",
        sealed_key="sealed",
        set_by=member_id,
    )
    await GuildMcpServers(database).put(
        guild_id,
        "docs",
        url=f"https://mcp-of-{guild_id}.example/mcp",
        sealed_token="sealed",
        trusted=False,
        allow_private=False,
        set_by=member_id,
    )
    await Usages(database).add(
        date(2026, 12, 1),
        Spender(guild_id=guild_id, channel_id=5, member_id=member_id, model=f"model {words}"),
        Amount(turns=1),
    )
    await Usages(database).warn_once(guild_id, date(2026, 12, 1))
    await Channels(database).raise_watermark(guild_id, guild_id * 10, 6)


async def rows(database: Database, guild_id: int, member_id: int) -> dict[str, int]:
    exported = await export_member(database, guild_id, member_id)
    return {name: len(exported[name]) for name in NOTHING}


def on_disk(path: Path) -> bytes:
    return b"".join(file.read_bytes() for file in path.parent.glob(f"{path.name}*"))


async def test_every_table_with_an_owner_is_covered(database: Database):
    owners: dict[str, set[str]] = {}
    for table in await database.read("SELECT name FROM sqlite_schema WHERE type = 'table'"):
        columns = await database.read("SELECT name FROM pragma_table_info(?)", table["name"])
        owners[table["name"]] = {row["name"] for row in columns} & {"guild_id", "member_id"}
    members = {table for table, columns in owners.items() if "member_id" in columns}
    guilds = {table for table, columns in owners.items() if "guild_id" in columns}
    assert members == {*MEMBER_TABLES, *WISHES}
    assert guilds == {*GUILD_TABLES, *WISHES}
    assert members <= guilds, "a member's words must be keyed by guild as well"


async def test_the_export_has_a_list_for_every_table_of_members(database: Database):
    await fill(database, 1, 2)
    await fill(database, 1, 3)
    exported = await export_member(database, 1, 2)
    assert set(exported) - {"guild_id", "member_id"} == {
        *MEMBER_TABLES,
        *WISHES,
        "knowledge_contexts",
    }
    assert [fact["text"] for fact in exported["facts"]] == ["fact words-of-2-in-1"]
    (turn,) = exported["turns"]
    assert turn["reply_message_ids"] == [102]
    assert turn["content"]["turns"][0]["parts"] == [
        {"kind": "text", "text": "answer words-of-2-in-1"}
    ]
    assert [(doc["own_words"], doc["added"]) for doc in exported["knowledge_documents"]] == [
        (["said words-of-2-in-1"], True),
        ([], True),
    ]
    assert [context["name"] for context in exported["knowledge_contexts"]] == ["context-of-1"]
    assert json.loads(json.dumps(exported)) == exported
    assert "of-3" not in json.dumps(exported)


async def test_erasing_a_member_leaves_no_word_on_the_disk(database: Database, path: Path):
    for guild_id, member_id in ((1, 2), (1, 3), (9, 2), (0, 2)):
        await fill(database, guild_id, member_id)
    assert b"words-of-2-in-1" in on_disk(path)
    await erase_member(database, 1, 2)
    assert b"words-of-2-in-1" not in on_disk(path)
    assert await rows(database, 1, 2) == NOTHING
    assert await Turns(database).by_messages([102]) == {}
    for guild_id, member_id in ((1, 3), (9, 2), (0, 2)):
        assert await rows(database, guild_id, member_id) == ONE_OF_EACH
    assert set(await Turns(database).by_messages([102, 103, 902, 2])) == {103, 902, 2}
    assert await GuildSettings(database).values(1, "") == {"rules": "rules of 1"}


async def test_an_opt_out_is_handed_out_and_outlives_erasure(database: Database):
    wishes = OptOuts(database)
    for member_id in (2, 2, 3):
        await wishes.add(1, member_id)
    assert len((await export_member(database, 1, 2))["opt_outs"]) == 1
    assert (await export_member(database, 9, 2))["opt_outs"] == []
    await erase_member(database, 1, 2)
    await erase_guild(database, 1)
    assert await wishes.of(1) == {2, 3}
    await wishes.remove(1, 2)
    assert (await wishes.of(1), await wishes.of(9)) == ({3}, frozenset())


async def test_what_an_erased_member_added_stays_without_saying_who(database: Database):
    await fill(database, 1, 2)
    await erase_member(database, 1, 2)
    context = await Knowledge(database).contexts.named(1, "CONTEXT-of-1")
    assert context is not None
    assert context.created_by is None
    (document,) = await Knowledge(database).documents.all(context)
    assert (document.name, document.added_by) == ("file by-2-in-1", None)


async def test_erasing_a_guild_leaves_the_others(database: Database, path: Path):
    for guild_id, member_id in ((1, 2), (1, 3), (9, 2)):
        await fill(database, guild_id, member_id)
    await erase_guild(database, 1)
    assert await rows(database, 1, 2) == await rows(database, 1, 3) == NOTHING
    assert await GuildSettings(database).values(1, "") == {}
    assert b"in-1" not in on_disk(path)
    assert b"rules of 1" not in on_disk(path)
    assert b"context-of-1" not in on_disk(path)
    assert b"a file 2-1" not in on_disk(path)
    (context,) = (await Knowledge(database).contexts.selected(9, 5)).contexts
    assert len(await Knowledge(database).documents.all(context)) == 2
    assert b"mcp-of-1" not in on_disk(path)
    assert [server.name for server in await GuildMcpServers(database).all(9)] == ["docs"]
    assert await rows(database, 9, 2) == ONE_OF_EACH
    assert await GuildSettings(database).values(9, "") == {"rules": "rules of 9"}
