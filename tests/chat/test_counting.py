"""What is made of the token counts that endpoints report."""

import re

import pytest

from chat.counting import Count, cut_at, ratio_after, window_of
from data.store import Store
from prompt.snapshot import Budget
from providers.openai.adapter import OpenAIProvider
from tests.chat.house import House
from tests.chat.scripted import ADA, PLACE
from tests.loopback.cutting import CuttingEndpoint, cutting
from tests.loopback.endpoint import LoopbackEndpoint, Step


def count(estimated: int, reported: int, *, fewest: int | None = None) -> Count:
    least = estimated if fewest is None else fewest
    return Count(estimated=estimated, fewest=least, reported=reported)


def test_the_ratio_rises_at_once_falls_slowly_and_keeps_still_in_between() -> None:
    assert ratio_after(None, []) is None
    assert ratio_after(None, [count(1000, 800)]) == 0.8
    assert ratio_after(0.8, [count(1000, 900)]) == 0.9
    assert ratio_after(0.8, [count(1000, 835), count(1000, 765)]) == 0.8
    assert ratio_after(0.8, [count(2000, 1200)]) == pytest.approx(0.75)
    assert ratio_after(0.8, [count(5000, 3500)]) == 0.8, "it may have been cut by a little"


def test_a_report_that_no_vocabulary_explains_changes_nothing() -> None:
    absurd = [count(900, 7), count(900, 4000), count(50, 30), count(900, 0)]
    assert ratio_after(0.8, absurd) == 0.8
    assert ratio_after(None, absurd) is None


@pytest.mark.parametrize(
    ("seen", "ratio", "left"),
    [
        (count(7000, 4050), None, 4050),
        (count(7000, 3900), 0.8, 3900),
        (count(4000, 3000), 0.8, None),  # three quarters: a vocabulary may do that
        (count(6000, 4200), 0.6, None),  # known to count so
        (count(9000, 3000, fewest=2500), None, None),  # Cyrillic: one token for several letters
        (count(900, 300), None, None),
        (count(7000, 300), None, None),  # only what was not in the cache
    ],
)
def test_when_a_prompt_counts_as_cut(seen: Count, ratio: float | None, left: int | None) -> None:
    assert cut_at(seen, ratio) == left


@pytest.mark.parametrize(
    ("left", "window"),
    [(2040, 2048), (1500, 2048), (2049, 3072), (3900, 4096), (4096, 4096), (5000, 8192)],
)
def test_the_window_is_a_usual_one_a_little_above(left: int, window: int) -> None:
    assert window_of(left) == window


def test_a_budget_holds_more_where_the_endpoint_counts_less() -> None:
    plain = Budget(window=8000, reply_reserve=1000)
    assert plain.prompt == 7000
    assert 7000 < Budget(window=8000, reply_reserve=1000, token_ratio=0.7).prompt < 10000
    assert Budget(window=8000, reply_reserve=1000, token_ratio=1.4).prompt < 5000


async def converse(house: House, turns: int) -> None:
    for number in range(turns):
        shown = await house.ask(f"Question {number}: " + "what do you think about it? " * 10)
        assert (shown.reply.state, shown.reply.notices) == ("done", [])


@pytest.mark.parametrize("window", [2048, 4096])
async def test_a_server_that_cuts_from_the_front_gets_smaller_requests(
    store: Store, window: int, caplog: pytest.LogCaptureFixture
) -> None:
    async with cutting(window) as endpoint:
        provider = OpenAIProvider(base_url=endpoint.base_url, model="m")
        house = House(store, provider=provider, window=4 * window)
        await converse(house, 40)
        verdict = await house.verdict()
        overview = await house.service.overview(house.place.guild_id)
        await provider.close()
    assert verdict.learnt["context_window"] == str(window)
    assert verdict.cut_at is not None
    assert window * 0.6 <= verdict.cut_at <= window
    assert overview.context_window == window
    cut = cuts(endpoint)
    assert cut, "the window was never passed"
    after = endpoint.asked[cut[-1] + 1 :]
    assert len(after) >= 5, "prompts are cut until the end"
    assert max(after) <= window
    (warning,) = [record.message for record in caplog.records if "seems to cut" in record.message]
    assert "num_ctx" in warning


def cuts(endpoint: CuttingEndpoint) -> list[int]:
    """The places of prompts that were cut."""
    pairs = zip(endpoint.asked, endpoint.read, strict=True)
    return [place for place, (asked, read) in enumerate(pairs) if read < asked]


@pytest.mark.parametrize("letters", [2.5, 4.2, 5.0])
async def test_a_large_window_is_not_taken_for_a_small_one(store: Store, letters: float) -> None:
    async with cutting(100_000, letters=letters) as endpoint:
        provider = OpenAIProvider(base_url=endpoint.base_url, model="m")
        house = House(store, provider=provider)
        await converse(house, 12)
        verdict = await house.verdict()
        await provider.close()
    assert (verdict.learnt, verdict.cut_at) == ({}, None)
    assert verdict.token_ratio is not None
    assert verdict.token_ratio == pytest.approx(3.5 / letters, rel=0.25)


async def test_a_snapshot_tells_how_far_the_estimate_was_off(store: Store) -> None:
    async with cutting(100_000) as endpoint:
        provider = OpenAIProvider(base_url=endpoint.base_url, model="m")
        house = House(store, provider=provider)
        before = await house.service.snapshot(PLACE, ADA, house.channel, 0)
        await converse(house, 3)
        after = await house.service.snapshot(PLACE, ADA, house.channel, 10**9)
        await provider.close()
    assert "reported" not in before.text
    found = re.search(r"estimate ([\d,]+), reported ([\d,]+), error ([+-]\d+)%", after.text)
    assert found
    assert int(found[2].replace(",", "")) == endpoint.read[-1]
    assert abs(int(found[3])) <= 10


async def test_what_an_admin_set_stays_and_the_cut_is_told_all_the_same(store: Store) -> None:
    async with cutting(2048) as endpoint:
        provider = OpenAIProvider(base_url=endpoint.base_url, model="m")
        house = House(store, provider=provider)
        await house.service.configure(house.place.guild_id, "context_window", "32768")
        await converse(house, 12)
        verdict = await house.verdict()
        overview = await house.service.overview(house.place.guild_id)
        assert "context_window" not in verdict.learnt
        assert verdict.cut_at is not None
        assert "num_ctx" in overview.notes[0]
        endpoint.window = 32768
        await converse(house, 1)
        assert (await house.service.overview(house.place.guild_id)).notes == []
        await provider.close()


async def test_a_server_that_lost_the_question_gets_a_smaller_request(store: Store) -> None:
    lost = Step(status=500, body={"error": {"message": "no user query found in messages"}})
    async with LoopbackEndpoint() as endpoint:
        provider = OpenAIProvider(base_url=endpoint.base_url, model="m")
        house = House(store, provider=provider, window=16384)
        for _ in range(12):
            endpoint.add(Step(text="word " * 250))
            await house.ask("Tell me more.")
        endpoint.add(lost, Step(text="Now it fits."))
        shown = await house.ask("And now?")
        await provider.close()
    assert (shown.reply.text, shown.reply.notices) == ("Now it fits.", [])
    first, second = (len(each.raw) for each in endpoint.received[-2:])
    assert second < first
    assert (await house.verdict()).learnt["context_window"] == "4096"
