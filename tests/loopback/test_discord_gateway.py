"""The gateway's protocol, seen from a bare socket."""

import asyncio
import json
import zlib
from collections.abc import AsyncGenerator
from typing import Any

import aiohttp
import pytest
import pytest_asyncio

from tests.loopback.discord_server import PRIVILEGED_INTENTS, Intent, Permission
from tests.loopback.discord_server.wire import CloseCode
from tests.loopback.raw import Scene, scene, unthrottled

GUILD_MESSAGES = int(Intent.GUILDS | Intent.GUILD_MESSAGES | Intent.MESSAGE_CONTENT)
CLOSED = (aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED, aiohttp.WSMsgType.ERROR)


@pytest_asyncio.fixture
async def place() -> AsyncGenerator[Scene]:
    async with scene(unthrottled(identify_window=0.0)) as running:
        yield running


class Client:
    """A gateway socket that has received hello."""

    def __init__(self, place: Scene, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.socket = socket
        self.place = place
        self._inflator = zlib.decompressobj()

    async def send(self, opcode: int, data: Any = None) -> None:
        await self.socket.send_json({"op": opcode, "d": data})

    async def identify(self, **changes: Any) -> None:
        token = self.place.server.token
        await self.send(2, {"token": token, "intents": GUILD_MESSAGES, "properties": {}, **changes})

    async def frame(self) -> Any:
        """The next frame; None once the socket is closed."""
        message = await self.socket.receive(timeout=5)
        if message.type in CLOSED:
            return None
        if message.type is aiohttp.WSMsgType.BINARY:
            return json.loads(self._inflator.decompress(message.data))
        return json.loads(message.data)

    async def until(self, event: str) -> Any:
        """The first event of that kind, and nothing but frames before it."""
        while (frame := await self.frame()) is not None:
            if frame["t"] == event:
                return frame
        raise AssertionError(f"closed with {self.socket.close_code} before {event}")

    async def close_code(self) -> int | None:
        """What the server hangs up with."""
        while await self.frame() is not None:
            pass
        return self.socket.close_code


async def connect(place: Scene, query: str = "v=10&encoding=json") -> Client:
    socket = await place.http.ws_connect(f"{place.server.address.gateway}?{query}")
    client = Client(place, socket)
    assert (await client.frame())["op"] == 10
    return client


async def ready(place: Scene, query: str = "v=10&encoding=json", **changes: Any) -> Client:
    client = await connect(place, query)
    await client.identify(**changes)
    await client.until("GUILD_CREATE")
    return client


async def test_hello_ready_and_guilds_in_order(place: Scene) -> None:
    client = await connect(place)
    await client.identify()
    first, second = await client.frame(), await client.frame()
    assert [(f["t"], f["s"]) for f in (first, second)] == [("READY", 1), ("GUILD_CREATE", 2)]
    assert first["d"]["resume_gateway_url"] == place.server.address.gateway
    assert second["d"]["channels"][0]["name"] == "general"


async def test_zlib_stream_is_one_stream_for_the_whole_socket(place: Scene) -> None:
    client = await ready(place, "v=10&encoding=json&compress=zlib-stream")
    place.server.driver.say(place.channel, place.alice, "hi")
    assert (await client.until("MESSAGE_CREATE"))["d"]["content"] == "hi"


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"token": "wrong"}, 4004),
        ({"intents": 1 << 30}, 4013),
        ({"intents": int(Intent.GUILD_PRESENCES)}, 4014),
    ],
)
async def test_who_may_not_identify_is_hung_up_on(changes: Any, code: int) -> None:
    granted = PRIVILEGED_INTENTS & ~int(Intent.GUILD_PRESENCES)
    async with scene(granted_intents=granted) as place:
        client = await connect(place)
        await client.identify(**changes)
        assert await client.close_code() == code


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        ('{"op": 3, "d": {}}', 4003),
        ("{", 4002),
        ("x" * 4097, 4002),
    ],
)
async def test_broken_frames_before_identifying(place: Scene, raw: str, code: int) -> None:
    client = await connect(place)
    await client.socket.send_str(raw)
    assert await client.close_code() == code


@pytest.mark.parametrize(("opcode", "code"), [(2, 4005), (99, 4001)])
async def test_wrong_operations_of_a_session(place: Scene, opcode: int, code: int) -> None:
    client = await ready(place)
    await client.send(opcode, {"token": place.server.token})
    assert await client.close_code() == code


async def test_an_unknown_version_is_refused(place: Scene) -> None:
    socket = await place.http.ws_connect(f"{place.server.address.gateway}?v=6")
    assert await Client(place, socket).close_code() == 4012


async def test_too_many_frames_are_a_violation(place: Scene) -> None:
    place.server.limits.frames = 5
    client = await connect(place)
    for _ in range(6):
        await client.send(1)
    assert await client.close_code() == 4008
    assert [v["what"] for v in place.server.violations()] == ["too many gateway frames"]


async def test_a_frame_that_is_too_large_is_a_violation(place: Scene) -> None:
    client = await ready(place)
    await client.send(3, {"status": "x" * 4096})
    assert await client.close_code() == 4002
    assert [v["what"] for v in place.server.violations()] == ["gateway frame too large"]


async def test_missed_heartbeats_are_a_violation() -> None:
    async with scene(unthrottled(heartbeat_ms=0)) as place:
        client = await connect(place)
        assert await client.close_code() == 4009
        assert [v["what"] for v in place.server.violations()] == ["heartbeat missed"]


