"""What a guild knows does not exist for another, on the routes that do not need Discord."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from chat.admission import Admission
from chat.embedding import ChosenEmbedders
from chat.knowledge_admin import (
    File,
    KnowledgeAdmin,
    KnowledgeRefused,
    Limited,
    Written,
    limit_in_words,
)
from chat.services import ChosenServices
from data.keys import open_keys
from data.knowledge import Context, Limits, Usage
from data.store import Store
from net.fetch import Fetcher
from tests.grounding.witness import DOCUMENT, FACT, OWNER, STRANGER, keep, station
from tools.worker.process import Worker


@pytest.fixture
async def admin(store: Store, tmp_path: Path) -> AsyncIterator[KnowledgeAdmin]:
    admission = Admission(store, approved_guilds="all", dms=None)
    services = ChosenServices(store, open_keys(tmp_path, None), admission, operators={})
    worker = Worker(processes=1)
    yield KnowledgeAdmin(store, ChosenEmbedders(services), worker=worker, fetcher=Fetcher())
    await worker.close()


def ignore(done: int, total: int) -> None:
    pass


ROUTES: dict[str, Callable[[KnowledgeAdmin, int], Awaitable[object]]] = {
    "context": lambda admin, guild: admin.context(guild, "K"),
    "documents": lambda admin, guild: admin.documents(guild, "K"),
    "use": lambda admin, guild: admin.use(guild, "K"),
    "search": lambda admin, guild: admin.search(guild, "beacon", name="K"),
    "remove": lambda admin, guild: admin.remove(guild, "K", "k0.txt"),
    "delete": lambda admin, guild: admin.delete(guild, "K"),
}


@pytest.mark.parametrize("route", ROUTES)
async def test_a_context_is_there_for_its_guild_alone(
    store: Store, admin: KnowledgeAdmin, route: str
) -> None:
    await keep(store, DOCUMENT)
    with pytest.raises(KnowledgeRefused, match="no such context"):
        await ROUTES[route](admin, STRANGER)
    await ROUTES[route](admin, OWNER)


async def test_lists_and_limits_count_a_guilds_own(store: Store, admin: KnowledgeAdmin) -> None:
    await keep(store, DOCUMENT)
    assert list(await admin.names(OWNER)) == ["K"]
    assert list(await admin.names(STRANGER)) == []
    assert await admin.contexts(STRANGER) == []
    assert await admin.uses(STRANGER) == []
    theirs = await admin.overview(STRANGER)
    assert (theirs.usage.contexts, theirs.usage.documents, theirs.uses) == (0, 0, [])
    with pytest.raises(KnowledgeRefused, match="No knowledge is in use"):
        await admin.search(STRANGER, "beacon")
    assert [found.text for found in await admin.search(OWNER, "beacon")] == [DOCUMENT]


async def test_two_guilds_may_have_contexts_of_one_name(
    store: Store, admin: KnowledgeAdmin
) -> None:
    await keep(store, DOCUMENT)
    await keep(store, "The beacon is a bonfire.", guild_id=STRANGER)
    async with station(store, guild_id=STRANGER) as here:
        await here.ask()
        assert [snippet.text for snippet in here.snippets] == ["The beacon is a bonfire."]
    await admin.delete(STRANGER, "k")
    assert FACT in (await admin.search(OWNER, "beacon"))[0].text


async def test_what_an_export_holds_is_the_guilds_own(store: Store) -> None:
    await keep(store, DOCUMENT)
    assert "k0.txt" in str(await store.export_member(OWNER, 1))
    assert "k0.txt" not in str(await store.export_member(STRANGER, 1))


async def test_a_file_keeps_its_pages_and_a_duplicate_is_refused(
    store: Store, admin: KnowledgeAdmin
) -> None:
    context = await admin.create(OWNER, "K", by=1)
    file = File(name="notes.md", content_type="text/markdown", data=DOCUMENT.encode())
    kept = await admin.add_file(context, file, by=1, progress=ignore)
    assert (kept.name, kept.kind) == ("notes.md", "attachment")
    with pytest.raises(KnowledgeRefused, match=r"already, as “notes\.md”"):
        await admin.add_file(context, file, by=1, progress=ignore)
    with pytest.raises(KnowledgeRefused, match="already"):
        await admin.create(OWNER, "k", by=1)


async def test_members_who_opted_out_are_not_added(store: Store, admin: KnowledgeAdmin) -> None:
    context = await admin.create(OWNER, "K", by=1)
    await store.opt_outs.add(OWNER, 10)
    for author_id, refused in ((10, True), (11, False)):
        message = Written(name="a message", text=DOCUMENT, url="", author_id=author_id)
        try:
            await admin.add_message(context, message, by=1, progress=ignore)
        except KnowledgeRefused:
            assert refused
        else:
            assert not refused


@pytest.mark.parametrize(
    ("contexts", "what", "told"),
    [(19, "contexts", ""), (20, "contexts", "20 of at most 25 contexts"), (25, "documents", "")],
)
def test_the_limit_of_contexts_is_told_where_one_is_made(
    contexts: int, what: Limited, told: str
) -> None:
    usage = Usage(contexts=contexts, documents=0, characters=0, limits=Limits())
    said = limit_in_words(usage, what)
    assert told in said
    assert bool(told) is bool(said)


@pytest.mark.parametrize(
    ("documents", "characters", "told"),
    [
        (399, 15_999_999, ""),
        (400, 0, "400 of at most 500 documents"),
        (400, 19_000_000, "19,000,000 of at most 20,000,000 characters"),
    ],
)
def test_a_limit_is_told_of_before_it_bites(documents: int, characters: int, told: str) -> None:
    usage = Usage(contexts=1, documents=documents, characters=characters, limits=Limits())
    said = limit_in_words(usage)
    assert told in said
    assert bool(told) is bool(said)


async def test_a_limit_that_bites_is_told_with_what_makes_room(
    store: Store, admin: KnowledgeAdmin
) -> None:
    for number in range(25):
        assert isinstance(await admin.create(OWNER, f"c{number}", by=1), Context)
    with pytest.raises(KnowledgeRefused, match=r"may keep 25 contexts.*/knowledge delete") as said:
        await admin.create(OWNER, "one more", by=1)
    assert "/knowledge remove" not in str(said.value), "that makes room for no context"
    assert isinstance(await admin.create(STRANGER, "one more", by=1), Context)
