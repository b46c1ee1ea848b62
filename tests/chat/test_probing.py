"""What a test of an endpoint changes for the turns after it."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from chat.desk import open_desk
from chat.guild_setup import Wish
from chat.probing import Outdated, Prober, applicable
from chat.scheduler import Schedulers
from data.keys import open_keys
from data.store import Store
from prompt.verbatim import Verdict
from providers.openai.adapter import Limits, OpenAIProvider
from providers.openai.guilds import guilds_provider
from providers.probe import Findings
from tests.chat.house import House, SoleEndpoint
from tests.chat.scripted import ScriptedModel
from tests.loopback.cast import BY_NAME, LOST_IN_STREAMS
from tests.loopback.personalities import PersonalEndpoint, Personality, serving

NONE_SEEN = Verdict()


class Stand:
    """A house in front of a personality, and the prober of its endpoint."""

    def __init__(self, store: Store, provider: OpenAIProvider, endpoint: PersonalEndpoint) -> None:
        self.house = House(store, provider=provider)
        self.prober = Prober(store=store, routes=SoleEndpoint(provider), seconds=30, quiet=0)
        self.endpoint = endpoint

    async def test(self) -> Findings:
        findings = await self.prober.probe(7)
        await self.prober.apply(7, findings)
        return findings

    async def roll(self) -> str:
        shown = await self.house.ask("Please roll 2d6")
        return shown.reply.text

    async def switch(self, name: str) -> str:
        overview = await self.house.service.overview(7)
        return next(switch.value for switch in overview.switches if switch.name == name)


@asynccontextmanager
async def bench(store: Store, personality: Personality) -> AsyncGenerator[Stand]:
    async with serving(personality) as endpoint:
        provider = OpenAIProvider(
            base_url=endpoint.base_url, model="local-model", limits=Limits(first_token=5, idle=5)
        )
        try:
            yield Stand(store, provider, endpoint)
        finally:
            await provider.close()


async def test_calls_that_are_lost_in_streams_work_after_a_test(store: Store) -> None:
    async with bench(store, LOST_IN_STREAMS) as here:
        assert not (await here.roll()).startswith("The dice say")
        findings = await here.test()
        assert findings.native_tools == "only_unstreamed"
        assert await here.switch("stream_with_tools") == "whole"
        assert (await here.house.verdict()).structured_calls
        assert (await here.roll()).startswith("The dice say 2d6: ")


async def test_a_refusal_costs_no_turn_anything_after_a_test(store: Store) -> None:
    async with bench(store, BY_NAME["vLLM without a tool parser"]) as here:
        await here.test()
        before = len(here.endpoint.refused)
        assert (await here.roll()).startswith("The dice say 2d6: ")
        assert len(here.endpoint.refused) == before
        verdict = await here.house.verdict()
        assert verdict.refuses_tools_field
        assert "--enable-auto-tool-choice" in verdict.reason
        assert await here.switch("context_window") == "40960"


async def test_the_operators_endpoint_is_tested_once_if_nothing_is_known_of_it(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    async with bench(store, BY_NAME["LM Studio"]) as here:
        with caplog.at_level("INFO"):
            await here.prober.probe_unknown()
        asked = len(here.endpoint.bodies)
        assert asked > 0
        (said,) = [each.message for each in caplog.records if "The operator: " in each.message]
        assert "test calls worked" in said
        assert "{" not in said
        await here.prober.probe_unknown()
        assert len(here.endpoint.bodies) == asked


async def test_the_operators_fallbacks_are_tested_too_and_also_behind_one_that_is_down(
    store: Store,
) -> None:
    down = OpenAIProvider(
        base_url="http://127.0.0.1:9/v1", model="none", limits=Limits(first_token=1, idle=1)
    )
    async with (
        bench(store, BY_NAME["LM Studio"]) as here,
        bench(store, LOST_IN_STREAMS) as behind,
    ):
        routes = SoleEndpoint(here.house.provider, down, behind.house.provider)
        prober = Prober(store=store, routes=routes, seconds=30, quiet=0)
        await prober.probe_unknown()
        verdict = await behind.house.verdict()
        assert verdict.learnt["stream_with_tools"] == "whole"
        asked = len(here.endpoint.bodies), len(behind.endpoint.bodies)
        assert min(asked) > 0
        await prober.probe_unknown()
        assert (len(here.endpoint.bodies), len(behind.endpoint.bodies)) == asked
    await down.close()


async def test_a_test_waits_in_line_with_turns(store: Store) -> None:
    async with bench(store, BY_NAME["LM Studio"]) as here:
        schedulers = Schedulers()
        prober = Prober(
            store=store, routes=SoleEndpoint(here.house.provider), schedulers=schedulers, seconds=30
        )
        async with schedulers.of(here.endpoint.base_url).slot():
            testing = asyncio.create_task(prober.probe(7))
            await asyncio.sleep(0.2)
            assert here.endpoint.bodies == []
        assert (await testing).answered


async def test_a_test_that_nobody_waits_for_lets_turns_go_first(store: Store) -> None:
    async with bench(store, BY_NAME["LM Studio"]) as here:
        schedulers = Schedulers()
        prober = Prober(
            store=store,
            routes=SoleEndpoint(here.house.provider),
            schedulers=schedulers,
            seconds=30,
            quiet=0.1,
        )
        scheduler = schedulers.of(here.endpoint.base_url)
        clock = asyncio.get_running_loop().time
        begun = clock()
        testing = asyncio.create_task(prober.probe_unknown())
        while not here.endpoint.bodies:
            await asyncio.sleep(0.002)
        assert clock() - begun >= 0.1
        async with asyncio.timeout(10), scheduler.slot():
            await asyncio.sleep(0.3)  # what was sent before it was given up may still arrive
            before = len(here.endpoint.bodies)
            await asyncio.sleep(0.3)
            assert len(here.endpoint.bodies) == before
        await testing
        assert len(here.endpoint.bodies) > before
        assert (await here.house.verdict()).reason


async def test_what_an_admin_set_wins(store: Store) -> None:
    async with bench(store, LOST_IN_STREAMS) as here:
        await here.house.service.configure(7, "stream_with_tools", "stream")
        await here.test()
        assert await here.switch("stream_with_tools") == "stream"


async def test_a_call_that_was_seen_stays_seen(store: Store) -> None:
    async with bench(store, BY_NAME["LM Studio"]) as here:
        key = here.house.provider.endpoint
        seen = replace(NONE_SEEN, structured_calls=True, reason="seen in a turn")
        await store.verdicts.put(key, "local-model", seen)
        findings = await here.test()
        assert findings.native_tools == "only_as_text"
        verdict = await here.house.verdict()
        assert (verdict.structured_calls, verdict.reason) == (True, "seen in a turn")


async def test_a_field_that_is_taken_again_is_no_longer_refused(store: Store) -> None:
    async with bench(store, BY_NAME["TabbyAPI"]) as here:
        key = here.house.provider.endpoint
        await store.verdicts.put(key, "local-model", replace(NONE_SEEN, refuses_tools_field=True))
        await here.test()
        verdict = await here.house.verdict()
        assert (verdict.structured_calls, verdict.refuses_tools_field) == (True, False)


async def test_findings_of_another_endpoint_are_not_applied(store: Store) -> None:
    async with bench(store, BY_NAME["TabbyAPI"]) as here:
        findings = await here.prober.probe(7)
        with pytest.raises(Outdated):
            await here.prober.apply(7, replace(findings, model="another"))
        assert await here.house.verdict() == NONE_SEEN


def test_a_window_that_no_turn_would_fit_into_is_not_applied() -> None:
    findings = Findings(endpoint="e", model="m", context_window=512)
    assert applicable(findings) == {}
    assert applicable(replace(findings, context_window=2048)) == {"context_window": "2048"}


async def settled(condition: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(10):
        while not await condition():
            await asyncio.sleep(0.01)


async def test_a_test_in_the_background_applies_what_follows(store: Store) -> None:
    async with bench(store, LOST_IN_STREAMS) as here:
        here.prober.later(7)

        async def learnt() -> bool:
            return await here.switch("stream_with_tools") == "whole"

        await settled(learnt)
        await here.prober.close()


async def test_closing_and_a_newer_change_give_a_test_up(store: Store) -> None:
    slow = replace(BY_NAME["TabbyAPI"], pause=0.2)
    async with bench(store, slow) as here:
        for _ in range(3):
            here.prober.later(7)
            await asyncio.sleep(0.05)
        await here.prober.close()
        asked = len(here.endpoint.bodies)
        assert asked <= 3
        await asyncio.sleep(0.3)
        assert len(here.endpoint.bodies) == asked
        assert await here.house.verdict() == NONE_SEEN


async def test_a_test_in_the_background_that_gets_no_answer_changes_nothing(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="chat.probing")
    async with serving(BY_NAME["TabbyAPI"]) as endpoint:
        pass
    provider = OpenAIProvider(base_url=endpoint.base_url)
    prober = Prober(store=store, routes=SoleEndpoint(provider), quiet=0)
    prober.later(7)

    async def logged() -> bool:
        return "could not be tested" in caplog.text

    await settled(logged)
    await prober.close()
    await provider.close()
    assert [record.levelname for record in caplog.records] == ["INFO"]


async def test_an_endpoint_that_a_guild_brings_is_tested_by_itself(
    store: Store, tmp_path: Path
) -> None:
    desk = open_desk(
        store,
        open_keys(tmp_path, None),
        operators=ScriptedModel(),
        with_model=lambda model: ScriptedModel(),
        connect=partial(guilds_provider, limits=Limits()),
        approved_guilds="ask",
        dms=None,
        probes_changes=True,
    )
    desk.admission.introduce({1}, is_public=True)
    async with serving(LOST_IN_STREAMS) as endpoint:
        await desk.setup.set_endpoint(7, Wish(url=endpoint.base_url), by=1)
        brought = await desk.setup.endpoint(7)
        assert brought is not None

        async def learnt() -> bool:
            verdict = await store.verdicts.get(brought.id, "local-model")
            return verdict.learnt.get("stream_with_tools") == "whole"

        await settled(learnt)
        await desk.setup.set_endpoint(
            7, Wish(url=endpoint.base_url, model="other"), by=1, added=True
        )
        _, fallback = await desk.setup.endpoints(7)

        async def learnt_of_the_fallback() -> bool:
            verdict = await store.verdicts.get(fallback.id, "other")
            return verdict.learnt.get("stream_with_tools") == "whole"

        await settled(learnt_of_the_fallback)
        await desk.setup.set_channel_model(7, 5, "apart", by=1)

        async def learnt_of_the_channels_model() -> bool:
            verdict = await store.verdicts.get(brought.id, "apart")
            return verdict.learnt.get("stream_with_tools") == "whole"

        await settled(learnt_of_the_channels_model)
        await desk.prober.close()
        await desk.endpoints.close()
