"""Turns are counted once, whatever ends them, and what they log belongs to them."""

import asyncio
import logging

import pytest

from chat.at_work import turn_at_work
from chat.reply import Reply
from chat.watched import TurnFigures
from data.store import Store
from providers.base import Unavailable
from tests.chat.house import House
from tests.chat.scripted import Recorder, end, say


async def test_each_way_to_end_is_counted_apart(store: Store) -> None:
    house = House(store)
    await house.ask("hello", [say("Hello."), end("stop")])
    await house.ask("again", [Unavailable("Nobody is there.", remedy="Start it.")])
    waiting = asyncio.Event()

    async def wait() -> None:
        waiting.set()
        await asyncio.Event().wait()

    house.model.add([say("One"), wait])
    turn = asyncio.create_task(
        house.service.respond(house.request("third"), house.channel, house.presenter())
    )
    await asyncio.wait_for(waiting.wait(), 5)
    assert house.service.figures.running == 1
    turn.cancel()
    await asyncio.wait([turn])
    figures = house.service.figures
    assert figures == TurnFigures(ended=figures.ended, seconds=figures.seconds), (
        "one is still running"
    )
    assert figures.ended == {"answered": 1, "failed": 1, "stopped": 1}
    assert figures.seconds > 0


class Broken(Recorder):
    """A surface that cannot show the end."""

    async def finish(self, reply: Reply) -> list[int]:
        raise OSError("no terminal")


async def test_a_surface_that_breaks_is_counted_too(store: Store) -> None:
    house = House(store)
    house.model.add([say("Hello."), end("stop")])
    with pytest.raises(OSError, match="no terminal"):
        await house.service.respond(
            house.request("hello"), house.channel, Broken(house.channel, 2000)
        )
    assert house.service.figures.ended == {"broken": 1}


async def test_what_is_logged_in_a_turn_knows_its_turn(store: Store) -> None:
    house, seen = House(store), list[int | None]()

    class Listening(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            seen.append(turn_at_work.get())

    log, handler = logging.getLogger("tests.turn"), Listening()
    log.addHandler(handler)

    async def speak() -> None:
        log.warning("something")

    request = house.request("hello")
    house.model.add([say("Hello."), speak, end("stop")])
    await house.service.respond(request, house.channel, house.presenter())
    log.warning("something else")
    log.removeHandler(handler)
    assert seen == [request.message.id, None]
