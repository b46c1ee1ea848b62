"""What a member is told while nothing comes, over real sockets: in line, and by a slow server."""

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from chat.ending import RESTARTING, STOPPED
from chat.ports import Member, Place, TurnRequest
from chat.reply import Reply
from chat.service import ChatService, Generation
from chat.turn import READING
from data.store import Store
from providers.openai.adapter import Limits, OpenAIProvider
from tests.chat.house import SoleEndpoint
from tests.chat.scripted import ADA, BOB, Channel, Recorder
from tests.loopback.endpoint import LoopbackEndpoint, Step
from tools.builtin import builtin_tools

CY = Member(id=12, name="Cy")
SLOW_AFTER = 0.4
ONE_BY_ONE = [
    [],
    ["you are next in line"],
    ["you are second in line", "you are next in line"],
]
TWO_AT_ONCE = [[], [], ["you are next in line"]]


@dataclass(slots=True)
class Watcher(Recorder):
    """Keeps what was awaited; the same words in succession once."""

    awaited: list[str] = field(default_factory=list[str])
    steps: list[tuple[str, str, bool]] = field(default_factory=list[tuple[str, str, bool]])
    """State, what is awaited, and whether nothing has come of the request."""

    @property
    def places(self) -> list[str]:
        """The places in line that were told."""
        return [words for words in self.awaited if "in line" in words]

    def changed(self, reply: Reply) -> None:
        step = (reply.state, reply.waits_for, reply.unheard)
        if [step] != self.steps[-1:]:
            self.steps.append(step)
        if [reply.waits_for] != self.awaited[-1:]:
            self.awaited.append(reply.waits_for)
        Recorder.changed(self, reply)


class Scene:
    """A service before one endpoint, and channels of two guilds."""

    def __init__(self, service: ChatService, endpoint: LoopbackEndpoint) -> None:
        self.service = service
        self.endpoint = endpoint
        self.channels: dict[Place, Channel] = {}

    def ask(self, text: str, *, guild: int = 7, channel: int = 70, author: Member = ADA) -> "Asked":
        place = Place(guild_id=guild, channel_id=channel)
        history = self.channels.setdefault(place, Channel(first_id=channel * 1000))
        message = history.add(author, text)
        request = TurnRequest(place=place, member=author, message=message)
        watcher = Watcher(history)
        return Asked(
            watcher, asyncio.create_task(self.service.respond(request, history, watcher)), history
        )

    async def requests(self, count: int) -> None:
        """Wait until so many requests have come."""
        async with asyncio.timeout(5):
            while len(self.endpoint.received) < count:
                await asyncio.sleep(0.01)

    def asked_in_order(self) -> list[str]:
        """The last line of each request, as far as it is a question of this test."""
        return [
            next(
                word
                for word in ("apples", "pears", "plums")
                if r.messages[-1]["content"].startswith(word)
            )
            for r in self.endpoint.received
        ]


@dataclass(frozen=True, slots=True)
class Asked:
    watcher: Watcher
    task: asyncio.Task[None]
    history: Channel

    async def waits(self) -> "Asked":
        """Wait until it is in line; questions asked at once may get there in any order."""
        async with asyncio.timeout(5):
            while not self.watcher.awaited[-1:] or not self.watcher.awaited[-1]:
                await asyncio.sleep(0.005)
        return self

    async def done(self) -> Watcher:
        async with asyncio.timeout(10):
            await self.task
        return self.watcher


@pytest.fixture
async def scene(store: Store) -> AsyncGenerator[Scene]:
    async with made(store) as scene:
        yield scene


@asynccontextmanager
async def made(
    store: Store, *, limits: Limits | None = None, slots: int | None = None
) -> AsyncGenerator[Scene]:
    """Ada is the operator; the endpoint is hers, and all guilds share it."""
    properties = None if slots is None else {"total_slots": slots}
    async with LoopbackEndpoint(properties=properties) as endpoint:
        provider = OpenAIProvider(
            base_url=endpoint.base_url, model="loopback-model", limits=limits or Limits()
        )
        service = ChatService(
            store=store,
            routes=SoleEndpoint(provider),
            toolsets=[builtin_tools()],
            generation=Generation(max_reply_tokens=200, temperature=None, context_window=None),
            slow_after=SLOW_AFTER,
            is_operator=lambda user_id: user_id == ADA.id,
        )
        try:
            yield Scene(service, endpoint)
        finally:
            await provider.close()


# In line.


async def test_those_who_wait_read_their_place_until_it_is_their_turn(scene: Scene) -> None:
    scene.endpoint.add(*(Step(text="Done.", pause=0.05) for _ in range(3)))
    first = scene.ask("apples")
    await scene.requests(1)
    second = await scene.ask("pears", guild=8, channel=80, author=BOB).waits()
    third = scene.ask("plums", guild=9, channel=90, author=CY)
    watchers = [await asked.done() for asked in (first, second, third)]
    assert [watcher.places for watcher in watchers] == ONE_BY_ONE
    assert [watcher.reply.text for watcher in watchers] == ["Done."] * 3
    assert scene.asked_in_order() == ["apples", "pears", "plums"]


