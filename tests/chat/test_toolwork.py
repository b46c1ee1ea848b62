"""Which calls of one round run side by side, and which wait for each other."""

import asyncio
from collections.abc import Iterator

import pytest

from data.errors import StoreError
from data.store import Store
from prompt.values import Outcome
from tests.chat.house import House
from tests.chat.scripted import Recorder, call, say, soon
from tools.registry import Registry, ToolContext, ToolFailure, tool


class Workshop:
    """Tools that note when they begin and end, and wait for what a test sets."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.gates: dict[str, asyncio.Event] = {}

    def gate(self, name: str) -> asyncio.Event:
        return self.gates.setdefault(name, asyncio.Event())

    async def work(self, name: str) -> str:
        self.log.append(f"{name} begins")
        self.gate(f"{name} begun").set()
        try:
            await self.gate(name).wait()
        except asyncio.CancelledError:
            self.log.append(f"{name} stopped")
            raise
        self.log.append(f"{name} ends")
        return f"result of {name}"

    def registry(self) -> Registry:
        @tool(read_only=True)
        async def read(context: ToolContext, *, name: str) -> str:
            """Read."""
            return await self.work(name)

        @tool()
        async def write(context: ToolContext, *, name: str) -> str:
            """Write."""
            return await self.work(name)

        @tool(read_only=True)
        async def fail(context: ToolContext) -> str:
            """Fail."""
            raise ToolFailure("no")

        return Registry(read, write, fail)


def outcomes(shown: Recorder) -> list[Outcome | None]:
    return [run.result.outcome if run.result else None for run in shown.reply.runs]


@pytest.fixture
def shop() -> Workshop:
    return Workshop()


@pytest.fixture
def busy(store: Store, shop: Workshop) -> Iterator[House]:
    made = House(store, registry=shop.registry())
    yield made
    made.model.check()


async def test_read_only_calls_run_side_by_side(busy: House, shop: Workshop) -> None:
    turn = asyncio.create_task(
        busy.ask("Read!", [call("read", name="a"), call("read", name="b")], [say("Done.")])
    )
    await soon(shop.gate("a begun").wait())
    await soon(shop.gate("b begun").wait())  # though `a` has not ended
    shop.gate("b").set()
    shop.gate("a").set()
    shown = await turn
    assert shop.log == ["a begins", "b begins", "b ends", "a ends"]
    told = busy.requests[1].last
    assert told.index("result of a") < told.index("result of b")  # in the order of the calls
    running = [seen.running for seen in shown.seen]
    assert running.index(("read", "read")) < running.index(("read",)) < running.index((), 2)


async def test_a_store_that_fails_between_calls_ends_in_its_line(
    busy: House, shop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object) -> None:
        raise StoreError("The disk is full.", remedy="Free some space.")

    turn = asyncio.create_task(busy.ask("Go!", [call("read", name="a"), call("write", name="b")]))
    await soon(shop.gate("a begun").wait())
    monkeypatch.setattr(busy.store.settings, "values", fail)
    shop.gate("a").set()
    shown = await turn
    assert shop.log == ["a begins", "a ends"]
    assert shown.reply.state == "failed"
    assert shown.reply.notices == ["The bot's database has a problem. Its operator is told how."]


async def test_writing_calls_run_one_after_another(busy: House, shop: Workshop) -> None:
    for name in "abcd":
        shop.gate(name).set()
    calls = [
        call("write", name="a"),
        call("read", name="b"),
        call("write", name="c"),
        call("write", name="d"),
    ]
    await busy.ask("Write!", calls, [say("Done.")])
    assert shop.log == [f"{name} {what}" for name in "abcd" for what in ("begins", "ends")]


async def test_a_read_before_a_write_has_ended_when_it_begins(busy: House, shop: Workshop) -> None:
    turn = asyncio.create_task(
        busy.ask("Go!", [call("read", name="a"), call("write", name="b")], [say("Done.")])
    )
    await soon(shop.gate("a begun").wait())
    await asyncio.sleep(0)
    assert shop.log == ["a begins"]
    shop.gate("b").set()
    shop.gate("a").set()
    await turn
    assert shop.log == ["a begins", "a ends", "b begins", "b ends"]


async def test_a_failure_of_one_leaves_the_others_alone(busy: House, shop: Workshop) -> None:
    shop.gate("a").set()
    shown = await busy.ask("Go!", [call("fail"), call("read", name="a")], [say("Done.")])
    assert outcomes(shown) == ["failed", "ok"]


async def test_a_slow_tool_is_stopped_and_told(
    busy: House, shop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chat.toolwork.CALL_TIMEOUT", 0.01)
    shown = await busy.ask("Go!", [call("write", name="a")], [say("Too slow.")])
    assert shop.log == ["a begins", "a stopped"]
    assert shown.reply.text == "Too slow."
    assert '"error":"timeout"' in busy.requests[1].last


async def test_arguments_that_do_not_satisfy_the_schema_are_answered_with_it(busy: House) -> None:
    await busy.ask("Go!", [call("read", nom="a")], [say("Sorry.")])
    told = busy.requests[1].last
    assert '"error":"invalid_arguments"' in told
    assert '"required":["name"]' in told


@pytest.mark.parametrize("name", ["__class__", "registry", "use_loaded_tool"])
async def test_what_is_not_on_the_surface_gets_a_result_and_never_runs(
    busy: House, shop: Workshop, name: str
) -> None:
    shown = await busy.ask("Go!", [call(name)], [say("Sorry.")])
    assert outcomes(shown) == ["invalid"]
    assert '"error":"unknown_tool"' in busy.requests[1].last
    assert shop.log == []


async def test_nothing_runs_where_tools_are_off(busy: House, shop: Workshop) -> None:
    shop.gate("a").set()
    await busy.service.configure(7, "tool_mode", "off")
    await busy.ask("Go!", [call("write", name="a")], [say("Sorry.")])
    assert shop.log == []
    assert '"error":"unknown_tool"' in busy.requests[1].last
