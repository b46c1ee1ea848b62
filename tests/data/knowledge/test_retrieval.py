"""What a question finds, by words and by sense, and what it must not."""

import logging
from collections.abc import Sequence
from dataclasses import replace

import pytest

from data.database import Database
from data.knowledge import AuthorisedContexts, Embedder, Knowledge, Retriever, channels
from data.knowledge import retrieval as module
from data.knowledge.channels import floor
from data.knowledge.matrices import Matrices
from tests.data.knowledge.conftest import Fill
from tests.data.knowledge.embedders import For, Hashes, Senses, Slow

FACT = "The station sends at 4417 kilohertz."


async def texts(retriever: Retriever, authorised: AuthorisedContexts, question: str) -> list[str]:
    return [passage.text for passage in await retriever.search(authorised, question)]


async def embedded(knowledge: Knowledge, embedder: Embedder, guild_id: int = 42) -> Retriever:
    """A retriever over vectors that are complete."""
    embedders = For()
    embedders.guilds[guild_id] = embedder
    await knowledge.embedding(embedders).catch_up()
    return knowledge.retriever(embedders)


@pytest.mark.parametrize(
    ("text", "question", "found"),
    [
        (FACT, "Which kilohertz?", True),
        (FACT, "kilo", True),
        (FACT, "4417", True),
        (FACT, "44", False),
        (FACT, "What does the STATION do?", True),
        (FACT, "bananas", False),
        (FACT, "what is it?", True),
        ("Die Höhe beträgt 12 Meter", "hohe", True),
        ("Die Hohe Tatra", "HÖHE", True),
        ("東京タワーは333メートルです", "東京タワーの高さは？", True),
        ("彼は寿司が好き", "寿", True),
        ("毎朝お寿司", "司", True),
        ("电台在4417千赫播出", "哪个电台？", True),
        ("电台在4417千赫播出", "香蕉", False),
        ("वह हिन्दी बोलता है", "हिन्दी", True),
        ("वह हिन्दी बोलता है", "हिसाब", False),
        ("방송국은 4417 킬로헤르츠로 송출한다", "방송국", True),
        ("ร้านขายปลาสด", "ปลา", True),
        ('say "NOT" twice', 'NOT "?', True),
        ("x AND y", "terms : x) OR (scope : g7c1", True),
    ],
)
async def test_found_by_words(
    knowledge: Knowledge, fill: Fill, text: str, question: str, found: bool
):
    authorised = await fill(text, "entirely unrelated")
    result = await texts(knowledge.retriever(), authorised, question)
    assert (text in result) is found


async def test_a_passage_says_where_it_is_from(knowledge: Knowledge, fill: Fill):
    authorised = await fill(["first page", FACT])
    (passage,) = await knowledge.retriever().search(authorised, "kilohertz")
    (document,) = await knowledge.documents.all(authorised.contexts[0])
    assert (passage.document_name, passage.kind, passage.url) == (
        "0.txt",
        "attachment",
        "https://x",
    )
    assert (passage.context_id, passage.document_id) == (document.context_id, document.id)
    assert (passage.first, passage.last, passage.start, passage.end, passage.page) == (
        *(0, 0, 0, 9),
        1,
    )
    assert passage.score > 0


async def test_the_word_that_is_rare_counts_most(knowledge: Knowledge, fill: Fill):
    authorised = await fill(*(f"radio number {n}" for n in range(20)), "radio with a xylophone")
    result = await texts(knowledge.retriever(), authorised, "radio xylophone")
    assert result[0] == "radio with a xylophone"
    assert len(result) == 4


async def test_neighbours_are_joined_and_copies_are_left_out(knowledge: Knowledge, fill: Fill):
    long = (
        " ".join(f"w{n}" for n in range(340))
        + " zebra one "
        + " ".join(f"w{n}" for n in range(400, 900))
    )
    authorised = await fill(long, long + " zebra")
    (first, *rest) = await knowledge.retriever().search(authorised, "zebra w500")
    assert first.text in long + " zebra"
    assert first.last > first.first
    assert all("zebra one" not in passage.text for passage in rest)


async def test_a_summary_starts_from_the_beginnings(knowledge: Knowledge, fill: Fill):
    long = " ".join(f"w{n}" for n in range(2000))
    authorised = await fill(long, "second", "third")
    found = await knowledge.retriever().search(authorised, "Summarise this, please")
    assert [passage.document_name for passage in found] == ["0.txt", "1.txt", "2.txt"]
    assert (found[0].start, found[0].end) == (0, 750)
    assert await texts(knowledge.retriever(), authorised, "👍 !") == []
    for asks in ("why?", "tell me about it", "Was steht drin", "要約して"):
        assert await texts(knowledge.retriever(), authorised, asks), asks
    for answers in ("yes please", "ja bitte", "no", "go on"):
        assert await texts(knowledge.retriever(), authorised, answers) == [], answers
    few = await knowledge.retriever().search(authorised, "Summarise this, please", limit=2)
    assert [passage.text for passage in few][1:] == ["second"]


async def test_another_guilds_context_is_not_searched(knowledge: Knowledge, fill: Fill):
    ours = await fill(FACT, "a red ship")
    theirs = await fill("nothing of interest here", guild_id=7)
    forged = replace(theirs, contexts=ours.contexts)
    retriever = await embedded(knowledge, Senses())
    await knowledge.embedding(For(g7=Senses())).catch_up()
    both = For(g7=Senses(), g42=Senses())
    for question in ("kilohertz", "crimson", "crimson boat", "summarise this"):
        assert await texts(retriever, ours, question) != []
        assert await texts(knowledge.retriever(both), theirs, question) in (
            [],
            ["nothing of interest here"],
        )
        assert await texts(knowledge.retriever(both), forged, question) == []


