"""REST refuses what Discord refuses, with its codes, and nothing more.

Each limit is tried at its edge: the last value that passes and the first one that does not.
"""

import io
import json
from collections.abc import AsyncGenerator
from typing import Any

import aiohttp
import pytest
import pytest_asyncio

from tests.loopback.discord_server import (
    ChannelKind,
    Intent,
    MessageFlag,
    Permission,
)
from tests.loopback.raw import INVALID, PASSES, Reply, Scene, scene

MEBIBYTE = 1024 * 1024
LAYOUT = int(MessageFlag.COMPONENTS_V2)


@pytest_asyncio.fixture
async def place() -> AsyncGenerator[Scene]:
    async with scene() as running:
        yield running


def row(*children: Any) -> Any:
    return {"type": 1, "components": list(children)}


def button(custom_id: str, **changes: Any) -> Any:
    return {"type": 2, "style": 1, "label": "label", "custom_id": custom_id, **changes}


def select(options: int, **changes: Any) -> Any:
    listed = [{"label": str(i), "value": str(i)} for i in range(options)]
    return {"type": 3, "custom_id": "select", "options": listed, **changes}


def words(length: int) -> Any:
    return {"type": 10, "content": "x" * length}


def embed(**fields: Any) -> Any:
    return {"embeds": [fields]}


MESSAGES = {
    "content of 2000": ({"content": "x" * 2000}, PASSES),
    "content of 2001": ({"content": "x" * 2001}, INVALID),
    "content counts code points": ({"content": "\U0001f600" * 2000}, PASSES),
    "only spaces": ({"content": "  "}, (400, 50006)),
    "10 embeds": ({"embeds": [{"title": "a"}] * 10}, PASSES),
    "11 embeds": ({"embeds": [{"title": "a"}] * 11}, INVALID),
    "embed title of 257": (embed(title="x" * 257), INVALID),
    "embed description of 4096": (embed(description="x" * 4096), PASSES),
    "embed description of 4097": (embed(description="x" * 4097), INVALID),
    "25 fields": (embed(fields=[{"name": "a", "value": "b"}] * 25), PASSES),
    "26 fields": (embed(fields=[{"name": "a", "value": "b"}] * 26), INVALID),
    "field name of 257": (embed(fields=[{"name": "a" * 257, "value": "b"}]), INVALID),
    "field value of 1025": (embed(fields=[{"name": "a", "value": "b" * 1025}]), INVALID),
    "field without a value": (embed(fields=[{"name": "a", "value": ""}]), INVALID),
    "footer of 2049": (embed(footer={"text": "x" * 2049}), INVALID),
    "author of 257": (embed(author={"name": "x" * 257}), INVALID),
    "embeds of 6000 together": (
        {"embeds": [{"description": "x" * 4000}, {"description": "x" * 2000}]},
        PASSES,
    ),
    "embeds of 6001 together": (
        {"embeds": [{"description": "x" * 4000}, {"description": "x" * 2001}]},
        INVALID,
    ),
    "nonce of 25": ({"content": "x", "nonce": "n" * 25}, PASSES),
    "nonce of 26": ({"content": "x", "nonce": "n" * 26}, INVALID),
    "reply to nothing": ({"content": "x", "message_reference": {"message_id": "1"}}, INVALID),
    "reply to nothing, if need be": (
        {"content": "x", "message_reference": {"message_id": 1, "fail_if_not_exists": False}},
        PASSES,
    ),
    "5 rows": ({"components": [row(button(str(i))) for i in range(5)]}, PASSES),
    "6 rows": ({"components": [row(button(str(i))) for i in range(6)]}, INVALID),
    "5 buttons in a row": ({"components": [row(*[button(str(i)) for i in range(5)])]}, PASSES),
    "6 buttons in a row": ({"components": [row(*[button(str(i)) for i in range(6)])]}, INVALID),
    "an empty row": ({"components": [row()]}, INVALID),
    "a button without a row": ({"components": [button("a")]}, INVALID),
    "one custom id twice": ({"components": [row(button("a"), button("a"))]}, INVALID),
    "custom id of 100": ({"components": [row(button("a" * 100))]}, PASSES),
    "custom id of 101": ({"components": [row(button("a" * 101))]}, INVALID),
    "no custom id": ({"components": [row(button(""))]}, INVALID),
    "label of 81": ({"components": [row(button("a", label="l" * 81))]}, INVALID),
    "a button without label or emoji": ({"components": [row(button("a", label=""))]}, INVALID),
    "25 select options": ({"components": [row(select(25))]}, PASSES),
    "26 select options": ({"components": [row(select(26))]}, INVALID),
    "placeholder of 151": ({"components": [row(select(1, placeholder="p" * 151))]}, INVALID),
    "a select beside a button": ({"components": [row(select(1), button("a"))]}, INVALID),
    "layout of 4000": ({"flags": LAYOUT, "components": [words(2000), words(2000)]}, PASSES),
    "layout of 4001": ({"flags": LAYOUT, "components": [words(2000), words(2001)]}, INVALID),
    "layout of 40 components": ({"flags": LAYOUT, "components": [words(1)] * 40}, PASSES),
    "layout of 41 components": ({"flags": LAYOUT, "components": [words(1)] * 41}, INVALID),
    "layout with content": (
        {"flags": LAYOUT, "content": "x", "components": [words(1)]},
        INVALID,
    ),
    "layout with embeds": (
        {"flags": LAYOUT, "embeds": [{"title": "a"}], "components": [words(1)]},
        INVALID,
    ),
    "layout without its flag": ({"content": "x", "components": [words(1)]}, INVALID),
}


