"""Facts: what is found, what is refused, and whose they are."""

import asyncio

import pytest

from data.database import Database
from data.facts import MAX_CHARS, MAX_FACTS, FactLimit, Facts


@pytest.fixture
def facts(database: Database) -> Facts:
    return Facts(database)


async def found(facts: Facts, query: str | None) -> list[str]:
    return [fact.text for fact in await facts.recall(1, 2, query)]


async def test_newest_first_and_told_again_is_renewed(facts: Facts):
    first = await facts.remember(1, 2, "likes tea")
    await facts.remember(1, 2, "has a dog")
    again = await facts.remember(1, 2, "  likes\n tea ")
    assert again.id == first.id
    assert again.at > first.at
    assert await found(facts, None) == ["likes tea", "has a dog"]
    assert await found(facts, "  ") == ["likes tea", "has a dog"]


@pytest.mark.parametrize(
    ("text", "query", "matches"),
    [
        ("Has a Dog", "dog", True),
        ("has two dogs", "the dog's name", True),
        ("likes hotdogs", "dog", False),
        ("sings", "dog's", False),
        ("Wohnt in der HAUPTSTRASSE", "hauptstraße", True),
        ("Ελληνικός ΚΑΦΕΣ", "καφές", False),
        ("Ελληνικός ΚΑΦΕΣ", "καφεσ", True),
        ("İzmir is home", "i\u0307zmir", True),
        ("ｆｕｌｌｗｉｄｔｈ name", "fullwidth", True),
        ("好きな食べ物は寿司です", "寿司", True),
        ("likes 100% juice", "100%", True),
        ("likes tea", "%", False),
        ("likes tea", "_", False),
        ("likes tea", "l_kes", False),
        ("likes tea", "t.a", False),
        ("50 % off", "%", True),
        ("loves 🐶", "🐶", True),
        ("loves 🐱", "🐶", False),
        ("a (b", "(", True),
        ("likes tea", "coffee cake", False),
        ("likes tea", "\ud800", False),
    ],
)
async def test_recall_by_words(facts: Facts, text: str, query: str, matches: bool):
    await facts.remember(1, 2, text)
    assert bool(await found(facts, query)) is matches


async def test_an_old_fact_is_found_among_many(facts: Facts):
    await facts.remember(1, 2, "plays the theremin")
    for number in range(MAX_FACTS - 1):
        await facts.remember(1, 2, f"fact {number}")
    assert await found(facts, "THEREMIN") == ["plays the theremin"]
    assert len(await found(facts, "fact")) == MAX_FACTS - 1


async def test_the_limit_holds_for_each_member_and_guild(facts: Facts):
    for number in range(MAX_FACTS - 1):
        await facts.remember(1, 2, f"fact {number}")
    outcomes = await asyncio.gather(
        *(facts.remember(1, 2, f"late {number}") for number in range(5)), return_exceptions=True
    )
    assert [type(outcome).__name__ for outcome in outcomes].count("FactLimit") == 4
    with pytest.raises(FactLimit, match="one must be forgotten first"):
        await facts.remember(1, 2, "one more")
    assert len(await found(facts, None)) == MAX_FACTS
    await facts.remember(1, 2, "fact 3")
    await facts.remember(1, 3, "one more")
    await facts.remember(9, 2, "one more")


@pytest.mark.parametrize("text", ["", " \n", "x" * (MAX_CHARS + 1)])
async def test_a_fact_has_words_and_an_end(facts: Facts, text: str):
    with pytest.raises(FactLimit, match="1 to 500 characters"):
        await facts.remember(1, 2, text)
    assert await found(facts, None) == []


async def test_the_longest_fact_is_kept_whole(facts: Facts):
    await facts.remember(1, 2, "é" * MAX_CHARS)
    assert await found(facts, None) == ["é" * MAX_CHARS]


async def test_half_a_surrogate_pair_does_no_harm(facts: Facts):
    assert (await facts.remember(1, 2, "a \ud83d b")).text == "a ? b"


async def test_forgetting_returns_what_is_gone_and_only_ones_own(facts: Facts):
    mine = await facts.remember(1, 2, "mine")
    theirs = await facts.remember(1, 3, "theirs")
    elsewhere = await facts.remember(9, 2, "elsewhere")
    assert await facts.forget(1, 2, theirs.id) is None
    assert await facts.forget(1, 2, elsewhere.id) is None
    assert await facts.forget(1, 2, mine.id) == mine
    assert await facts.forget(1, 2, mine.id) is None
    assert await facts.recall(1, 3, None) == [theirs]
    assert await facts.recall(9, 2, None) == [elsewhere]


@pytest.mark.parametrize("number", [0, -1, 2**63, 10**30])
async def test_numbers_that_no_fact_can_have(facts: Facts, number: int):
    assert await facts.forget(1, 2, number) is None


async def test_a_forgotten_number_is_never_given_again(facts: Facts):
    first = await facts.remember(1, 2, "a")
    await facts.forget(1, 2, first.id)
    assert (await facts.remember(1, 2, "b")).id > first.id
