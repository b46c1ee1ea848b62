"""Contexts belong to a guild, and channels choose among them."""

import pytest

from data.knowledge import BadName, Context, Knowledge, NameTaken


async def made(knowledge: Knowledge, guild_id: int, name: str) -> Context:
    context = await knowledge.contexts.create(guild_id, name, 1)
    assert isinstance(context, Context)
    return context


async def test_names_are_taken_whatever_their_case(knowledge: Knowledge):
    radio = await made(knowledge, 42, "  Radio \n Straße ")
    assert radio.name == "Radio Straße"
    assert await knowledge.contexts.create(42, "RADIO STRASSE", 2) == NameTaken(context=radio)
    assert await knowledge.contexts.named(42, "radio straße") == radio
    assert await knowledge.contexts.named(7, "radio straße") is None
    await made(knowledge, 7, "Radio Straße")
    assert await knowledge.contexts.all(42) == [radio]


@pytest.mark.parametrize("name", ["", " \n", "x" * 65])
async def test_a_name_has_words_and_an_end(knowledge: Knowledge, name: str):
    assert await knowledge.contexts.create(42, name, 1) == BadName(longest=64)


async def test_a_guild_is_authorised_for_its_own_alone(knowledge: Knowledge):
    a, b = await made(knowledge, 42, "a"), await made(knowledge, 42, "b")
    theirs = await made(knowledge, 7, "a")
    authorised = await knowledge.contexts.authorise(42, [theirs.id, "B", b.id, "nope", 99])
    assert (authorised.guild_id, authorised.contexts) == (42, (b,))
    assert (await knowledge.contexts.authorise(42, [a.id, "b"])).contexts == (a, b)
    assert (await knowledge.contexts.authorise(42, [])).contexts == ()
    assert (await knowledge.contexts.authorise(7, [a.id, "b"])).contexts == ()


async def test_a_channels_choice_comes_before_the_guilds(knowledge: Knowledge):
    a, b = await made(knowledge, 42, "a"), await made(knowledge, 42, "b")
    contexts = knowledge.contexts
    assert (await contexts.selected(42, 5)).contexts == ()
    await contexts.use(await contexts.authorise(42, ["a"]))
    await contexts.use(await contexts.authorise(42, ["a", "b"]), 5)
    await contexts.use(await contexts.authorise(42, ["b"]), 5)
    assert (await contexts.selected(42, 5)).contexts == (b,)
    assert (await contexts.selected(42, 6)).contexts == (a,)
    assert await contexts.uses(42) == [(0, a), (5, b)]
    assert await contexts.uses(7) == []
    assert (await contexts.selected(7, 5)).contexts == ()
    await contexts.use(await contexts.authorise(42, []), 5)
    assert (await contexts.selected(42, 5)).contexts == (a,)


async def test_what_was_deleted_meanwhile_is_not_chosen(knowledge: Knowledge):
    await made(knowledge, 42, "a")
    authorised = await knowledge.contexts.authorise(42, ["a"])
    await knowledge.delete(authorised.contexts[0])
    await knowledge.contexts.use(authorised)
    assert await knowledge.contexts.uses(42) == []