@pytest.mark.parametrize(("body", "expected"), MESSAGES.values(), ids=MESSAGES.keys())
async def test_messages(place: Scene, body: Any, expected: tuple[int, int | None]) -> None:
    assert (await place.post(**body)).refusal == expected


async def test_answers_look_as_clients_require(place: Scene) -> None:
    reply = await place.post(content="hi")
    assert reply.headers["Content-Type"] == "application/json"
    assert "Via" in reply.headers
    assert isinstance(reply.body["id"], str)
    assert isinstance(reply.body["channel_id"], str)


async def test_errors_name_the_field(place: Scene) -> None:
    reply = await place.post(**embed(fields=[{"name": "a", "value": "b" * 1025}]))
    node = reply.body["errors"]["embeds"]["0"]["fields"]["0"]["value"]
    assert node["_errors"][0]["code"] == "BASE_TYPE_MAX_LENGTH"


async def test_an_enforced_nonce_gives_the_message_of_before(place: Scene) -> None:
    first = await place.post(content="x", nonce="one", enforce_nonce=True)
    again = await place.post(content="x", nonce="one", enforce_nonce=True)
    other = await place.post(content="x", nonce="two", enforce_nonce=True)
    loose = await place.post(content="x", nonce="one")
    ids = [reply.body["id"] for reply in (first, again, other, loose)]
    assert ids[0] == ids[1]
    assert len(set(ids)) == 3


async def test_everyone_is_pinged_only_with_permission_and_consent(place: Scene) -> None:
    assert (await place.post(content="@everyone")).body["mention_everyone"] is False
    assert place.server.violations() == []
    place.server.build.overwrite(place.channel, place.server.bot, allow=Permission.MENTION_EVERYONE)
    harmless = await place.post(content="@everyone", allowed_mentions={"parse": []})
    assert harmless.body["mention_everyone"] is False
    assert place.server.violations() == []
    assert (await place.post(content="@everyone")).body["mention_everyone"] is True
    assert [v["what"] for v in place.server.violations()] == ["bot pinged everyone or a role"]


async def test_a_role_ping_is_a_violation(place: Scene) -> None:
    role = place.server.build.role(place.guild, "mods")
    await place.post(content=f"<@&{role.id}>", allowed_mentions={"parse": ["users"]})
    assert place.server.violations() == []
    await place.post(content=f"<@&{role.id}>")
    assert place.server.violations()[0]["roles"] == [role.id]


async def test_others_messages_are_not_the_bots_to_change(place: Scene) -> None:
    message = place.server.driver.say(place.channel, place.alice, "mine")
    path = f"/channels/{place.channel.id}/messages/{message.id}"
    assert (await place.request("PATCH", path, {"content": "x"})).refusal == (403, 50005)
    assert (await place.request("DELETE", path)).refusal == (403, 50013)
    place.server.build.overwrite(place.channel, place.server.bot, allow=Permission.MANAGE_MESSAGES)
    assert (await place.request("DELETE", path)).status == 204


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/channels/1", (404, 10003)),
        ("/channels/one", INVALID),
        ("/guilds/1", (404, 10004)),
        ("/users/1", (404, 10013)),
        ("/applications/1/commands", (403, 20012)),
    ],
)
async def test_what_does_not_exist(
    place: Scene, path: str, expected: tuple[int, int | None]
) -> None:
    assert (await place.request("GET", path)).refusal == expected


async def test_unknown_messages_and_routes(place: Scene) -> None:
    path = f"/channels/{place.channel.id}/messages/1"
    assert (await place.request("GET", path)).refusal == (404, 10008)
    assert place.server.violations() == []
    assert (await place.request("GET", "/no/such/route")).status == 404
    assert place.server.violations()[0]["what"] == "route is not served"


async def test_who_asks_must_be_authorized_and_say_what_they_are(place: Scene) -> None:
    wrong = {"Authorization": "Bot wrong"}
    assert (await place.request("GET", "/users/@me", headers=wrong)).refusal == (401, 0)
    nameless = {"User-Agent": ""}
    assert (await place.request("GET", "/users/@me", headers=nameless)).status == 403


async def test_bodies_that_are_no_json(place: Scene) -> None:
    path = f"{place.server.address.api}/channels/{place.channel.id}/messages"
    kinds = {"application/json": 50109, "text/plain": 50035}
    for content_type, code in kinds.items():
        headers = {"Content-Type": content_type}
        async with place.http.post(path, data=b"{", headers=headers) as response:
            assert (response.status, (await response.json())["code"]) == (400, code)


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


async def test_a_message_carries_at_most_one_thread(place: Scene) -> None:
    message = place.server.driver.say(place.channel, place.alice, "hi")
    path = f"/channels/{place.channel.id}/messages/{message.id}/threads"
    made = await place.request("POST", path, {"name": "thread"})
    assert (made.status, made.body["id"]) == (201, str(message.id))
    assert (await place.request("POST", path, {"name": "thread"})).refusal == (400, 160004)
