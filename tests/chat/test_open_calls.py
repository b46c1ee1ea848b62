"""Calls that lack a value: they wait, are brought up again, and never stop a model that insists."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from data.store import Store
from prompt.values import Origin, ToolCall, ToolResult
from tests.chat.house import House
from tests.chat.scripted import call, say, wrong
from tools.registry import Registry, ToolContext, tool

RAW = '`cancel_event({"event_id":"?"})`'
OPEN = replace(wrong("open_argument", RAW, name="cancel_event"), waits=("event_id",))
LISTED = call("list_events", date="2026-05-15")
CANCELLED = call("cancel_event", event_id=31)


@pytest.fixture
def ran() -> list[int]:
    return []


@pytest.fixture
def house(store: Store, ran: list[int]) -> Iterator[House]:
    @tool(read_only=True)
    async def list_events(context: ToolContext, *, date: str) -> str:
        """List the events of a day."""
        return "event 31: Pub quiz"

    @tool()
    async def cancel_event(context: ToolContext, *, event_id: int) -> str:
        """Take an event off the calendar."""
        ran.append(event_id)
        return "cancelled"

    @tool(read_only=True)
    async def find(context: ToolContext, *, word: str) -> str:
        """Find a word."""
        return f"found {word}"

    @tool(read_only=True)
    async def read_page(context: ToolContext, *, url: str) -> str:
        """Read a page of the web."""
        return f"read {url}"

    @tool(read_only=True)
    async def find_pages(context: ToolContext, *, query: str) -> str:
        """Search the web for pages."""
        return "https://harbour.example/club"

    made = House(store, registry=Registry(list_events, cancel_event, find, read_page, find_pages))
    yield made
    made.model.check()


async def test_a_model_is_told_what_to_call_first_and_is_reminded_after_it(
    house: House, ran: list[int]
) -> None:
    await house.ask("cancel the pub quiz", [OPEN], [LISTED], [CANCELLED], [say("It is off.")])
    assert ran == [31]
    _, second, third, fourth = house.requests
    assert second.messages[-2]["content"] == RAW
    assert second.last == "[tool result] cancel_event: waits for event_id. First call list_events."
    assert third.last.endswith(
        "[tool result] cancel_event: waits for event_id. Asked: cancel the pub quiz"
    )
    assert "waits" not in fourth.last


async def test_an_open_call_behind_its_look_up_waits_for_what_that_brings(
    house: House, ran: list[int]
) -> None:
    await house.ask("cancel the quiz", [LISTED, OPEN], [CANCELLED], [say("It is off.")])
    assert ran == [31]
    wrote, told = house.requests[1].messages[-2:]
    assert wrote["content"] == '`list_events({"date": "2026-05-15"})`\n' + RAW
    assert told["content"].endswith(
        "event 31: Pub quiz\n[tool result] cancel_event: waits for event_id"
    )


async def test_a_made_up_number_does_not_run(house: House, ran: list[int]) -> None:
    await house.ask("cancel the pub quiz", [call("cancel_event", event_id=5)], [say("Which one?")])
    assert ran == []
    assert house.requests[1].last == (
        "[tool result] cancel_event: waits for event_id: 5 is known from nowhere. "
        "First call list_events."
    )


async def test_where_no_tool_can_tell_it_words_are_asked_for(house: House) -> None:
    await house.ask("I like words", [call("find", word="?")], [say("So do I.")])
    assert house.requests[1].last == (
        "[tool result] find: waits for word. Nobody has named it. Answer in words."
    )


async def test_a_model_that_insists_is_not_stopped(house: House, ran: list[int]) -> None:
    made_up = call("cancel_event", event_id=5)
    await house.ask("cancel the pub quiz", [made_up], [made_up], [say("Done.")])
    assert ran == [5]


async def test_the_same_made_up_number_twice_in_one_message_does_not_run(
    house: House, ran: list[int]
) -> None:
    made_up = call("cancel_event", event_id=5)
    await house.ask("cancel the pub quiz", [made_up, made_up], [say("Which one?")])
    assert ran == []


async def test_a_native_call_that_waits_is_answered_as_one(house: House) -> None:
    made_up = call("cancel_event", origin="native", event_id=5)
    asked = await house.ask("cancel the pub quiz", [made_up], [say("Which one?")])
    assert asked.reply.text == "Which one?"
    wrote, told = house.requests[1].prompt.exchanges
    (waiting,) = [part for part in wrote.parts if isinstance(part, ToolCall)]
    (result,) = [part for part in told.parts if isinstance(part, ToolResult)]
    assert (result.call_id, result.outcome) == (waiting.id, "invalid")


async def test_a_question_mark_that_was_meant_runs_when_it_is_called_again(house: House) -> None:
    meant = call("find", word="?")
    await house.ask("find the ?", [meant], [meant], [say("Found it.")])
    assert "found ?" in house.requests[2].last


async def test_reminders_end(house: House) -> None:
    days = [call("list_events", date=f"2026-05-{day}") for day in range(15, 18)]
    await house.ask("cancel the quiz", [OPEN], *([day] for day in days), [say("Which quiz?")])
    reminded = ["waits for" in request.last for request in house.requests[2:]]
    assert reminded == [True, True, False]


async def test_what_waits_is_no_answer(house: House) -> None:
    """An empty response behind it is asked for words, although the model said something before."""
    shown = await house.ask(
        "cancel the quiz", [say("Let me see.\n"), OPEN], [], [say("Which quiz?")]
    )
    assert shown.reply.text.endswith("Which quiz?")


async def test_no_member_sees_any_of_it(house: House) -> None:
    shown = await house.ask("cancel the quiz", [OPEN], [say("Which quiz?")])
    assert (shown.reply.text, shown.reply.runs, shown.reply.notices) == ("Which quiz?", [], [])


@pytest.mark.parametrize("origin", ["text", "native"])
async def test_a_made_up_address_is_searched_for_first_unless_the_call_is_native(
    house: House, origin: Origin
) -> None:
    made_up = call("read_page", origin=origin, url="https://harbourclub.com/")
    await house.ask("news of the harbour club?", [made_up], [say("None.")])
    waits = (
        "[tool result] read_page: waits for url: harbourclub.com is known from nowhere. "
        "First call find_pages."
    )
    reads = "[tool result] read_page: read https://harbourclub.com/"
    assert house.requests[1].last == (waits if origin == "text" else reads)
