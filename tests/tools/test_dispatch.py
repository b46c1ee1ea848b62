import asyncio
import json
import logging
from dataclasses import replace
from typing import Annotated, Any

import pytest
from pydantic import Field

from data.store import Store
from prompt.surface import ToolSurface
from prompt.values import Outcome, ToolCall
from tests.tools.conftest import Contexts
from tools.builtin import builtin_registry
from tools.dispatch import RESULT_LIMIT, run_call
from tools.exposure import Gates
from tools.registry import Registry, Tool, ToolContext, ToolFailure, tool
from tools.surface import build_surface
from tools.toolset import offering


def call(name: str, **arguments: Any) -> ToolCall:
    return ToolCall(
        id="abcdefghi",
        name=name,
        arguments=arguments,
        raw_arguments=json.dumps(arguments),
        origin="text",
    )


class Bench:
    """Runs calls of some tools, all of them offered unless said otherwise."""

    def __init__(self, context: ToolContext, *tools: Tool) -> None:
        self.registry = Registry(*tools)
        self.surface = build_surface(offering(self.registry))
        self.context = context

    async def run(
        self, made: ToolCall, *, timeout: float = 5.0, surface: ToolSurface | None = None
    ) -> tuple[Outcome, str]:
        offered = self.surface if surface is None else surface
        ran = await run_call(self.registry.tools, offered, self.context, made, timeout=timeout)
        result = ran.result
        assert (result.call_id, result.name) == (made.id, made.name)
        return result.outcome, result.text


@tool()
async def say(context: ToolContext, *, text: str, times: int = 1) -> str:
    """Say it."""
    return text * times


async def test_what_the_tool_returns_is_the_result(context: Contexts) -> None:
    assert await Bench(context(), say).run(call("say", text="hi")) == ("ok", "hi")


@pytest.mark.parametrize("empty", ["[]", " {}\n", "null", '""'])
async def test_an_empty_structure_is_told_in_words(context: Contexts, empty: str) -> None:
    outcome, text = await Bench(context(), say).run(call("say", text=empty))
    assert outcome == "ok"
    assert "found nothing" in text
    assert text != empty


class Holder:
    """tools.registry.Rights of a member who has these permissions."""

    def __init__(self, *permissions: str) -> None:
        self.permissions = permissions

    async def may(self, permission: str) -> bool:
        return permission in self.permissions

    async def can_read(self, channel_id: int) -> bool:
        return False

    async def can_all_read(self, channel_id: int) -> bool:
        return False


@pytest.mark.parametrize("rights", [None, Holder(), Holder("send_messages")])
async def test_a_tool_needs_the_permission_of_the_asking_member(
    context: Contexts, rights: Holder | None
) -> None:
    ran = False

    @tool(permission="manage_guild")
    async def rename(context: ToolContext) -> str:
        """Rename."""
        nonlocal ran
        ran = True
        return "renamed"

    asking = replace(context(), rights=rights)
    outcome, text = await Bench(asking, rename).run(call("rename"))
    assert (outcome, ran) == ("denied", False)
    assert "lacks the permission Manage Server" in text
    asking = replace(context(), rights=Holder("manage_guild"))
    assert (await Bench(asking, rename).run(call("rename")))[0] == "ok"


@pytest.mark.parametrize("nothing", ["", " \n"])
async def test_an_empty_result_says_so(context: Contexts, nothing: str) -> None:
    outcome, text = await Bench(context(), say).run(call("say", text=nothing))
    assert (outcome, text) == ("ok", "(the tool returned nothing)")


async def test_a_tool_runs_under_the_name_that_endpoints_take(context: Contexts) -> None:
    async def shout(
        context: ToolContext, *, text: Annotated[str, Field(pattern="^[a-z]+$")]
    ) -> str:
        """Shout."""
        return text.upper()

    shout.__name__ = "say.loud"
    bench = Bench(context(), tool()(shout))
    assert await bench.run(call("say_loud", text="hi")) == ("ok", "HI")
    outcome, text = await bench.run(call("say_loud", text="HI"))
    assert (outcome, json.loads(text)["error"]) == ("invalid", "invalid_arguments")
    assert (await bench.run(call("say.loud", text="hi")))[0] == "invalid"


@pytest.mark.parametrize("name", ["nope", "__class__", "keys", "constructor", "run", "spec", ""])
async def test_what_is_no_tool_never_runs(context: Contexts, name: str) -> None:
    outcome, text = await Bench(context(), say).run(call(name))
    assert outcome == "invalid"
    assert json.loads(text) == {"error": "unknown_tool", "tool": name}