async def test_sessions_may_not_be_started_in_a_row() -> None:
    async with scene() as place:
        await ready(place)
        second = await connect(place)
        await second.identify()
        assert (await second.frame())["op"] == 9
        assert await second.close_code() == 4000


async def test_a_resume_replays_what_was_missed_in_order(place: Scene) -> None:
    client = await connect(place)
    await client.identify()
    session = (await client.until("READY"))["d"]["session_id"]
    seen = (await client.until("GUILD_CREATE"))["s"]
    place.server.gateway.cut()
    await place.server.wait_for(lambda record: record.kind == "gateway_close")
    for text in ("one", "two"):
        place.server.driver.say(place.channel, place.alice, text)
    again = await connect(place)
    resume = {"token": place.server.token, "session_id": session, "seq": seen}
    await again.send(6, resume)
    frames = [await again.frame() for _ in range(3)]
    assert [f["t"] for f in frames] == ["MESSAGE_CREATE", "MESSAGE_CREATE", "RESUMED"]
    assert [f["s"] for f in frames] == [seen + 1, seen + 2, seen + 3]
    assert [f["d"]["content"] for f in frames[:2]] == ["one", "two"]


@pytest.mark.parametrize("reason", ["unknown", "ahead", "late", "closed in order"])
async def test_a_resume_is_refused(place: Scene, reason: str) -> None:
    client = await connect(place)
    await client.identify()
    session = (await client.until("READY"))["d"]["session_id"]
    sequence = (await client.until("GUILD_CREATE"))["s"]
    if reason == "closed in order":
        await client.socket.close(code=1000)
    else:
        place.server.gateway.cut()
    await place.server.wait_for(lambda record: record.kind == "gateway_close")
    if reason == "late":
        place.server.limits.resume = 0.0
        await asyncio.sleep(0.01)
    again = await connect(place)
    resume = {
        "token": place.server.token,
        "session_id": "unknown" if reason == "unknown" else session,
        "seq": sequence + (reason == "ahead"),
    }
    await again.send(6, resume)
    frame = await again.frame()
    assert (frame["op"], frame["d"]) == (9, False)


async def test_a_session_outlives_a_close_that_the_server_wanted(place: Scene) -> None:
    client = await ready(place)
    await place.server.gateway.close(CloseCode.GOING_AWAY)
    assert await client.close_code() == CloseCode.GOING_AWAY
    await place.server.wait_for(lambda record: record.kind == "gateway_close")
    assert len(place.server.gateway.sessions) == 1


async def test_content_is_withheld_without_its_intent(place: Scene) -> None:
    server, alice = place.server, place.alice
    client = await ready(place, intents=int(Intent.GUILDS | Intent.GUILD_MESSAGES))
    for text in ("secret", f"{server.bot.mention} open"):
        server.driver.say(place.channel, alice, text)
    contents = [(await client.until("MESSAGE_CREATE"))["d"]["content"] for _ in range(2)]
    assert contents == ["", f"{server.bot.mention} open"]


async def test_events_need_their_intent_and_sight_of_the_channel(place: Scene) -> None:
    server = place.server
    client = await ready(place)
    server.driver.say(server.build.direct_messages(place.alice), place.alice, "private")
    hidden = server.build.channel(place.guild, "hidden")
    server.build.overwrite(hidden, place.guild, deny=Permission.VIEW_CHANNEL)
    server.driver.say(hidden, place.alice, "hidden")
    server.driver.say(place.channel, place.alice, "open")
    assert (await client.until("MESSAGE_CREATE"))["d"]["content"] == "open"


async def test_a_muted_connection_stays_open_and_says_nothing(place: Scene) -> None:
    client = await ready(place)
    await client.send(1)
    assert (await client.frame())["op"] == 11
    place.server.gateway.mute()
    place.server.driver.say(place.channel, place.alice, "hi")
    await client.send(1)
    with pytest.raises(TimeoutError):
        await client.socket.receive(timeout=0.1)


async def test_clients_are_asked_to_reconnect_or_told_to_start_over(place: Scene) -> None:
    client = await ready(place)
    place.server.gateway.ask_to_reconnect()
    place.server.gateway.invalidate(resumable=True)
    assert len(place.server.gateway.sessions) == 1
    place.server.gateway.invalidate()
    frames = [await client.frame() for _ in range(3)]
    assert [(f["op"], f["d"]) for f in frames] == [(7, None), (9, True), (9, False)]
    assert place.server.gateway.sessions == {}


async def test_members_are_sent_on_request(place: Scene) -> None:
    client = await ready(place)
    wanted = {"guild_id": str(place.guild.id), "query": "ali", "limit": 5, "nonce": "n"}
    await client.send(8, wanted)
    chunk = (await client.until("GUILD_MEMBERS_CHUNK"))["d"]
    assert [m["user"]["username"] for m in chunk["members"]] == ["alice"]
    assert chunk["nonce"] == "n"


@pytest.mark.parametrize("shard", [[2, 2], [-1, 2], "0", [0]])
async def test_a_shard_that_cannot_be_is_turned_away(place: Scene, shard: object) -> None:
    client = await connect(place)
    await client.identify(shard=shard)
    assert await client.close_code() == CloseCode.INVALID_SHARD