async def test_behind_the_line_comes_the_reading_then_the_thinking(scene: Scene) -> None:
    scene.endpoint.add(
        Step(text="Done.", pause=0.03),
        Step(pieces=("<think>", "hm", "</think>", "Hi."), delay=2 * SLOW_AFTER, pause=0.05),
    )
    first = scene.ask("apples")
    await scene.requests(1)
    second = scene.ask("pears", guild=8, channel=80, author=BOB)
    await first.done()
    shown = await second.done()
    assert shown.steps == [
        ("waiting", "you are next in line", False),
        ("thinking", "", True),
        ("thinking", READING, True),
        ("thinking", "", False),
        ("writing", "", False),
        ("done", "", False),
    ]


async def test_a_place_in_line_is_no_answer_and_no_history(scene: Scene, store: Store) -> None:
    scene.endpoint.add(Step(text="First.", pause=0.1), Step(text="Second."))
    first = scene.ask("apples")
    await scene.requests(1)
    second = await scene.ask("pears", guild=8, channel=80).waits()
    assert second.watcher.awaited == ["you are next in line"]
    assert {seen.text for seen in second.watcher.seen} == {""}
    await first.done()
    shown = await second.done()
    stored = await store.turns.by_messages(shown.ids)
    assert [[turn.text for turn in kept.turns] for kept in stored.values()] == [["Second."]]
    assert "in line" not in "".join(message.text for message in second.history.messages)
    assert "in line" not in scene.endpoint.received[1].raw.decode()


@pytest.mark.parametrize(("message", "told"), [((), STOPPED), ((RESTARTING,), RESTARTING)])
async def test_cancelling_while_waiting_makes_no_request(
    scene: Scene, store: Store, message: tuple[str, ...], told: str
) -> None:
    scene.endpoint.add(Step(text="First.", pause=0.1), Step(text="Third."))
    first = scene.ask("apples")
    await scene.requests(1)
    second = await scene.ask("pears", guild=8, channel=80).waits()
    third = await scene.ask("plums", guild=9, channel=90).waits()
    assert third.watcher.awaited == ["you are second in line"]
    second.task.cancel(*message)
    await asyncio.wait([second.task])
    assert second.task.cancelled()
    assert second.watcher.reply.notices == [told]
    assert third.watcher.awaited[-1] == "you are next in line"
    await first.done()
    assert (await third.done()).reply.text == "Third."
    assert await store.turns.by_messages(second.watcher.ids) == {}


async def test_a_failing_endpoint_keeps_nobody_waiting(scene: Scene) -> None:
    scene.endpoint.add(
        Step(status=500, body={"error": {"message": "broken"}}, delay=0.1), Step(text="Works.")
    )
    first = scene.ask("apples")
    await scene.requests(1)
    second = scene.ask("pears", guild=8, channel=80)
    assert (await first.done()).reply.state == "failed"
    assert (await second.done()).reply.text == "Works."


async def test_waiting_in_line_counts_towards_no_timeout(store: Store) -> None:
    limits = Limits(first_token=0.6, idle=0.4)
    async with made(store, limits=limits) as scene:
        scene.endpoint.add(Step(text="0123456789", split=1, pause=0.1), Step(text="In time."))
        first = scene.ask("apples")
        await scene.requests(1)
        begun = asyncio.get_running_loop().time()
        second = scene.ask("pears", guild=8, channel=80)
        await first.done()
        assert asyncio.get_running_loop().time() - begun > limits.first_token
        shown = await second.done()
        assert (shown.reply.text, shown.reply.notices) == ("In time.", [])
        assert READING not in shown.awaited


async def three_turns(scene: Scene, *, guild: int) -> list[list[str]]:
    """The places in line of the turns of three channels, those that wait least first: which of
    questions that arrive at once is in line first is not said."""
    scene.endpoint.add(*(Step(text="Done.", pause=0.05) for _ in range(3)))
    turns = [
        scene.ask(word, guild=guild, channel=guild * 10 + at)
        for at, word in enumerate(("apples", "pears", "plums"))
    ]
    return sorted([(await asked.done()).places for asked in turns], key=len)


async def test_the_operators_number_holds_for_all_guilds(scene: Scene) -> None:
    await scene.service.configure(7, "max_parallel", "2", by=ADA.id)
    assert await three_turns(scene, guild=8) == TWO_AT_ONCE
    await scene.service.configure(8, "max_parallel", "1", by=BOB.id)
    assert await three_turns(scene, guild=8) == ONE_BY_ONE
    assert await three_turns(scene, guild=7) == TWO_AT_ONCE


