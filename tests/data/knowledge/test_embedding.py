"""Vectors are made in the background, once, and again when the model changes."""

import asyncio
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from data.database import Database
from data.knowledge import Knowledge, Pace, Progress, Vectors
from data.knowledge.embedder import unit
from data.knowledge.matrices import Matrices
from tests.data.knowledge.conftest import Fill, new
from tests.data.knowledge.embedders import For, Senses


class BreaksAtTheSecond(Senses):
    """Answers one request."""

    async def embed(self, texts: Sequence[str], model: str) -> Vectors:
        if self.asked:
            raise ConnectionError
        return await super().embed(texts, model)


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not true():
            await asyncio.sleep(0.005)


async def models(database: Database) -> dict[str, int]:
    found = await database.read(
        "SELECT model, count(*) AS n FROM knowledge_vectors GROUP BY model ORDER BY model"
    )
    return {row["model"]: row["n"] for row in found}


async def test_each_chunk_is_embedded_once_in_batches(
    knowledge: Knowledge, database: Database, fill: Fill
):
    await fill(*(f"a red ship {n}" for n in range(40)))
    await fill("another guild's", guild_id=7)
    embedder = Senses()
    worker = knowledge.embedding(For(g42=embedder))
    assert await worker.progress(42) == Progress(done=0, total=40)
    await worker.catch_up()
    await worker.catch_up()
    assert embedder.asked == [("senses-1", 32), ("senses-1", 8)]
    assert await worker.progress(42) == Progress(done=40, total=40)
    assert await worker.progress(7) is None


async def test_a_new_worker_goes_on_where_the_last_one_stopped(knowledge: Knowledge, fill: Fill):
    await fill(*(f"a red ship {n}" for n in range(40)))
    first = BreaksAtTheSecond()
    await knowledge.embedding(For(g42=first)).catch_up()
    second = Senses()
    await knowledge.embedding(For(g42=second)).catch_up()
    assert first.asked == [("senses-1", 32)]
    assert second.asked == [("senses-1", 8)]


async def test_the_background_task_wakes_for_new_documents(knowledge: Knowledge, fill: Fill):
    authorised = await fill("a red ship")
    embedder = Senses()
    embedders = For(g42=embedder)
    worker = knowledge.embedding(embedders)
    task = asyncio.create_task(worker.run())
    await until(lambda: len(embedder.asked) == 1)
    await knowledge.documents.add(authorised.contexts[0], new("a blue boat"))
    worker.wake()
    await until(lambda: len(embedder.asked) == 2)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_failing_endpoint_is_left_alone_for_longer_each_time(
    knowledge: Knowledge, fill: Fill, caplog: pytest.LogCaptureFixture
):
    await fill("a red ship")
    await fill("a red ship", guild_id=7)
    down, up = Senses(), Senses()
    down.down = True
    worker = knowledge.embedding(For(g42=down, g7=up), Pace(idle=60, first=0.03, most=0.1))
    task = asyncio.create_task(worker.run())
    await until(lambda: len(down.asked) == 4)
    assert len(up.asked) == 1, "one guild's endpoint keeps another guild waiting"
    waits = [message.rsplit(" in ")[1] for message in caplog.messages if "next try" in message]
    assert len(waits) == 4
    down.down = False
    await until(lambda: len(down.asked) == 5)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert "red ship" not in caplog.text


async def test_a_text_that_is_refused_holds_up_no_other(
    knowledge: Knowledge, database: Database, fill: Fill
):
    authorised = await fill(*(f"a red ship {n}" for n in range(6)), "poison red")
    embedder = Senses(refused="poison")
    worker = knowledge.embedding(For(g42=embedder))
    await worker.catch_up()
    asked = len(embedder.asked)
    await worker.catch_up()
    assert len(embedder.asked) == asked
    assert await models(database) == {"senses-1": 7}
    found = await knowledge.retriever(For(g42=Senses())).search(authorised, "crimson")
    assert found
    assert all("poison" not in passage.text for passage in found)


async def test_old_vectors_serve_until_the_new_ones_are_complete(
    knowledge: Knowledge, database: Database, fill: Fill
):
    authorised = await fill("a red ship")
    await knowledge.embedding(For(g42=Senses())).catch_up()
    changed = Senses(model="senses-2")
    changed.down = True
    worker = knowledge.embedding(For(g42=changed))
    await worker.catch_up()
    asking = Senses(model="senses-2")
    retriever = knowledge.retriever(For(g42=asking))
    assert len(await retriever.search(authorised, "crimson")) == 1
    assert asking.asked == [("senses-1", 1)]
    assert await worker.progress(42) == Progress(done=0, total=1)

    await knowledge.embedding(For(g42=Senses(model="senses-2"))).catch_up()
    assert await models(database) == {"senses-2": 1}
    assert len(await retriever.search(authorised, "crimson")) == 1
    assert asking.asked[1:] == [("senses-2", 1)]


async def test_vectors_in_memory_stay_within_the_budget(
    knowledge: Knowledge, database: Database, fill: Fill
):
    for number in range(4):
        await fill(f"a red ship {number}", name=f"K{number}")
    await knowledge.embedding(For(g42=Senses())).catch_up()
    matrices = Matrices(database, budget=2 * 12 * 4)
    for context in await knowledge.contexts.all(42):
        assert await matrices.of(42, context.id) is not None
        assert await matrices.of(7, context.id) is None
    assert matrices.size == 0
    await matrices.of(42, 1)
    await matrices.of(42, 2)
    await matrices.of(42, 3)
    assert matrices.size == 2 * 12 * 4


async def test_a_zero_vector_stays_zero():
    rows = unit(np.array([[3, 4], [0, 0]], dtype=np.float32))
    assert rows.tolist() == [[pytest.approx(0.6), pytest.approx(0.8)], [0, 0]]
