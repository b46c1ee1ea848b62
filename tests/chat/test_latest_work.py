"""Only the latest work for a guild goes on."""

import asyncio

from chat.latest_work import LatestWork


async def test_new_work_ends_the_guilds_earlier_work_alone() -> None:
    work, done = LatestWork(), list[str]()
    go_on = asyncio.Event()

    async def note(what: str) -> None:
        await go_on.wait()
        done.append(what)

    for guild_id, what in ((1, "old"), (2, "other"), (None, "nobody's"), (1, "new")):
        work.start(guild_id, note(what))
        await asyncio.sleep(0)
    go_on.set()
    await asyncio.sleep(0.01)
    assert sorted(done) == ["new", "nobody's", "other"]
    await work.close()


async def test_closing_waits_for_what_was_given_up_too() -> None:
    work, ended = LatestWork(), list[str]()

    async def linger(what: str) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.01)
            ended.append(what)

    work.start(1, linger("first"))
    await asyncio.sleep(0)
    work.start(1, linger("second"))
    await asyncio.sleep(0)
    await work.close()
    assert sorted(ended) == ["first", "second"]
