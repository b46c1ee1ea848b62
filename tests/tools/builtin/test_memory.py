import pytest

from data.facts import MAX_CHARS, MAX_FACTS
from data.store import Store
from tests.tools.conftest import Contexts
from tools.builtin.memory import forget, recall, remember
from tools.registry import ToolFailure


async def test_a_fact_is_kept_found_and_forgotten(context: Contexts) -> None:
    assert (await remember.run(context(), {"fact": "I like  tea."})).text == (
        "Remembered as fact 1: I like tea."
    )
    assert (await recall.run(context(), {})).text == "Fact 1: I like tea."
    assert (await forget.run(context(), {"fact_id": 1})).text == "Forgotten: I like tea."
    assert (await recall.run(context(), {})).text == "Nothing is remembered about this member."


async def test_a_query_finds_what_shares_a_word(context: Contexts) -> None:
    for fact in ("I like tea.", "My cat is called Mog."):
        await remember.run(context(), {"fact": fact})
    assert (
        await recall.run(context(), {"query": "which cat"})
    ).text == "Fact 2: My cat is called Mog."


async def test_a_query_that_finds_nothing_lists_all(context: Contexts) -> None:
    await remember.run(context(), {"fact": "My cat is called Mog."})
    assert (await recall.run(context(), {"query": "pets"})).text == "Fact 1: My cat is called Mog."


@pytest.mark.parametrize("other", [(2, 10), (1, 11), (0, 10)], ids=["guild", "member", "DM"])
async def test_nobodys_facts_exist_for_anyone_else(
    context: Contexts, other: tuple[int, int]
) -> None:
    await remember.run(context(1, 10), {"fact": "I like tea."})
    stranger = context(*other)
    assert (await recall.run(stranger, {})).text == "Nothing is remembered about this member."
    assert (await recall.run(stranger, {"query": "tea"})).text == (
        "Nothing is remembered about this member."
    )
    with pytest.raises(ToolFailure, match="no fact 1"):
        await forget.run(stranger, {"fact_id": 1})
    assert (await recall.run(context(1, 10), {})).text == "Fact 1: I like tea."


@pytest.mark.parametrize("fact_id", [0, -1, 7, 2**70])
async def test_forgetting_what_is_not_there_tells_how_to_look(
    context: Contexts, fact_id: int
) -> None:
    with pytest.raises(ToolFailure, match="Call recall"):
        await forget.run(context(), {"fact_id": fact_id})


async def test_a_limit_is_told_in_words(context: Contexts, store: Store) -> None:
    with pytest.raises(ToolFailure, match=f"1 to {MAX_CHARS} characters"):
        await remember.run(context(), {"fact": " \n "})
    for number in range(MAX_FACTS):
        await store.facts.remember(1, 10, f"fact {number}")
    with pytest.raises(ToolFailure, match=f"{MAX_FACTS} facts are kept already"):
        await remember.run(context(), {"fact": "one more"})
