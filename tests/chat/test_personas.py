import pytest

from chat.personas import (
    CHANNEL_TEXTS,
    MOST_CHANNELS,
    ChannelTexts,
    Personas,
    Surroundings,
    TextRefused,
    Texts,
    Whereabouts,
    channel_texts,
    texts_of,
)
from chat.ports import Place
from data.store import Store
from prompt.values import Json
from tests.chat.house import House
from tests.chat.scripted import ADA, PLACE, say

GUILD = 7
HERE = Place(guild_id=GUILD, channel_id=70)


async def test_what_is_no_variable_breaks_no_turn_and_is_named(store: Store) -> None:
    house = House(store)
    guild = PLACE.guild_id or 0
    await store.settings.put(guild, "", "persona", "You are {{ moon }}Ivy, {{ model }}.")
    await store.settings.put(guild, "", "server_rules", "{% for x in y %}")
    await house.ask("Hi", [say("Hello.")])
    assert f"You are Ivy, {house.model.model}." in house.requests[0].words
    assert "{% for x in y %}" in house.requests[0].words
    shown = await house.service.snapshot(PLACE, ADA, house.channel, 10**9)
    assert "remark: persona: moon is no variable and is empty" in shown.text
    assert (
        "remark: server rules: taken as it stands: line 1, jinja2 says: Unexpected end"
        in shown.text
    )


@pytest.mark.parametrize(
    ("own", "parent", "persona", "notes"),
    [
        (ChannelTexts(persona="B", notes="N"), None, "A\n\nB", "M\n\nN"),
        (ChannelTexts(persona="B", how="replace"), None, "B", "M"),
        (ChannelTexts(notes="N", how="replace"), None, "A", "M\n\nN"),
        (ChannelTexts(persona="B"), 71, "A", "M"),
    ],
)
def test_how_a_channels_texts_stand_to_the_servers(
    own: ChannelTexts, parent: int | None, persona: str, notes: str
) -> None:
    wide: dict[str, Json] = {
        "persona": "A",
        "pinned_notes": "M",
        CHANNEL_TEXTS: {"70": own.as_json, "x": {}, "72": {"persona": 1}},
    }
    made = texts_of(wide, HERE, Surroundings(parent_id=parent), default="D", model="m")
    assert (made.persona, made.rules, made.notes) == (persona, "", notes)
    assert channel_texts(wide) == {70: own}
    assert texts_of({}, HERE, Surroundings(), default="D", model="m").persona == "D"


async def test_texts_of_a_channel_are_checked_bounded_and_forgotten(store: Store) -> None:
    personas = Personas(store, Whereabouts())
    with pytest.raises(TextRefused, match="notes, line 1: a loop"):
        await personas.set_channel(GUILD, 1, ChannelTexts(notes="{% for x in y %}{% endfor %}"))
    with pytest.raises(TextRefused, match="persona: at most 4000"):
        await personas.set_server(GUILD, Texts(persona="x" * 4001))
    for channel in range(MOST_CHANNELS):
        await personas.set_channel(GUILD, channel, ChannelTexts(persona="x"))
    with pytest.raises(TextRefused, match="Empty those of another channel first"):
        await personas.set_channel(GUILD, 99, ChannelTexts(persona="x"))
    for channel in range(MOST_CHANNELS):
        await personas.set_channel(GUILD, channel, ChannelTexts(persona="  "))
    assert await store.settings.values(GUILD, "") == {}
