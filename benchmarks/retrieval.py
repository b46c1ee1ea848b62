"""Measures the search in knowledge: how well it finds, and how fast. Prints JSON.

    python -m benchmarks retrieval            installs the sentence model at the first time
    python -m benchmarks.retrieval --quick    a tenth of the chunks

Found: documents and questions of `retrieval_data`, all documents in one context, a question counts
if its document is among the first four. Named: see `naming`. Fast: chunks of made-up words, as
frequent as words are, in 50 guilds; each query beside the same one put straight to the full-text
index, and beside a bare dot product, in turns. The vectors there are random, since only their
number matters. A PDF of 100 pages is read by a worker and kept, beside pypdf and a full-text table
by themselves.
"""

import argparse
import asyncio
import io
import json
import os
import platform
import sqlite3
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from pathlib import Path
from statistics import median
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from pypdf import PdfReader

from benchmarks import naming, peer_packages
from benchmarks.books import pdf
from benchmarks.made_up import ForAll, RandomDirections, Vocabulary
from benchmarks.minilm import DIMENSION, MiniLM
from benchmarks.questions import Case, cases
from data.database import Database, open_database
from data.knowledge import (
    Context,
    Document,
    Knowledge,
    Limits,
    NewDocument,
    Passage,
)
from data.knowledge.channels import by_sense
from data.knowledge.documents import scope_of
from data.knowledge.embedder import unit
from data.knowledge.matrices import Matrices
from data.knowledge.terms import query
from data.migrate import migrate
from prompt.values import Json
from tools.worker.process import Worker

_GUILDS = 50
_CHUNKS = 100_000
_DOCUMENTS = 5
"""Documents a guild."""
_QUERIES = 200
_ADDITIONS = 20
_PAGE_WORDS = 350
_PATIENCE = 60.0
_FRESH_TOKENS = 350
"""Tokens that a chunk adds to the one before."""

T = TypeVar("T")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Measure the search in knowledge.")
    parser.add_argument("--quick", action="store_true", help="a tenth of the chunks")
    chunks = _CHUNKS // 10 if parser.parse_args().quick else _CHUNKS
    peer_packages.install()
    measured: dict[str, Json] = {
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        **asyncio.run(_with_database(_found)),
        "speed": asyncio.run(_with_database(lambda database: _speed(database, chunks))),
    }
    print(json.dumps(measured, indent=2))


async def _with_database(measure: Callable[[Database], Awaitable[T]]) -> T:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "measured.db"
        migrate(path)
        async with open_database(path) as database:
            return await measure(database)


async def _found(database: Database) -> dict[str, Json]:
    """Recall of each channel, and the sources under answers."""
    knowledge = Knowledge(database)
    model = MiniLM()
    embedders = ForAll(model)
    context = await _context(knowledge, 1)
    owner: dict[str, int] = {}
    for case in cases():
        document = await _add(knowledge, context, case.title, f"{case.title}\n\n{case.text}")
        owner[case.title] = document.id
    await knowledge.embedding(embedders).catch_up()
    authorised = await knowledge.contexts.authorise(1, [context.id])
    by_words = knowledge.retriever()
    fused = knowledge.retriever(embedders)
    matrices = Matrices(database)
    of_chunk = {
        row["id"]: row["document_id"]
        for row in await database.read("SELECT id, document_id FROM knowledge_chunks")
    }

    async def words(question: str) -> list[int]:
        return [one.document_id for one in await by_words.search(authorised, question)]

    async def sense(question: str) -> list[int]:
        found = await by_sense(matrices, model, authorised, question)
        return [of_chunk[chunk] for chunk in [*found][:4]]

    async def both(question: str) -> list[int]:
        return [one.document_id for one in await fused.search(authorised, question)]

    kinds: dict[str, Callable[[Case], str]] = {
        "direct": lambda case: case.direct,
        "paraphrased": lambda case: case.paraphrased,
    }
    channels = {"lexical": words, "dense": sense, "fused": both}
    result: dict[str, Json] = {"documents": len(cases()), "questions": 2 * len(cases())}
    for name, search in channels.items():
        shares = {
            kind: [owner[case.title] in await search(ask(case)) for case in cases()]
            for kind, ask in kinds.items()
        }
        both_kinds = [hit for hits in shares.values() for hit in hits]
        result[name] = {
            **{kind: round(sum(hits) / len(hits), 3) for kind, hits in shares.items()},
            "all": round(sum(both_kinds) / len(both_kinds), 3),
        }

    async def passages(question: str) -> Sequence[Passage]:
        return await fused.search(authorised, question)

    async def passages_by_words(question: str) -> Sequence[Passage]:
        return await by_words.search(authorised, question)

    return {
        "recall_at_4": result,
        "sources": {
            "by words": await naming.named(cases(), passages_by_words),
            "by words and by sense": await naming.named(cases(), passages),
        },
    }


