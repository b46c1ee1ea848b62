"""What texts cost, and that no prompt costs more than it may."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prompt.assemble import assemble, texts
from prompt.pricing import ESTIMATES, Pricing, digest
from prompt.prompt import Prompt
from prompt.snapshot import Budget, PromptTooLarge, Snapshot
from prompt.tokens import estimate
from prompt.values import Turn
from tests.prompt.builders import SURFACE, asked, said, snapshot


def counts(whole: Snapshot, *, letters: float) -> dict[bytes, int]:
    """What a tokenizer made of all texts of a snapshot."""
    return {digest(text): round(len(text) / letters) for text in texts(whole)}


def test_a_text_that_was_counted_costs_that_and_what_stands_around_it() -> None:
    pricing = Pricing(counted={digest("Hallo"): 2}, ratio=2.0, overhead=5)
    assert pricing.of("Hallo") == 7
    longer = "Hello there, how are you?"
    assert pricing.of(longer) > 2 * len(longer) / 3.5 + 5
    assert ESTIMATES.of("Hallo") == estimate("Hallo")
    assert (pricing.is_counted("Hallo"), pricing.is_counted("Hello")) == (True, False)


@pytest.mark.parametrize("ratio", [0.5, 1.0, 2.5])
def test_what_has_room_by_estimate_has_room_by_price(ratio: float) -> None:
    pricing = Pricing(counted={}, ratio=ratio, overhead=6)
    for room in (50, 333, 4000):
        text = "x" * int((pricing.estimated(room) - 4) * 3.5)
        assert room * 0.9 <= pricing.of(text) <= room + 1


def test_everything_that_is_sent_is_among_the_texts_to_count() -> None:
    whole = snapshot(dialogue=(asked("One?"), said("assistant", "Yes."), asked("Two?")))
    pricing = Pricing(counted=counts(whole, letters=3.0), overhead=5)
    prompt = assemble(whole, Budget(pricing=pricing))
    assert all(pricing.is_counted(item.text) for item in prompt.all_items)
    assert prompt.report.counted == len(prompt.items)
    assert texts(whole)[-1].startswith("One?"), "the oldest words are counted last"


def price(prompt: Prompt, *, letters: float, overhead: int) -> float:
    """What the endpoint itself would count, the field with it."""
    sent = [*(item.text for item in prompt.all_items), prompt.surface.block]
    return sum(round(len(text) / letters) + overhead for text in sent)


@given(
    dialogue=st.lists(
        st.builds(said, st.sampled_from(["user", "assistant"]), st.text(max_size=400)), max_size=12
    ),
    window=st.integers(400, 6000),
    letters=st.floats(0.7, 6.0),
)
def test_no_prompt_passes_its_budget_where_all_was_counted(
    dialogue: list[Turn], window: int, letters: float
) -> None:
    whole = snapshot(dialogue=(*dialogue, asked("?")), surface=SURFACE)
    pricing = Pricing(counted=counts(whole, letters=letters), overhead=5)
    budget = Budget(window=window, reply_reserve=50, pricing=pricing)
    try:
        prompt = assemble(whole, budget)
    except PromptTooLarge:
        alone = assemble(
            replace(whole, dialogue=whole.dialogue[-1:]), replace(budget, window=10**6)
        )
        assert price(alone, letters=letters, overhead=5) > window - 50
        return
    assert price(prompt, letters=letters, overhead=5) <= window - 50
    assert prompt == assemble(whole, budget)


def test_the_field_costs_nothing_where_the_endpoint_hides_it() -> None:
    whole = snapshot()
    known = counts(whole, letters=3.0)
    shown, hidden = (
        assemble(whole, Budget(pricing=Pricing(counted=known, counts_field=counts_field)))
        for counts_field in (True, False)
    )
    assert shown.report.tokens - hidden.report.tokens == Pricing(counted=known).of(SURFACE.block)
    native = replace(whole, verdict=replace(whole.verdict, structured_calls=True))
    pricing = Pricing(counted=counts(native, letters=3.0), counts_field=False)
    told = assemble(native, Budget(pricing=pricing)).report
    assert told.tokens > sum(stage.tokens for stage in told.stages), "in native mode it is shown"