async def test_what_is_not_on_the_surface_never_runs(context: Contexts, store: Store) -> None:
    bench = Bench(context(), *builtin_registry())
    without = build_surface(offering(bench.registry), gates=Gates(switched={"remember": False}))
    outcome, text = await bench.run(call("remember", fact="I like tea."), surface=without)
    assert outcome == "invalid"
    assert json.loads(text)["error"] == "unknown_tool"
    assert not await store.facts.recall(1, 10, None)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "'text' is a required property"),
        ({"text": 5}, "text: 5 is not of type 'string'"),
        ({"text": "hi", "times": "many"}, "times: 'many' is not of type 'integer'"),
        ({"text": "hi", "self": 1}, "unexpected"),
    ],
)
async def test_invalid_arguments_are_answered_with_the_schema(
    context: Contexts, arguments: Any, words: str
) -> None:
    outcome, text = await Bench(context(), say).run(call("say", **arguments))
    assert outcome == "invalid"
    answer = json.loads(text)
    assert (answer["error"], answer["tool"]) == ("invalid_arguments", "say")
    assert words in answer["problems"][0]
    assert answer["schema"] == say.spec.parameters


async def test_a_slow_tool_is_stopped(context: Contexts) -> None:
    stopped = asyncio.Event()

    @tool()
    async def wait(context: ToolContext) -> str:
        """Wait."""
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()
        return "never"

    outcome, text = await Bench(context(), wait).run(call("wait"), timeout=0.01)
    assert outcome == "timeout"
    assert json.loads(text) == {"error": "timeout", "tool": "wait", "seconds": 0.01}
    assert stopped.is_set()


async def test_a_tool_that_takes_longer_than_others_is_given_its_time(context: Contexts) -> None:
    @tool(seconds=5)
    async def slow(context: ToolContext) -> str:
        """Take time."""
        await asyncio.sleep(0.05)
        return "done"

    assert await Bench(context(), slow).run(call("slow"), timeout=0.01) == ("ok", "done")


async def test_a_timeout_of_the_tools_own_is_a_failure_like_any(
    context: Contexts, caplog: pytest.LogCaptureFixture
) -> None:
    @tool()
    async def fetch(context: ToolContext) -> str:
        """Fetch."""
        raise TimeoutError

    outcome, text = await Bench(context(), fetch).run(call("fetch"))
    assert (outcome, json.loads(text)["message"]) == ("failed", "internal error")
    assert "tool fetch failed" in caplog.text


async def test_an_exception_is_logged_and_hidden_from_the_model(
    context: Contexts, caplog: pytest.LogCaptureFixture
) -> None:
    @tool()
    async def leak(context: ToolContext) -> str:
        """Leak."""
        raise RuntimeError("password is hunter2")

    outcome, text = await Bench(context(), leak).run(call("leak"))
    assert outcome == "failed"
    assert json.loads(text) == {"error": "failed", "tool": "leak", "message": "internal error"}
    (record,) = caplog.records
    assert record.levelno == logging.ERROR
    assert "tool leak failed" in caplog.text
    assert "RuntimeError" in caplog.text


async def test_a_tool_that_says_no_says_why(
    context: Contexts, caplog: pytest.LogCaptureFixture
) -> None:
    @tool()
    async def refuse(context: ToolContext) -> str:
        """Refuse."""
        raise ToolFailure("Not on Sundays. Ask tomorrow.")

    outcome, text = await Bench(context(), refuse).run(call("refuse"))
    assert outcome == "failed"
    assert json.loads(text)["message"] == "Not on Sundays. Ask tomorrow."
    assert not caplog.records


async def test_results_are_clipped_and_say_so(context: Contexts) -> None:
    bench = Bench(context(), say)
    _, exact = await bench.run(call("say", text="x", times=RESULT_LIMIT))
    assert exact == "x" * RESULT_LIMIT
    _, text = await bench.run(call("say", text="x", times=RESULT_LIMIT + 5))
    assert text == "x" * RESULT_LIMIT + "\n[cut: 5 more characters]"


async def test_failures_and_refusals_are_clipped_too(context: Contexts) -> None:
    @tool()
    async def parrot(context: ToolContext, *, text: str, kind: str = "") -> str:
        """Repeat."""
        raise ToolFailure(f"no {text}")

    bench = Bench(context(), parrot)
    long = "x" * 200_000
    for made in (call("parrot", text=long), call("parrot", text="a", kind=[long])):
        _, text = await bench.run(made)
        assert len(text) <= RESULT_LIMIT + 50


async def test_cancelling_reaches_the_tool_and_passes_through(context: Contexts) -> None:
    started, stopped = asyncio.Event(), asyncio.Event()

    @tool()
    async def wait(context: ToolContext) -> str:
        """Wait."""
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()
        return "never"

    running = asyncio.create_task(Bench(context(), wait).run(call("wait")))
    await started.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert stopped.is_set()


async def test_a_tool_whose_own_work_was_cancelled_has_failed(context: Contexts) -> None:
    @tool()
    async def lose(context: ToolContext) -> str:
        """Lose."""
        inner = asyncio.create_task(asyncio.Event().wait())
        inner.cancel()
        await inner
        return "never"

    outcome, text = await Bench(context(), lose).run(call("lose"))
    assert (outcome, json.loads(text)["message"]) == ("failed", "internal error")
