"""A turn that is stopped closes what is open, shows what there is, and keeps it."""

import asyncio

import pytest

from chat.ending import STOPPED
from data.store import Store
from prompt.values import TextPart, ToolCall, Turn
from tests.chat.house import House
from tests.chat.scripted import Recorder, call, say, soon
from tests.chat.test_toolwork import Workshop
from tools.builtin import builtin_registry
from tools.registry import Registry


class Gate:
    """Somewhere a stream or a presenter waits; `reached` tells that it has come there."""

    def __init__(self) -> None:
        self.reached, self.opened = asyncio.Event(), asyncio.Event()

    async def __call__(self) -> None:
        self.reached.set()
        await self.opened.wait()


def begin(house: House, shown: Recorder, text: str = "Hi") -> asyncio.Task[None]:
    request = house.request(text)
    return asyncio.create_task(house.service.respond(request, house.channel, shown))


async def stop(turn: asyncio.Task[None]) -> None:
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn


def words(text: str) -> Turn:
    return Turn(role="assistant", parts=(TextPart(text=text),))


async def test_in_the_stream(house: House) -> None:
    gate, shown = Gate(), house.presenter()
    house.model.add([say("Once upon a"), gate, say(" time.")])
    turn = begin(house, shown)
    await soon(gate.reached.wait())
    assert house.model.open == 1
    await stop(turn)
    assert house.model.open == 0
    assert shown.finishes == 1
    assert (shown.reply.text, shown.reply.notices) == ("Once upon a", [STOPPED])
    assert shown.reply.state == "done"
    assert await house.stored(shown) == (words("Once upon a […]"),)


async def test_before_the_first_word(house: House) -> None:
    gate, shown = Gate(), house.presenter()
    house.model.add([gate])
    turn = begin(house, shown)
    await soon(gate.reached.wait())
    await stop(turn)
    assert (shown.reply.text, shown.reply.notices) == ("", [STOPPED])
    assert await house.stored(shown) == ()


async def test_while_gathering(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    gate, shown = Gate(), house.presenter()

    async def read(**_: object) -> list[object]:
        await gate()
        return []

    monkeypatch.setattr(house.channel, "read", read)
    turn = begin(house, shown)
    await soon(gate.reached.wait())
    await stop(turn)
    assert (shown.finishes, shown.reply.notices) == (1, [STOPPED])
    assert house.requests == []


async def test_in_a_tool(store: Store) -> None:
    shop = Workshop()
    house = House(store, registry=shop.registry())
    shown = house.presenter()
    house.model.add([say("I write."), call("write", name="a"), call("write", name="b")])
    turn = begin(house, shown)
    await soon(shop.gate("a begun").wait())
    await stop(turn)
    assert shop.log == ["a begins", "a stopped"]
    assert (shown.reply.text, shown.reply.notices) == ("I write.", [STOPPED])
    assert await house.stored(shown) == (words("I write. […]"),)
    house.model.check()


async def test_between_two_rounds_the_exchange_is_kept(house: House) -> None:
    gate, shown = Gate(), house.presenter()
    house.model.add([call("roll_dice", dice="d6")], [gate])
    turn = begin(house, shown)
    await soon(gate.reached.wait())
    await stop(turn)
    stored = await house.stored(shown)
    assert [turn.role for turn in stored] == ["assistant", "tool", "assistant"]
    assert isinstance(stored[0].parts[0], ToolCall)
    assert stored[-1] == words("[…]")


async def test_what_was_cut_is_marked_in_later_turns(house: House) -> None:
    gate, shown = Gate(), house.presenter()
    house.model.add([say("Once upon a"), gate])
    turn = begin(house, shown)
    await soon(gate.reached.wait())
    await stop(turn)
    await house.ask("Go on.", [say(" time.")])
    contents = [message["content"] for message in house.requests[-1].messages]
    assert contents[-2] == "Once upon a […]"
    assert STOPPED not in "".join(contents)


async def test_while_the_last_state_is_shown(house: House) -> None:
    """Showing and storing end first, then the cancellation goes on its way."""
    gate, shown = Gate(), house.presenter()
    shown.before_finish = gate
    house.model.add([say("Hello.")])
    turn = begin(house, shown)
    await soon(gate.reached.wait())
    turn.cancel()
    await asyncio.sleep(0)
    assert not turn.done()
    gate.opened.set()
    with pytest.raises(asyncio.CancelledError):
        await turn
    assert shown.finishes == 1
    assert shown.reply.notices == []
    assert await house.stored(shown) == (words("Hello."),)


async def test_twice(house: House) -> None:
    """A second cancellation does not leave the first one's closing work behind."""
    stream, finish, shown = Gate(), Gate(), house.presenter()
    shown.before_finish = finish
    house.model.add([say("Hello"), stream])
    turn = begin(house, shown)
    await soon(stream.reached.wait())
    turn.cancel()
    await soon(finish.reached.wait())
    turn.cancel()
    await asyncio.sleep(0)
    assert not turn.done()
    finish.opened.set()
    with pytest.raises(asyncio.CancelledError):
        await turn
    assert shown.finishes == 1
    assert await house.stored(shown) == (words("Hello […]"),)


async def test_a_presenter_that_fails_is_the_surfaces_own_trouble(house: House) -> None:
    async def fail() -> None:
        raise BrokenPipeError

    shown = house.presenter()
    shown.before_finish = fail
    house.model.add([say("Hello.")])
    with pytest.raises(BrokenPipeError):
        await begin(house, shown)


async def test_a_turn_after_a_stopped_one_is_like_any(store: Store) -> None:
    house = House(store, registry=Registry(*builtin_registry()))
    gate, shown = Gate(), house.presenter()
    house.model.add([gate])
    turn = begin(house, shown)
    await soon(gate.reached.wait())
    await stop(turn)
    again = await house.ask("Roll!", [call("roll_dice", dice="d6")], [say("Done.")])
    assert (again.reply.text, again.reply.notices) == ("Done.", [])
    house.model.check()
