"""Channels as the bot finds them: files, history, permissions, threads and forums."""

import io
import json
from collections.abc import AsyncGenerator

import aiohttp
import pytest
import pytest_asyncio

from tests.loopback.discord_server import ChannelKind, Intent, Permission
from tests.loopback.raw import INVALID, PASSES, Reply, Scene, scene

MEBIBYTE = 1024 * 1024


@pytest_asyncio.fixture
async def place() -> AsyncGenerator[Scene]:
    async with scene() as running:
        yield running


async def upload(place: Scene, count: int, size: int) -> Reply:
    form = aiohttp.FormData(quote_fields=False)
    form.add_field("payload_json", json.dumps({"content": "x"}), content_type="application/json")
    for slot in range(count):
        form.add_field(f"files[{slot}]", io.BytesIO(b"x" * size), filename=f"{slot}.bin")
    return await place.request("POST", f"/channels/{place.channel.id}/messages", form=form)


@pytest.mark.parametrize(
    ("count", "size", "expected"),
    [
        (1, 10 * MEBIBYTE, PASSES),
        (1, 10 * MEBIBYTE + 1, (400, 40005)),
        (10, 1, PASSES),
        (11, 1, INVALID),
        (3, 9 * MEBIBYTE, (413, 40005)),
    ],
)
async def test_uploads(
    place: Scene, count: int, size: int, expected: tuple[int, int | None]
) -> None:
    place.server.build.overwrite(place.channel, place.server.bot, allow=Permission.ATTACH_FILES)
    reply = await upload(place, count, size)
    assert reply.refusal == expected


async def test_uploads_need_permission(place: Scene) -> None:
    place.server.build.overwrite(place.channel, place.server.bot, deny=Permission.ATTACH_FILES)
    assert (await upload(place, 1, 1)).refusal == (403, 50013)


async def test_links_to_files_are_signed_and_expire(place: Scene) -> None:
    attachment = (await upload(place, 1, 3)).body["attachments"][0]
    async with place.http.get(attachment["url"]) as response:
        assert await response.read() == b"xxx"
    async with place.http.get(attachment["url"].split("?")[0]) as response:
        assert response.status == 404
    place.server.limits.link_lifetime = -10.0
    path = f"/channels/{place.channel.id}/messages"
    listed = (await place.request("GET", path)).body[0]["attachments"][0]["url"]
    async with place.http.get(listed) as response:
        assert response.status == 404


async def test_history_comes_newest_first_in_pages(place: Scene) -> None:
    sent = [place.server.driver.say(place.channel, place.alice, str(i)).id for i in range(6)]
    path = f"/channels/{place.channel.id}/messages"

    async def page(query: str) -> list[int]:
        reply = await place.request("GET", f"{path}?{query}")
        return [sent.index(int(message["id"])) for message in reply.body]

    assert await page("limit=2") == [5, 4]
    assert await page(f"limit=2&before={sent[3]}") == [2, 1]
    assert await page(f"limit=2&after={sent[3]}") == [5, 4]
    assert await page(f"limit=3&around={sent[3]}") == [4, 3, 2]
    for limit in (0, 101):
        assert (await place.request("GET", f"{path}?limit={limit}")).refusal == INVALID


async def test_content_is_withheld_from_who_may_not_ask_for_it() -> None:
    granted = int(Intent.GUILD_MEMBERS)
    async with scene(granted_intents=granted) as place:
        server = place.server
        dm = server.build.direct_messages(place.alice)
        server.driver.say(place.channel, place.alice, "secret")
        server.driver.say(place.channel, place.alice, f"{server.bot.mention} open")
        server.driver.say(dm, place.alice, "private")
        await place.post(content="own")
        path = "/channels/{}/messages"
        listed = (await place.request("GET", path.format(place.channel.id))).body
        assert [m["content"] for m in listed] == ["own", f"{server.bot.mention} open", ""]
        private = (await place.request("GET", path.format(dm.id))).body
        assert [m["content"] for m in private] == ["private"]


@pytest.mark.parametrize(
    ("denied", "expected"),
    [
        (Permission.VIEW_CHANNEL, (403, 50001)),
        (Permission.SEND_MESSAGES, (403, 50013)),
        (Permission.ATTACH_FILES, PASSES),
        (Permission.READ_MESSAGE_HISTORY, PASSES),
    ],
)
async def test_sending_needs_permission(
    place: Scene, denied: Permission, expected: tuple[int, int | None]
) -> None:
    place.server.build.overwrite(place.channel, place.server.bot, deny=denied)
    assert (await place.post(content="x")).refusal == expected


async def test_replying_needs_the_history(place: Scene) -> None:
    asked = place.server.driver.say(place.channel, place.alice, "hi")
    reference = {"message_id": asked.id}
    assert (await place.post(content="x", message_reference=reference)).refusal == PASSES
    place.server.build.overwrite(
        place.channel, place.server.bot, deny=Permission.READ_MESSAGE_HISTORY
    )
    assert (await place.post(content="x", message_reference=reference)).refusal == INVALID


async def test_threads_and_forums(place: Scene) -> None:
    server, bot = place.server, place.server.bot
    thread = server.build.thread(place.channel, "thread", owner=place.alice)
    assert thread.thread is not None
    path = f"/channels/{thread.id}/messages"
    own = (await place.request("POST", path, {"content": "x"})).body["id"]
    thread.thread.archived = True
    edited = await place.request("PATCH", f"{path}/{own}", {"content": "y"})
    assert edited.refusal == (400, 50083)
    assert (await place.request("POST", path, {"content": "wakes it"})).status == 200
    assert not thread.thread.archived
    thread.thread.locked = True
    assert (await place.request("POST", path, {"content": "x"})).refusal == (403, 160005)
    thread.thread.locked = False
    server.build.overwrite(place.channel, bot, deny=Permission.SEND_MESSAGES_IN_THREADS)
    assert (await place.request("POST", path, {"content": "x"})).refusal == (403, 50013)
    forum = server.build.channel(place.guild, "forum", ChannelKind.FORUM)
    refused = await place.request("POST", f"/channels/{forum.id}/messages", {"content": "x"})
    assert refused.refusal == (400, 50008)
    post = {"name": "post", "message": {"content": "first"}}
    made = await place.request("POST", f"/channels/{forum.id}/threads", post)
    assert (made.status, made.body["message"]["id"]) == (201, made.body["id"])


async def test_only_own_threads_may_be_changed_by_anyone(place: Scene) -> None:
    build, bot = place.server.build, place.server.bot
    own = build.thread(place.channel, "own", owner=bot)
    foreign = build.thread(place.channel, "foreign", owner=place.alice)
    changes = {"archived": True, "name": "closed"}
    assert (await place.request("PATCH", f"/channels/{own.id}", changes)).status == 200
    assert own.thread is not None
    assert (own.thread.archived, own.name) == (True, "closed")
    path = f"/channels/{foreign.id}"
    assert (await place.request("PATCH", path, changes)).refusal == (403, 50013)
    build.overwrite(place.channel, bot, allow=Permission.MANAGE_THREADS)
    assert (await place.request("PATCH", path, changes)).status == 200


async def test_a_message_carries_at_most_one_thread(place: Scene) -> None:
    message = place.server.driver.say(place.channel, place.alice, "hi")
    path = f"/channels/{place.channel.id}/messages/{message.id}/threads"
    made = await place.request("POST", path, {"name": "thread"})
    assert (made.status, made.body["id"]) == (201, str(message.id))
    assert (await place.request("POST", path, {"name": "thread"})).refusal == (400, 160004)