async def test_an_admin_cannot_raise_what_the_operators_endpoint_takes(scene: Scene) -> None:
    await scene.service.configure(8, "max_parallel", "3", by=BOB.id)
    assert await three_turns(scene, guild=8) == ONE_BY_ONE
    await scene.service.configure(7, "max_parallel", "2", by=ADA.id)
    assert await three_turns(scene, guild=8) == TWO_AT_ONCE


async def test_a_server_that_tells_its_slots_gets_as_many_requests(store: Store) -> None:
    async with made(store, slots=3) as scene:
        scene.endpoint.add(*(Step(text="Done.", pause=0.1) for _ in range(3)))
        turns = [
            scene.ask(word, channel=70 + at) for at, word in enumerate(("apples", "pears", "plums"))
        ]
        await scene.requests(3)
        assert not any(asked.task.done() for asked in turns)
        for asked in turns:
            await asked.done()
        assert scene.endpoint.asked_properties == 1


# A slow server.


async def test_a_slow_first_token_is_told_until_the_first_word(scene: Scene, store: Store) -> None:
    shown = await asked_of(scene, Step(text="At last.", delay=3 * SLOW_AFTER))
    assert shown.awaited == ["", READING, ""]
    assert {seen.text for seen in shown.seen if seen.state == "thinking"} == {""}
    assert READING not in shown.ever_shown
    (stored,) = (await store.turns.by_messages(shown.ids)).values()
    assert [turn.text for turn in stored.turns] == ["At last."]


async def test_a_fast_answer_says_nothing_of_loading(scene: Scene) -> None:
    text = "A long answer that streams for a while."
    shown = await asked_of(scene, Step(text=text, pause=SLOW_AFTER / 4))
    assert shown.awaited == [""]


@pytest.mark.parametrize(
    "step",
    [
        Step(pieces=("<think>", "hm", " so", "</think>", "Hi."), pause=SLOW_AFTER / 2),
        Step(pieces=('{"name": ', '"x", ', '"a":', " 1", "}"), pause=SLOW_AFTER / 2),
    ],
)
async def test_a_model_that_writes_what_is_not_shown_yet_is_not_loading(
    scene: Scene, step: Step
) -> None:
    shown = await asked_of(scene, step)
    assert shown.awaited == [""]
    assert shown.reply.text


async def test_reading_the_result_of_a_tool_may_be_slow_too(scene: Scene) -> None:
    shown = await asked_of(
        scene,
        Step(text='roll_dice({"dice":"2d6"})'),
        Step(text="You rolled.", delay=3 * SLOW_AFTER),
    )
    assert shown.awaited == ["", READING, ""]
    assert shown.reply.text == "You rolled."


async def test_a_server_that_never_begins_ends_with_the_timeouts_words(store: Store) -> None:
    async with made(store, limits=Limits(first_token=2 * SLOW_AFTER, idle=60)) as scene:
        shown = await asked_of(scene, Step(delay=10))
        assert shown.awaited[:2] == ["", READING]
        assert shown.reply.state == "failed"
        assert shown.reply.waits_for == ""
        assert "VERBATIM_FIRST_TOKEN_TIMEOUT" in shown.reply.remedy


async def asked_of(scene: Scene, *steps: Step) -> Watcher:
    scene.endpoint.add(*steps)
    return await scene.ask("apples").done()


# The server's slots.


async def test_slot_hints_are_in_the_body_only_where_they_are_wanted(store: Store) -> None:
    async with made(store, slots=2) as scene:
        await scene.service.configure(8, "slot_hint", "per_channel")
        # Told beside the first turn: its server hangs a little, so that there is time.
        scene.endpoint.add(Step(text="Done.", delay=0.1), *(Step(text="Done.") for _ in range(5)))
        for guild, channel in ((7, 70), (7, 71), (8, 80), (8, 81), (8, 80), (8, 82)):
            await scene.ask("apples", guild=guild, channel=channel).done()
        bodies = [received.body for received in scene.endpoint.received]
        assert ["id_slot" in body for body in bodies] == [False, False, True, True, True, True]
        assert [body["id_slot"] for body in bodies[2:]] == [0, 1, 0, 0]
        assert scene.endpoint.asked_properties == 1


async def test_a_slot_hint_changes_nothing_else_in_the_body(store: Store) -> None:
    async def raw_bodies(hint: str) -> Sequence[bytes]:
        async with made(store, slots=2) as scene:
            await scene.service.configure(4, "slot_hint", hint)
            scene.endpoint.add(Step(text="Done.", delay=0.1), Step(text="Done."))
            for guild in (3, 4):
                await scene.ask("apples", guild=guild, channel=guild).done()
            return [received.raw for received in scene.endpoint.received]

    without, hinted = await raw_bodies("off"), await raw_bodies("per_channel")
    assert hinted[0] == without[0]
    with_slot = json.loads(hinted[1])
    assert with_slot.pop("id_slot") == 0
    assert with_slot == json.loads(without[1])
