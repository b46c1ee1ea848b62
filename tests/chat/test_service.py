import json
import logging

import pytest

from chat.account import REDACTED
from chat.ports import Place
from chat.service import Generation
from data.errors import StoreError
from data.store import Store
from prompt.snapshot import PromptTooLarge
from prompt.verbatim import Verdict
from tests.chat.house import House
from tests.chat.scripted import ADA, BOB, CHANNEL, GUILD, PLACE, call, say

ROLL = call("roll_dice", dice="1d6")


def full() -> StoreError:
    return StoreError("The disk is full.", remedy="Free some space.")


async def test_a_message_is_claimed_once_over_restarts(house: House) -> None:
    assert await house.service.claim(5)
    assert not await house.service.claim(5)
    assert not await house.restarted().claim(5)
    assert await house.service.claim(6)


# Trouble with the store.


async def test_an_answer_is_not_lost_when_it_cannot_be_stored(
    house: House, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail(*_: object) -> None:
        raise full()

    monkeypatch.setattr(house.store.turns, "save", fail)
    shown = await house.ask("Roll!", [ROLL], [say("A four.")])
    assert (shown.reply.text, shown.reply.state, shown.reply.notices) == ("A four.", "done", [])
    assert "answered but not stored: The disk is full." in caplog.text


async def test_a_verdict_that_cannot_be_stored_costs_no_answer(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object) -> None:
        raise full()

    monkeypatch.setattr(house.store.verdicts, "put", fail)
    native = call("roll_dice", dice="1d6", origin="native")
    shown = await house.ask("Roll!", [native], [say("A four.")])
    assert (shown.reply.text, shown.reply.state) == ("A four.", "done")


async def test_a_store_that_cannot_be_read_ends_in_a_line(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object) -> None:
        raise full()

    monkeypatch.setattr(house.store.settings, "values", fail)
    shown = await house.ask("Hi")
    assert shown.reply.state == "failed"
    assert shown.reply.notices == ["The bot's database has a problem. Its operator is told how."]
    assert shown.reply.remedy == "The disk is full. Free some space."
    assert house.requests == []


async def test_a_tool_that_meets_a_store_error_is_a_failed_tool(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object) -> None:
        raise full()

    monkeypatch.setattr(house.store.facts, "remember", fail)
    shown = await house.ask("Remember!", [call("remember", fact="x")], [say("It failed.")])
    assert shown.reply.text == "It failed."
    assert "disk" not in house.requests[1].words


async def test_a_tool_acts_for_the_asking_member_in_this_guild_only(house: House) -> None:
    remember = call("remember", fact="I like tea.")
    await house.ask("Remember!", [remember], [say("Done.")], author=BOB)
    kept = {
        (guild, member): [fact.text for fact in await house.store.facts.recall(guild, member, None)]
        for guild in (0, GUILD)
        for member in (ADA.id, BOB.id)
    }
    assert [who for who, facts in kept.items() if facts] == [(GUILD, BOB.id)]


async def test_message_text_is_never_logged(house: House, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    remember = call("remember", fact="xyzzy-fact")
    await house.ask("xyzzy-question", [say("xyzzy-words"), remember], [say("xyzzy-answer")])
    assert "xyzzy" not in caplog.text


# Size.


async def test_a_prompt_that_does_not_fit_is_refused_before_any_request(store: Store) -> None:
    house = House(store, window=2000, reserve=200)
    shown = await house.ask("word " * 3000)
    assert shown.reply.state == "failed"
    assert "Shorten the message" in shown.reply.notices[0]
    assert house.requests == []
    with pytest.raises(PromptTooLarge):
        await house.service.snapshot(PLACE, ADA, house.channel, house.channel.messages[0].id)


def test_an_unknown_window_counts_as_8192() -> None:
    budget = Generation(max_reply_tokens=1000, temperature=None, context_window=None).budget
    assert (budget.window, budget.reply_reserve, budget.prompt) == (8192, 1000, 7192)


def test_a_reply_never_takes_more_than_half_of_a_small_window() -> None:
    budget = Generation(max_reply_tokens=5000, temperature=None, context_window=2048).budget
    assert (budget.reply_reserve, budget.prompt) == (1024, 1024)


# Switches.


async def test_a_switch_holds_for_its_guild_and_model(house: House) -> None:
    await house.service.configure(GUILD, "nudge", "no")
    overview = await house.service.overview(GUILD)
    values = {switch.name: switch.value for switch in overview.switches}
    assert (values["tool_mode"], values["has_tools"], values["nudge"]) == ("auto", "on", "off")
    other = await house.service.overview(GUILD + 1)
    assert all(switch.value == switch.default for switch in other.switches)
    assert await house.store.settings.values(GUILD, "scripted") == {"nudge": "off"}


@pytest.mark.parametrize(("name", "value"), [("nudge", "loud"), ("nonsense", "on"), ("", "")])
async def test_a_bad_switch_is_refused_in_words_and_not_stored(
    house: House, name: str, value: str
) -> None:
    with pytest.raises(ValueError, match=r"is one of|There is no switch"):
        await house.service.configure(GUILD, name, value)
    assert await house.store.settings.values(GUILD, "scripted") == {}


async def test_the_overview_tells_what_is_known(house: House) -> None:
    overview = await house.service.overview(GUILD)
    assert (overview.endpoint, overview.model) == ("http://127.0.0.1:1/v1", "scripted")
    assert (overview.mode, overview.tool_mode, overview.verdict) == ("verbatim", "auto", Verdict())
    assert overview.context_window is None
    native = call("roll_dice", dice="1d6", origin="native")
    await house.ask("Roll!", [native], [say("Done.")])
    overview = await house.service.overview(GUILD)
    assert (overview.mode, overview.verdict.structured_calls) == ("native", True)


async def test_direct_messages_have_switches_of_their_own(house: House) -> None:
    await house.service.configure(None, "tool_mode", "off")
    assert (await house.service.overview(None)).mode == "off"
    assert (await house.service.overview(GUILD)).mode == "verbatim"


async def test_tools_are_listed_with_whether_and_why(house: House) -> None:
    listed = await house.service.tools(GUILD)
    assert [entry.name for entry in listed] == [
        "roll_dice",
        "current_time",
        "remember",
        "recall",
        "forget",
    ]
    assert all(entry.enabled and entry.why == "built in" for entry in listed)
    assert [entry.read_only for entry in listed] == [True, True, False, True, False]
    await house.service.configure(GUILD, "has_tools", "off")
    listed = await house.service.tools(GUILD)
    assert not any(entry.enabled for entry in listed)
    assert all("/config workarounds" in entry.why for entry in listed)


# Snapshots.


async def test_a_snapshot_is_the_prompt_of_the_next_turn(house: House) -> None:
    house.channel.add(BOB, "Hello all.")
    asked = house.request("Roll!")
    shown = await house.service.snapshot(PLACE, ADA, house.channel, asked.message.id)
    house.model.add([say("Done.")])
    await house.service.respond(asked, house.channel, house.presenter())
    (request,) = house.requests
    assert json.loads(shown.json) == json.loads(json.dumps(request.body))
    assert shown.prefix_hash == request.prompt.report.prefix_hash
    for item in request.prompt.items:
        assert item.text in shown.text
        assert f"--- {item.tag} | {item.role} | {item.zone} | ~" in shown.text


async def test_a_snapshot_tells_sizes(house: House) -> None:
    asked = house.request("Roll!")
    text = (await house.service.snapshot(PLACE, ADA, house.channel, asked.message.id)).text
    head, _, _ = text.partition("\n--- ")
    assert "mode verbatim, about" in head
    assert "5 tools" in head
    assert [line.split()[0] for line in head.splitlines()[4:] if line] == [
        "persona",
        "server_rules",
        "clock_in_head",
        "demonstrations",
        "tool_definitions",
        "deferred_names",
        "pinned_notes",
        "dialogue",
        "knowledge",
        "images",
        "clock",
        "nudge",
    ]


async def test_keys_are_blotted_out_of_a_snapshot(store: Store) -> None:
    key, longer, odd = "sk-0123456789", "sk-0123456789-and-more", 'quo"te\\slash-key'
    house = House(store, secrets=[key, "", longer, odd])
    asked = house.request(f"My keys are {longer}, {key} and {odd}.")
    shown = await house.service.snapshot(PLACE, ADA, house.channel, asked.message.id)
    for made in (shown.text, shown.json):
        assert "sk-0123" not in made
        assert "and-more" not in made
        assert "te\\" not in made
        assert made.count(REDACTED) == 3
    assert json.loads(shown.json)["model"] == "scripted"


async def test_a_snapshot_of_an_empty_channel(house: House) -> None:
    place = Place(guild_id=None, channel_id=CHANNEL)
    shown = await house.service.snapshot(place, ADA, house.channel, 0)
    assert "0 exchanges trimmed" in shown.text
    assert json.loads(shown.json)["messages"][0] == {"role": "system", "content": "You are Fern."}


async def test_a_guild_can_have_a_persona_and_rules_of_its_own(house: House) -> None:
    await house.store.settings.put(GUILD, "", "persona", "You are Ivy.")
    await house.store.settings.put(GUILD, "", "server_rules", "No spoilers.")
    await house.ask("Hi", [say("Hello.")])
    assert house.requests[0].messages[0]["content"] == "You are Ivy.\n\nNo spoilers."
