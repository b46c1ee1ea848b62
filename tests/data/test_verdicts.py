"""What was learnt about endpoints."""

import asyncio
from dataclasses import replace

from data.database import Database
from data.verdicts import Verdicts
from prompt.verbatim import Verdict


async def test_nothing_known_is_a_verdict_too(database: Database):
    assert await Verdicts(database).get("http://host/v1", "m") == Verdict()


async def test_the_last_verdict_of_each_pair_holds(database: Database):
    verdicts = Verdicts(database)
    native = Verdict(structured_calls=True, reason="seen in a turn")
    refusing = Verdict(refuses_tools_field=True, reason="answered 400")
    await verdicts.put("http://host/v1", "m", native)
    await verdicts.put("http://host/v1", "n", native)
    await verdicts.put("http://host/v1", "m", refusing)
    assert await verdicts.get("http://host/v1", "m") == refusing
    assert await verdicts.get("http://host/v1", "n") == native
    assert await verdicts.get("http://other/v1", "m") == Verdict()


async def test_switches_that_were_learnt_stay_with_their_model(database: Database):
    verdicts = Verdicts(database)
    learnt = Verdict(learnt={"tool_role": "as_user", "context_window": "4096"})
    await verdicts.put("http://host/v1", "m", learnt)
    assert await verdicts.get("http://host/v1", "m") == learnt
    await verdicts.put("http://host/v1", "m", Verdict())
    assert (await verdicts.get("http://host/v1", "m")).learnt == {}


async def test_how_tokens_are_counted_and_where_a_prompt_was_cut_is_kept(database: Database):
    verdicts = Verdicts(database)
    counted = Verdict(token_ratio=0.8125, cut_at=4077)
    await verdicts.put("http://host/v1", "m", counted)
    assert await verdicts.get("http://host/v1", "m") == counted


async def test_of_changes_at_once_none_is_lost(database: Database):
    verdicts = Verdicts(database)

    async def learn(name: str) -> None:
        await verdicts.change(
            "http://host/v1", "m", lambda now: replace(now, learnt={**now.learnt, name: "on"})
        )

    names = [f"switch {number}" for number in range(10)]
    await asyncio.gather(*(learn(name) for name in names))
    assert (await verdicts.get("http://host/v1", "m")).learnt == dict.fromkeys(names, "on")