async def test_each_query_holds_the_guild_for_itself(
    knowledge: Knowledge, database: Database, fill: Fill, monkeypatch: pytest.MonkeyPatch
):
    ours = await fill("a red ship")
    theirs = await fill("something else", guild_id=7)
    forged = replace(theirs, contexts=ours.contexts)
    await embedded(knowledge, Senses())
    matrices = Matrices(database)
    for authorised, hits in ((ours, 1), (forged, 0)):
        words = await channels.by_words(database, authorised, '"ship"')
        sense = await channels.by_sense(matrices, Senses(), authorised, "crimson")
        beginnings = await channels.beginnings(database, authorised, 4)
        assert [len(found) for found in (words, sense, beginnings)] == [hits] * 3

    chunks = await channels.by_words(database, ours, '"ship"')

    async def leaking(*_: object) -> Sequence[int]:
        return chunks

    monkeypatch.setattr(channels, "by_words", leaking)
    assert await texts(knowledge.retriever(), ours, "ship") == ["a red ship"]
    assert await texts(knowledge.retriever(), theirs, "ship") == []


async def test_another_context_of_the_guild_is_not_searched(knowledge: Knowledge, fill: Fill):
    await fill(FACT, "a red ship", name="other")
    chosen = await fill("a blue boat")
    retriever = await embedded(knowledge, Senses())
    assert await texts(retriever, chosen, "kilohertz") == []
    assert await texts(retriever, chosen, "ship") == ["a blue boat"]
    assert await texts(retriever, AuthorisedContexts(guild_id=42), "kilohertz") == []


@pytest.mark.parametrize("count", [1, 20])
async def test_likeness_is_what_sets_a_passage_apart(knowledge: Knowledge, fill: Fill, count: int):
    """Beside others as near as itself, a passage stands out by nothing."""
    authorised = await fill(*(f"red ship number {n}" for n in range(count)))
    retriever = await embedded(knowledge, Senses())
    found = await retriever.search(authorised, "crimson")
    assert [round(passage.likeness, 2) > 0.2 for passage in found] == [count == 1] * min(count, 4)


async def test_found_by_sense_where_no_word_matches(knowledge: Knowledge, fill: Fill):
    authorised = await fill("a red ship", "a green ship", "a huge thing")
    assert await texts(knowledge.retriever(), authorised, "crimson") == []
    retriever = await embedded(knowledge, Senses())
    assert await texts(retriever, authorised, "crimson") == ["a red ship"]
    assert await texts(retriever, authorised, "azure") == []
    assert (await texts(retriever, authorised, "huge emerald boat"))[0] == "a huge thing"


async def test_c09_an_encoder_of_hashes_finds_nothing_without_a_keyword(
    knowledge: Knowledge, fill: Fill
):
    authorised = await fill(FACT, *(f"filler number {n}" for n in range(40)))
    retriever = await embedded(knowledge, Hashes())
    for question in ("bananas", "purple monsters", "weather tomorrow", "who sang", "tea"):
        assert await texts(retriever, authorised, question) == []
    assert await texts(retriever, authorised, "kilohertz bananas") == [FACT]


def test_what_chance_reaches_is_no_hit():
    assert [floor(dimension) for dimension in (4, 64, 256, 1536)] == [0.5, 0.5, 0.25, 0.2]


@pytest.mark.parametrize("failing", ["down", "slow"])
async def test_a_dead_dense_channel_costs_only_itself(
    knowledge: Knowledge,
    fill: Fill,
    failing: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
):
    monkeypatch.setattr(module, "PATIENCE", 0.05)
    authorised = await fill("a red ship")
    await embedded(knowledge, Senses())
    dead = Senses()
    dead.down = True
    retriever = knowledge.retriever(For(g42=dead if failing == "down" else Slow()))
    with caplog.at_level(logging.WARNING):
        assert await texts(retriever, authorised, "crimson ship") == ["a red ship"]
    assert "its words still count" in caplog.text
    assert "crimson" not in caplog.text


async def test_a_damaged_index_costs_only_the_words(
    knowledge: Knowledge, database: Database, fill: Fill, caplog: pytest.LogCaptureFixture
):
    authorised = await fill("a red ship")
    retriever = await embedded(knowledge, Senses())
    async with database.transaction() as transaction:
        await transaction.run("DROP TABLE knowledge_words")
    assert await texts(retriever, authorised, "crimson ship") == ["a red ship"]
    assert "by words failed" in caplog.text
    assert "crimson" not in caplog.text


async def test_a_guild_without_an_embedder_is_searched_by_words(knowledge: Knowledge, fill: Fill):
    authorised = await fill("a red ship")
    await embedded(knowledge, Senses())
    retriever = knowledge.retriever(For(g7=Senses()))
    assert await texts(retriever, authorised, "crimson") == []
    assert await texts(retriever, authorised, "ship") == ["a red ship"]


async def test_what_was_removed_is_not_found_by_sense(knowledge: Knowledge, fill: Fill):
    authorised = await fill("a red ship", "a red boat")
    retriever = await embedded(knowledge, Senses())
    assert len(await texts(retriever, authorised, "crimson")) == 2
    (context,) = authorised.contexts
    first = (await knowledge.documents.all(context))[0]
    await knowledge.remove(context, first.id)
    assert await texts(retriever, authorised, "crimson") == ["a red boat"]
