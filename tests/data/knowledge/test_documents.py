"""Documents are kept whole or not at all, within limits, and go without a trace."""

import asyncio
from pathlib import Path

import pytest

from data.database import Database
from data.knowledge import (
    Context,
    ContextGone,
    Document,
    Duplicate,
    Knowledge,
    Limits,
    NoText,
    OverLimit,
)
from tests.data.knowledge.conftest import Fill, new

LONG = " ".join(f"word{number}" for number in range(60_000))
"""More chunks than one transaction takes."""


async def context(knowledge: Knowledge, guild_id: int = 42, name: str = "K") -> Context:
    made = await knowledge.contexts.create(guild_id, name, 1)
    assert isinstance(made, Context)
    return made


async def counts(database: Database) -> tuple[int, ...]:
    """Documents, chunks, and rows of the index."""
    (row,) = await database.read(
        """SELECT (SELECT count(*) FROM knowledge_documents), (SELECT count(*) FROM
        knowledge_chunks), (SELECT count(*) FROM knowledge_words_docsize)"""
    )
    return tuple(row)


def on_disk(path: Path) -> bytes:
    return b"".join(file.read_bytes() for file in path.parent.glob(f"{path.name}*"))


async def test_what_was_added_is_listed_with_where_it_came_from(knowledge: Knowledge):
    place = await context(knowledge)
    steps: list[tuple[int, int]] = []
    added = await knowledge.documents.add(
        place, new(LONG, " a\n b.txt"), lambda done, total: steps.append((done, total))
    )
    assert isinstance(added, Document)
    assert await knowledge.documents.all(place) == [added]
    assert (added.name, added.kind, added.url, added.size) == (
        "a b.txt",
        "attachment",
        "https://x",
        9,
    )
    assert (added.characters, added.added_by, added.chunks) == (len(LONG), 5, 172)
    assert steps == [(64, 172), (128, 172), (172, 172)]
    usage = await knowledge.documents.usage(42)
    assert (usage.contexts, usage.documents, usage.characters) == (1, 1, len(LONG))


async def test_the_same_text_is_refused_with_the_document_that_has_it(knowledge: Knowledge):
    place = await context(knowledge)
    first = await knowledge.documents.add(place, new("Caf\u00e9 au lait", "one.txt"))
    assert isinstance(first, Document)
    again = await knowledge.documents.add(place, new("Cafe\u0301 au lait \r\n", "two.txt"))
    assert again == Duplicate(document=first)
    elsewhere = await context(knowledge, name="other")
    assert isinstance(await knowledge.documents.add(elsewhere, new("Café au lait")), Document)
    await knowledge.remove(place, first.id)
    assert isinstance(await knowledge.documents.add(place, new("Café au lait")), Document)


@pytest.mark.parametrize("content", ["", " \n ", ["", "\f"], []])
async def test_a_document_without_text_is_refused(
    knowledge: Knowledge, database: Database, content: str | list[str]
):
    assert await knowledge.documents.add(await context(knowledge), new(content)) == NoText()
    assert await counts(database) == (0, 0, 0)


async def test_limits_are_looked_at_before_anything_is_stored(database: Database):
    knowledge = Knowledge(database, Limits(contexts=2, documents=2, characters=20))
    place = await context(knowledge)
    await context(knowledge, name="second")
    assert await knowledge.contexts.create(42, "third", 1) == OverLimit(
        what="contexts", kept=2, wanted=1, limit=2
    )
    await context(knowledge, guild_id=7)
    await knowledge.documents.add(place, new("ten chars!"))
    assert await knowledge.documents.add(place, new("eleven char")) == OverLimit(
        what="characters", kept=10, wanted=11, limit=20
    )
    await knowledge.documents.add(place, new("x"))
    assert await knowledge.documents.add(place, new("y")) == OverLimit(
        what="documents", kept=2, wanted=1, limit=2
    )
    assert await counts(database) == (2, 2, 2)


async def test_of_two_that_fit_alone_but_not_together_one_is_refused(database: Database):
    knowledge = Knowledge(database, Limits(characters=len(LONG) + 10))
    place = await context(knowledge)
    outcomes = await asyncio.gather(
        knowledge.documents.add(place, new(LONG)), knowledge.documents.add(place, new(LONG + " z"))
    )
    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["Document", "OverLimit"]


