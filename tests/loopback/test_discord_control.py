"""Steering the server over HTTP reaches all that tests in its process can reach."""

from collections.abc import AsyncGenerator
from typing import Any

import pytest_asyncio

from tests.loopback.discord_server import Permission
from tests.loopback.discord_server.permissions import may
from tests.loopback.raw import Scene, scene, unthrottled

BUTTON = {"type": 2, "style": 1, "label": "Stop", "custom_id": "stop"}
PICK = {"type": 3, "custom_id": "pick", "options": [{"label": "One", "value": "1"}]}
FIELD = {"type": 4, "custom_id": "name", "style": 1, "label": "Name"}
ASK = {"type": 3, "name": "about", "description": "d", "autocomplete": True}


@pytest_asyncio.fixture
async def place() -> AsyncGenerator[Scene]:
    async with scene(unthrottled(acknowledge=60.0)) as running:
        yield running


async def steer(place: Scene, action: str, *, status: int = 200, **given: Any) -> Any:
    url = f"{place.server.address.origin}/_control/{action}"
    async with place.http.post(url, json=given) as response:
        assert response.status == status
        return await response.json()


async def answer(place: Scene, interaction: Any, kind: int, data: Any) -> None:
    token = place.server.world.interactions[interaction["id"]].token
    path = f"/interactions/{interaction['id']}/{token}/callback"
    assert (await place.request("POST", path, {"type": kind, "data": data})).status == 204


async def test_members_act(place: Scene) -> None:
    commands: list[Any] = [
        {"type": 1, "name": "ask", "description": "d", "options": [ASK]},
        {"type": 3, "name": "Quote"},
    ]
    await place.request("PUT", f"/applications/{place.server.bot.id}/commands", commands)
    rows = [{"type": 1, "components": [BUTTON]}, {"type": 1, "components": [PICK]}]
    panel = int((await place.post(content="panel", components=rows)).body["id"])
    who = {"user": place.alice.id, "wait": False}
    where = {**who, "channel": place.channel.id}
    typing = await steer(place, "autocomplete", **where, path="ask", option="about", typed="x")
    await answer(place, typing, 8, {"choices": [{"name": "n", "value": "v"}]})
    told = await steer(place, "interaction", interaction=typing["id"])
    assert (told["state"], told["choices"][0]["value"]) == ("acknowledged", "v")
    opened = await steer(place, "press", **who, message=panel, button="Stop")
    modal = {"title": "t", "custom_id": "m", "components": [{"type": 1, "components": [FIELD]}]}
    await answer(place, opened, 9, modal)
    submitted = await steer(
        place, "submit", **who, interaction=opened["id"], values={"Name": "Ann"}
    )
    assert submitted["state"] == "pending"
    steps: tuple[tuple[str, dict[str, Any]], ...] = (
        ("slash", {"channel": place.channel.id, "path": "ask", "options": {"about": "x"}}),
        ("choose", {"message": panel, "select": "pick", "values": ["1"]}),
        ("use_on", {"message": panel, "command": "Quote"}),
    )
    for action, more in steps:
        begun = await steer(place, action, **who, **more)
        await answer(place, begun, 4, {"content": action})
        told = await steer(place, "interaction", interaction=begun["id"])
        assert told["original"]["text"] == action
    said = await steer(place, "say", **where, text="re", reply_to=panel)
    assert said["pings"] == [place.server.bot.id]
    await steer(place, "delete", message=said["id"])
    listed = await steer(place, "messages", channel=place.channel.id)
    assert [m["text"] for m in listed] == ["panel", "slash", "choose", "use_on"]


async def test_the_scene_is_set(place: Scene) -> None:
    world = place.server.world
    user = await steer(place, "user", name="bob")
    assert user["id"] in place.guild.members
    channel = await steer(place, "channel", guild=place.guild.id, name="new", kind=15)
    assert world.channel(channel["id"]).name == "new"
    private = await steer(place, "direct_messages", user=user["id"])
    assert world.channel(private["id"]).is_dm
    thread = await steer(place, "thread", channel=place.channel.id, user=user["id"], name="thread")
    assert world.channel(thread["id"]).parent is place.channel
    deny = int(Permission.SEND_MESSAGES)
    await steer(place, "overwrite", channel=place.channel.id, deny=deny)
    assert not may(place.server.bot, place.channel, Permission.SEND_MESSAGES)


async def test_limits_and_faults_are_set(place: Scene) -> None:
    bucket = {"requests": 1, "seconds": 9.0}
    await steer(place, "limits", content=3, buckets={"message_post": bucket})
    assert (await place.post(content="four")).status == 400
    assert (await place.post(content="two")).status == 429
    await steer(place, "fault", effect="throttle", route="/users/@me$", retry_after=2.0, times=1)
    throttled = await place.request("GET", "/users/@me")
    assert (throttled.status, throttled.body["retry_after"]) == (429, 2.0)
    for what in ("cut", "reconnect", "invalidate", "mute", "close"):
        await steer(place, "gateway", do=what)
    await steer(place, "gateway", status=422, do="nothing of the kind")
    await steer(place, "limits", status=422, no_such_limit=1)


async def test_the_journal_is_read(place: Scene) -> None:
    place.server.driver.say(place.channel, place.alice, "hi")
    records = await steer(place, "journal")
    assert [r["kind"] for r in records if r["kind"] == "message"] == ["message"]
    assert await steer(place, "journal", since=len(place.server.journal)) == []
    await steer(place, "wait", status=504, kind="edit", timeout=0.01)
    found = await steer(place, "wait", kind="message", fields={"author": place.alice.id})
    assert found["content"] == "hi"


async def test_what_discord_would_refuse_is_refused(place: Scene) -> None:
    where = {"channel": place.channel.id, "user": place.alice.id}
    refused = await steer(place, "say", status=400, **where, text="x" * 2001)
    assert refused["code"] == 50035
    await steer(place, "say", status=422, **where)