async def _speed(database: Database, chunks: int) -> Json:
    vocabulary = Vocabulary()
    limits = Limits(documents=10_000, characters=10**9)
    knowledge = Knowledge(database, limits)
    embedders = ForAll(RandomDirections())
    tokens = chunks // (_GUILDS * _DOCUMENTS) * _FRESH_TOKENS
    contexts = [await _context(knowledge, guild_id) for guild_id in range(1, _GUILDS + 1)]
    begin = time.perf_counter()
    for number in range(_DOCUMENTS):
        for context in contexts:
            await _add(knowledge, context, f"document {number}", vocabulary.text(tokens))
    filled = time.perf_counter()
    await knowledge.embedding(embedders).catch_up()
    embedded = time.perf_counter()
    ((kept,),) = await database.read("SELECT count(*) FROM knowledge_chunks")
    return {
        "chunks": kept,
        "guilds": _GUILDS,
        "seconds_to_add_them": round(filled - begin, 1),
        "seconds_to_keep_their_vectors": round(embedded - filled, 1),
        "query": await _queries(database, knowledge, vocabulary, contexts),
        "adding_100_pages": await _additions(database, knowledge, vocabulary, contexts),
        "removing_100_pages_ms": await _removal(knowledge, contexts[0]),
    }


async def _queries(
    database: Database,
    knowledge: Knowledge,
    vocabulary: Vocabulary,
    contexts: Sequence[Context],
) -> Json:
    """Each question four ways; the first round warms what a running bot has warm."""
    retrievers = {
        "lexical": knowledge.retriever(),
        "fused": knowledge.retriever(ForAll(RandomDirections())),
    }
    authorised = [
        await knowledge.contexts.authorise(context.guild_id, [context.id]) for context in contexts
    ]
    times: dict[str, list[float]] = {}
    first: list[float] = []
    with closing(sqlite3.connect(f"{database.path.as_uri()}?mode=ro", uri=True)) as bare:
        matrices = [_bare_matrix(bare, context) for context in contexts]
        for one in authorised:
            begin = time.perf_counter()
            await retrievers["fused"].search(one, vocabulary.question())
            first.append(time.perf_counter() - begin)
        for number in range(_QUERIES):
            question = vocabulary.question()
            one = authorised[number % len(authorised)]
            for name, retriever in retrievers.items():
                begin = time.perf_counter()
                await retriever.search(one, question)
                times.setdefault(name, []).append(time.perf_counter() - begin)
            terms = query(question).terms
            scope = scope_of(one.guild_id, one.contexts[0].id)
            for name, expression in (
                ("bare FTS5, all guilds", f"terms : ({terms})"),
                ("bare FTS5, one guild", f"scope : {scope} AND terms : ({terms})"),
            ):
                begin = time.perf_counter()
                _bare_words(bare, expression)
                times.setdefault(name, []).append(time.perf_counter() - begin)
            matrix = matrices[number % len(matrices)]
            begin = time.perf_counter()
            _bare_nearest(matrix)
            times.setdefault("bare numpy, one guild", []).append(time.perf_counter() - begin)
    result: dict[str, Json] = {name: _percentiles(taken) for name, taken in times.items()}
    result["fused, a guild's first"] = _percentiles(first)
    lexical, fused = (_p95(times[name]) for name in ("lexical", "fused"))
    words, all_words, dots = (
        _p95(times[name])
        for name in ("bare FTS5, one guild", "bare FTS5, all guilds", "bare numpy, one guild")
    )
    result["ratios_at_p95"] = {
        "lexical to bare FTS5, all guilds": round(lexical / all_words, 2),
        "lexical to bare FTS5, one guild": round(lexical / words, 2),
        "fused to bare FTS5 and numpy, all guilds": round(fused / (all_words + dots), 2),
        "fused to bare FTS5 and numpy, one guild": round(fused / (words + dots), 2),
    }
    return result