async def test_cancelled_under_way_nothing_is_kept(
    knowledge: Knowledge, database: Database, path: Path
):
    place = await context(knowledge)
    begun = asyncio.Event()
    adding = asyncio.create_task(
        knowledge.documents.add(place, new(LONG), lambda _done, _total: begun.set())
    )
    await begun.wait()
    assert await knowledge.documents.all(place) == [], "half a document can be seen"
    found = await knowledge.retriever().search(
        await knowledge.contexts.authorise(42, [place.id]), "word3"
    )
    assert found == [], "half a document can be found"
    adding.cancel()
    with pytest.raises(asyncio.CancelledError):
        await adding
    assert await counts(database) == (0, 0, 0)
    assert b"word17" not in on_disk(path)


async def test_what_a_crash_left_behind_goes_at_the_next_start(
    knowledge: Knowledge, database: Database, fill: Fill, path: Path
):
    authorised = await fill("kept words", "lost words zebra")
    async with database.transaction() as transaction:
        await transaction.run("UPDATE knowledge_documents SET ready = 0 WHERE name = '1.txt'")
    await knowledge.recover()
    assert await counts(database) == (1, 1, 1)
    assert b"zebra" not in on_disk(path)
    assert len(await knowledge.retriever().search(authorised, "words")) == 1


async def test_others_write_while_a_long_document_comes_and_goes(
    knowledge: Knowledge, database: Database
):
    place = await context(knowledge)
    adding = asyncio.create_task(knowledge.documents.add(place, new(LONG)))
    writes = 0
    while not adding.done():
        async with database.transaction() as transaction:
            await transaction.run("INSERT OR REPLACE INTO meta VALUES ('k', '')")
        writes += 1
    assert writes >= 3


async def test_removing_leaves_no_word_anywhere(
    knowledge: Knowledge, database: Database, fill: Fill, path: Path
):
    await fill("the others stay", guild_id=7)
    authorised = await fill("a secret xylophone", LONG, "東京の秘密", "stays here")
    (place,) = authorised.contexts
    documents = {document.name: document for document in await knowledge.documents.all(place)}
    assert b"xylophone" in on_disk(path)
    for name in ("0.txt", "1.txt", "2.txt"):
        assert await knowledge.remove(place, documents[name].id) == documents[name]
        assert await knowledge.remove(place, documents[name].id) is None
    left = on_disk(path)
    for word in ("xylophone", "word59999", "word4711", "東京", "秘密"):
        assert word.encode() not in left
    assert await counts(database) == (2, 2, 2)
    assert len(await knowledge.retriever().search(authorised, "stays")) == 1


async def test_deleting_a_context_takes_documents_and_choices(
    knowledge: Knowledge, database: Database, fill: Fill, path: Path
):
    authorised = await fill("a secret xylophone")
    await knowledge.contexts.use(authorised)
    await knowledge.delete(authorised.contexts[0])
    assert await knowledge.contexts.all(42) == []
    assert (await knowledge.contexts.selected(42, 1)).contexts == ()
    assert await counts(database) == (0, 0, 0)
    assert b"xylophone" not in on_disk(path)
    assert await knowledge.retriever().search(authorised, "xylophone") == []
    gone = await knowledge.documents.add(authorised.contexts[0], new("late"))
    assert gone == ContextGone()


async def test_another_guild_can_neither_see_nor_remove(knowledge: Knowledge, fill: Fill):
    authorised = await fill("ours")
    (ours,) = authorised.contexts
    (document,) = await knowledge.documents.all(ours)
    await fill("theirs", guild_id=7)
    forged = Context(id=ours.id, guild_id=7, name="K", created_by=1, at=ours.at)
    assert await knowledge.documents.all(forged) == []
    assert await knowledge.remove(forged, document.id) is None
    assert await knowledge.documents.add(forged, new("more")) == ContextGone()
    await knowledge.delete(forged)
    assert await knowledge.documents.all(ours) == [document]
