"""Turns over real sockets with an endpoint that fails and another one behind it."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from chat.breaker import FAILURES
from data.store import Store
from prompt.verbatim import Verdict
from providers.openai.adapter import Limits, OpenAIProvider
from tests.chat.house import House
from tests.chat.scripted import GUILD, Recorder
from tests.loopback.endpoint import LoopbackEndpoint, Step

CALL = 'roll_dice({"dice":"2d6"})'
RESULT = "[tool result] roll_dice: 2d6:"
DOWN = Step(status=500, body={"error": {"message": "boom"}})


class Pair:
    """A first endpoint and its fallback, with a house that is served by both."""

    def __init__(self, store: Store, first: LoopbackEndpoint, second: LoopbackEndpoint) -> None:
        self.first, self.second = first, second
        limits = Limits(first_token=5, idle=5)
        self.providers = [
            OpenAIProvider(base_url=each.base_url, model=model, limits=limits)
            for each, model in ((first, "one"), (second, "two"))
        ]
        self.house = House(store, provider=self.providers[0], fallbacks=self.providers[1:])

    @property
    def asked(self) -> tuple[int, int]:
        return len(self.first.received), len(self.second.received)


@pytest.fixture
async def pair(store: Store) -> AsyncIterator[Pair]:
    async with LoopbackEndpoint() as first, LoopbackEndpoint() as second:
        made = Pair(store, first, second)
        try:
            yield made
        finally:
            for provider in made.providers:
                await provider.close()


def answered(shown: Recorder, text: str) -> None:
    assert (shown.reply.text, shown.reply.state, shown.reply.notices) == (text, "done", [])
    assert shown.reply.remedy == ""


@pytest.mark.parametrize(
    "failure",
    [
        DOWN,
        Step(status=401, body={"error": {"message": "wrong key"}}),
        Step(status=429, body={"error": {"message": "slow down"}}),
        Step(status=404, body={"error": {"message": "model one not found"}}),
        Step(status=400, body={"error": {"message": "this account is closed"}}),
        Step(raw="<html>a proxy's page</html>"),
        Step(raw='data: {"error": {"message": "no GPU", "code": 503}}\n\n'),
        Step(cut=True),
    ],
    ids=["500", "key", "rate", "model", "refused", "unreadable", "in a stream", "broken off"],
)
async def test_the_next_endpoint_answers_before_anything_was_shown(
    pair: Pair, failure: Step, caplog: pytest.LogCaptureFixture
) -> None:
    pair.first.add(failure)
    pair.second.add(Step(text="From the other one."))
    with caplog.at_level("INFO"):
        answered(await pair.house.ask("Hello"), "From the other one.")
    assert pair.asked == (1, 1)
    assert pair.second.received[0].body["model"] == "two"
    assert f"endpoint 2 answered instead: two at {pair.second.base_url}" in caplog.text


async def test_an_endpoint_that_cannot_be_reached(pair: Pair) -> None:
    await pair.first.stop()
    pair.second.add(Step(text="Here."))
    answered(await pair.house.ask("Hello"), "Here.")


async def test_no_other_endpoint_once_words_were_shown(pair: Pair) -> None:
    pair.first.add(Step(text="It begins", cut=True))
    shown = await pair.house.ask("Hello")
    assert shown.reply.text == "It begins"
    assert shown.reply.notices
    assert pair.asked == (1, 0)


async def test_words_of_an_earlier_round_count_as_shown(pair: Pair) -> None:
    pair.first.add(Step(text=f"Let me roll:\n`{CALL}`"), DOWN)
    shown = await pair.house.ask("Roll!")
    assert shown.reply.text == "Let me roll:"
    assert pair.asked == (2, 0)


async def test_a_prompt_that_is_too_long_is_not_sent_elsewhere(pair: Pair) -> None:
    too_long = {"error": {"message": "the prompt exceeds the context size"}}
    pair.first.add(Step(status=400, body=too_long))
    shown = await pair.house.ask("Hello")
    assert shown.reply.state == "failed"
    assert pair.asked == (1, 0)


def limited(seconds: str) -> Step:
    body = {"error": {"message": "slow down"}}
    return Step(status=429, body=body, headers={"Retry-After": seconds})


async def test_an_endpoint_that_is_busy_for_a_moment_is_waited_for(pair: Pair) -> None:
    pair.first.add(limited("1"), Step(text="Free again."))
    begun = asyncio.get_running_loop().time()
    shown = await pair.house.ask("Hello")
    answered(shown, "Free again.")
    assert asyncio.get_running_loop().time() - begun >= 1
    assert pair.asked == (2, 0)
    assert shown.reply.waits_for == ""


async def test_it_is_waited_for_once(pair: Pair) -> None:
    pair.first.add(limited("1"), limited("1"))
    pair.second.add(Step(text="From the other."))
    answered(await pair.house.ask("Hello"), "From the other.")
    assert pair.asked == (2, 1)


async def test_a_longer_limit_is_not_waited_for(pair: Pair) -> None:
    pair.first.add(limited("30"))
    pair.second.add(Step(text="From the other."))
    answered(await pair.house.ask("Hello"), "From the other.")
    assert pair.asked == (1, 1)


async def test_a_failure_is_logged_once(pair: Pair, caplog: pytest.LogCaptureFixture) -> None:
    pair.first.add(Step(status=401, body={"error": {"message": "wrong key"}}))
    pair.second.add(DOWN)
    await pair.house.ask("Hello")
    assert caplog.text.count("wrong key") == caplog.text.count("boom") == 1
    assert f"endpoint 1 of server {GUILD}" in caplog.text


async def test_why_the_first_one_failed_is_told_if_all_fail(pair: Pair) -> None:
    pair.first.add(Step(status=401, body={"error": {"message": "wrong key"}}))
    pair.second.add(DOWN)
    shown = await pair.house.ask("Hello")
    assert shown.reply.state == "failed"
    assert shown.reply.notices == ["The model server does not accept the bot's key."]
    assert pair.asked == (1, 1)


@pytest.mark.parametrize("native", [False, True])
async def test_what_tools_did_is_kept_and_not_done_again(pair: Pair, *, native: bool) -> None:
    """The fallback goes on behind the call, in whichever mode it takes calls."""
    verdict = Verdict(structured_calls=native)
    await pair.house.store.verdicts.put(pair.second.base_url, "two", verdict)
    pair.first.add(Step(text=f"`{CALL}`"), DOWN)
    pair.second.add(Step(text="You rolled."))
    shown = await pair.house.ask("Roll!")
    answered(shown, "You rolled.")
    (run,) = shown.reply.runs
    assert run.result is not None
    last = pair.second.received[0].messages[-1]
    assert run.result.text in last["content"]
    assert last["role"] == ("tool" if native else "user")
    assert [turn.role for turn in await pair.house.stored(shown)] == [
        "assistant",
        "tool",
        "assistant",
    ]


async def test_each_endpoint_has_its_own_switches_and_window(pair: Pair) -> None:
    settings = pair.house.store.settings
    await settings.put(GUILD, "one", "tool_mode", "verbatim")
    await settings.put(GUILD, "two", "tool_mode", "off")
    await settings.put(GUILD, "two", "context_window", "1024")
    for _ in range(8):
        pair.first.add(Step(text="word " * 60))
        await pair.house.ask("Tell me more.")
    pair.first.add(DOWN, Step(text="Back again."))
    pair.second.add(Step(text="Briefly."))
    answered(await pair.house.ask("And more?"), "Briefly.")
    before, short = pair.first.received[-1], pair.second.received[0]
    assert "tools" in before.body
    assert "tools" not in short.body
    assert len(short.messages) < len(before.messages) - 4
    answered(await pair.house.ask("Still there?"), "Back again.")
    again = pair.first.received[-1]
    assert len(again.messages) > len(before.messages), "the first one's history is not cut"


async def test_after_failures_in_a_row_the_first_one_is_left_alone(pair: Pair) -> None:
    for _ in range(FAILURES):
        pair.first.add(DOWN)
        pair.second.add(Step(text="Other."))
        answered(await pair.house.ask("Hello"), "Other.")
    pair.second.add(Step(text="At once."))
    answered(await pair.house.ask("Hello"), "At once.")
    assert pair.asked == (FAILURES, FAILURES + 1)


async def test_without_a_fallback_the_member_is_told_when_it_is_tried_again(store: Store) -> None:
    async with LoopbackEndpoint([DOWN] * FAILURES) as endpoint:
        provider = OpenAIProvider(base_url=endpoint.base_url, model="one")
        house = House(store, provider=provider)
        for _ in range(FAILURES):
            await house.ask("Hello")
        shown = await house.ask("Hello")
        assert shown.reply.state == "failed"
        assert shown.reply.notices == [
            "The model server has not answered lately. It is tried again in 30 seconds."
        ]
        assert len(endpoint.received) == FAILURES
        (note,) = (await house.service.overview(GUILD)).notes
        assert note.startswith("Paused")
        await provider.close()


async def test_admins_are_told_which_endpoint_answered(pair: Pair) -> None:
    pair.first.add(DOWN, Step(text="The first."))
    pair.second.add(Step(text="The second."))
    told: list[str] = []
    for _ in range(2):
        shown = await pair.house.ask("Hi")
        made = await pair.house.service.explain(pair.house.place, shown.ids[0])
        assert made is not None
        told.append(made.text.splitlines()[0])
        assert pair.second.base_url not in made.text
    by_the_second, by_the_first = told
    assert by_the_second == (
        "Answered by endpoint 2 in this server's order, with the model two: those before it did "
        "not."
    )
    assert by_the_first.startswith("**Answer 1 of 1**")
