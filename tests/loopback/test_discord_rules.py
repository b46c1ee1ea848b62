"""REST refuses what Discord refuses, with its codes, and nothing more.

Each limit is tried at its edge: the last value that passes and the first one that does not.
"""

from collections.abc import AsyncGenerator
from typing import Any

import pytest
import pytest_asyncio

from tests.loopback.discord_server import (
    MessageFlag,
    Permission,
)
from tests.loopback.raw import INVALID, PASSES, Scene, scene

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


def nested(levels: int) -> Any:
    component = words(1)
    for _ in range(levels):
        component = {"type": 17, "components": [component]}
    return component


def embed(**fields: Any) -> Any:
    return {"embeds": [fields]}


def poll(question: str, *answers: str, hours: int = 24) -> Any:
    written = [{"poll_media": {"text": answer}} for answer in answers]
    return {"poll": {"question": {"text": question}, "answers": written, "duration": hours}}


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
    "poll": (poll("x" * 300, "y" * 55), PASSES),
    "poll with a question of 301": (poll("x" * 301, "y"), INVALID),
    "poll with an answer of 56": (poll("x", "y" * 56), INVALID),
    "poll with 10 answers": (poll("x", *"0123456789"), PASSES),
    "poll with 11 answers": (poll("x", *"0123456789a"), INVALID),
    "poll of 32 days": (poll("x", "y", hours=768), PASSES),
    "poll of 769 hours": (poll("x", "y", hours=769), INVALID),
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
    "layout 5 levels deep": ({"flags": LAYOUT, "components": [nested(5)]}, PASSES),
    "layout 6 levels deep": ({"flags": LAYOUT, "components": [nested(6)]}, INVALID),
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


async def test_a_nonce_is_forgotten_after_a_while(place: Scene) -> None:
    place.server.limits.nonce_memory = 0.0
    first = await place.post(content="x", nonce="one", enforce_nonce=True)
    again = await place.post(content="x", nonce="one", enforce_nonce=True)
    assert first.body["id"] != again.body["id"]


async def test_a_layout_stays_one(place: Scene) -> None:
    sent = (await place.post(flags=LAYOUT, components=[words(1)])).body["id"]
    path = f"/channels/{place.channel.id}/messages/{sent}"
    assert (await place.request("PATCH", path, {"flags": 0, "content": "x"})).refusal == INVALID
    changed = await place.request("PATCH", path, {"components": [words(2)]})
    assert changed.refusal == PASSES
    assert place.server.messages(place.channel)[0].text == "xx"


async def test_a_refused_edit_changes_nothing(place: Scene) -> None:
    sent = (await place.post(content="before")).body["id"]
    path = f"/channels/{place.channel.id}/messages/{sent}"
    for body in (
        {"content": ""},
        {"content": "after", "components": [button("a")]},
        {"content": "after", "allowed_mentions": {"users": ["alice"]}},
    ):
        assert (await place.request("PATCH", path, body)).status == 400
    assert [v.text for v in place.server.messages(place.channel)[0].versions] == ["before"]


async def test_a_reply_notifies_and_refers_as_long_as_its_target_is_there(place: Scene) -> None:
    server, alice = place.server, place.alice
    asked = server.driver.say(place.channel, alice, "hi")
    reference = {"message_id": asked.id}
    quiet = {"parse": ["users"], "replied_user": False}
    await place.post(content="x", message_reference=reference, allowed_mentions=quiet)
    loud = (await place.post(content="y", message_reference=reference)).body
    silent, pinging = server.messages(place.channel)[1:]
    assert (silent.pings.users, pinging.pings.users) == (set(), {alice.id})
    assert loud["referenced_message"]["content"] == "hi"
    server.driver.delete(asked)
    path = f"/channels/{place.channel.id}/messages/{loud['id']}"
    edited = (await place.request("PATCH", path, {"content": "z"})).body
    assert edited["referenced_message"] is None
    assert pinging.pings.users == set()


async def test_system_messages_take_no_replies(place: Scene) -> None:
    message = place.server.driver.say(place.channel, place.alice, "hi")
    notice = place.server.driver.pin(place.alice, message)
    reference = {"message_id": notice.id}
    assert (await place.post(content="x", message_reference=reference)).refusal == INVALID


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