async def _additions(
    database: Database,
    knowledge: Knowledge,
    vocabulary: Vocabulary,
    contexts: Sequence[Context],
) -> Json:
    """A PDF of 100 pages at a time, and its text alone; beside the same by bare tools; and whom it
    keeps waiting."""
    texts = [[vocabulary.text(_PAGE_WORDS) for _ in range(100)] for _ in range(_ADDITIONS)]
    taken: dict[str, list[float]] = {
        name: [] for name in ("a PDF", "of it, reading", "of it, keeping the text")
    }
    loop_pauses: list[float] = []
    writer_waits: list[float] = []
    beside = [
        asyncio.create_task(_tick(loop_pauses)),
        asyncio.create_task(_write(database, writer_waits)),
    ]
    worker = Worker()
    for number, pages in enumerate(texts):
        book = await asyncio.to_thread(pdf, pages)
        begin = time.perf_counter()
        read = await worker.extract(book, name="book.pdf", seconds=_PATIENCE)
        extracted = time.perf_counter()
        await _add(knowledge, contexts[number % len(contexts)], f"book {number}", read.page_texts)
        added = time.perf_counter()
        taken["a PDF"].append(added - begin)
        taken["of it, reading"].append(extracted - begin)
        taken["of it, keeping the text"].append(added - extracted)
        await asyncio.sleep(0)
    await worker.close()
    for task in beside:
        task.cancel()
    await asyncio.gather(*beside, return_exceptions=True)
    taken |= await asyncio.to_thread(_bare_additions, database.path.with_name("bare.db"), texts)
    ratio = _p95(taken["a PDF"]) / _p95(taken["bare pypdf and FTS5"])
    return {
        **{name: _percentiles(seconds) for name, seconds in taken.items()},
        "ratio_at_p95": round(ratio, 2),
        "longest_pause_of_the_event_loop_ms": _ms(max(loop_pauses)),
        "longest_wait_of_another_writer_ms": _ms(max(writer_waits)),
    }


async def _removal(knowledge: Knowledge, context: Context) -> Json:
    (book,) = [one for one in await knowledge.documents.all(context) if one.name == "book 0"]
    begin = time.perf_counter()
    await knowledge.remove(context, book.id)
    return _ms(time.perf_counter() - begin)


async def _tick(pauses: list[float]) -> None:
    while True:
        begin = time.perf_counter()
        await asyncio.sleep(0.001)
        pauses.append(time.perf_counter() - begin - 0.001)


async def _write(database: Database, waits: list[float]) -> None:
    while True:
        begin = time.perf_counter()
        async with database.transaction() as transaction:
            waits.append(time.perf_counter() - begin)
            await transaction.run("INSERT OR REPLACE INTO meta VALUES ('beside', '')")
        await asyncio.sleep(0.02)


def _bare_words(connection: sqlite3.Connection, expression: str) -> None:
    connection.execute(
        "SELECT rowid FROM knowledge_words WHERE knowledge_words MATCH ? "
        "ORDER BY bm25(knowledge_words, 0, 1) LIMIT 4",
        (expression,),
    ).fetchall()


def _bare_matrix(connection: sqlite3.Connection, context: Context) -> NDArray[np.float32]:
    found = connection.execute(
        """SELECT vector FROM knowledge_vectors JOIN knowledge_chunks ON chunk_id =
        knowledge_chunks.id WHERE scope = ?""",
        (scope_of(context.guild_id, context.id),),
    )
    flat = np.frombuffer(b"".join(row[0] for row in found), dtype="<f4")
    return flat.reshape(-1, DIMENSION)


def _bare_nearest(matrix: NDArray[np.float32]) -> None:
    scores = matrix @ unit(matrix[:1] + 1)[0]
    np.argpartition(scores, -4)


def _bare_additions(path: Path, texts: Sequence[Sequence[str]]) -> dict[str, list[float]]:
    """The same PDFs read in this process, and their words put into a full-text table and nothing
    else, a transaction a book."""
    both: list[float] = []
    inserts: list[float] = []
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE VIRTUAL TABLE bare USING fts5 (terms)")
        for pages in texts:
            book = pdf(pages)
            begin = time.perf_counter()
            words = _bare_text(book).split()
            read = time.perf_counter()
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany(
                "INSERT INTO bare VALUES (?)",
                [
                    (" ".join(words[start : start + 400]),)
                    for start in range(0, len(words), _FRESH_TOKENS)
                ],
            )
            connection.execute("COMMIT")
            both.append(time.perf_counter() - begin)
            inserts.append(time.perf_counter() - read)
    return {"bare pypdf and FTS5": both, "of it, the FTS5 insert": inserts}


def _bare_text(book: bytes) -> str:
    return " ".join(page.extract_text() for page in PdfReader(io.BytesIO(book)).pages)


async def _context(knowledge: Knowledge, guild_id: int) -> Context:
    context = await knowledge.contexts.create(guild_id, "measured", 1)
    assert isinstance(context, Context)
    return context


async def _add(
    knowledge: Knowledge, context: Context, name: str, content: str | Sequence[str]
) -> Document:
    added = await knowledge.documents.add(
        context,
        NewDocument(name=name, content=content, kind="attachment", url="", size=0, added_by=1),
    )
    assert isinstance(added, Document)
    return added


def _percentiles(seconds: Sequence[float]) -> Json:
    return {"p50_ms": _ms(median(seconds)), "p95_ms": _ms(_p95(seconds))}


def _p95(seconds: Sequence[float]) -> float:
    return sorted(seconds)[int(len(seconds) * 0.95)]


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 2)


if __name__ == "__main__":
    main()
