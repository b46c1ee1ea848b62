"""The cache contract, kept over conversations of every kind."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from chat.ports import Member, Quote
from data.knowledge import NewDocument
from data.knowledge.values import Context
from prompt.snapshot import Budget
from tests.cache.contract import CacheContract, Sent, common, head
from tests.cache.street import (
    CLEO,
    MEMBERS,
    RECALL,
    ROLL,
    TIME,
    Answer,
    Street,
    remember,
    street,
)
from tests.chat.pictures import png
from tests.chat.scripted import ADA, BOB, GUILD
from tests.loopback.endpoint import Step
from tests.tools.exhibits import Exhibits

MODES = ("auto", "native", "verbatim_only")

NATIVE_ROLL = Step(
    chunks=[
        {
            "id": "c",
            "object": "chat.completion.chunk",
            "choices": [
                {
                    "index": 0,
                    "delta": {
                        "tool_calls": [
                            {
                                "index": 0,
                                "id": "call_0",
                                "type": "function",
                                "function": {"name": "roll_dice", "arguments": '{"dice": "1d4"}'},
                            }
                        ]
                    },
                    "finish_reason": "tool_calls",
                }
            ],
        }
    ]
)

LONG = "and so on and on " * 11 + "and on"


def answers(number: int) -> Sequence[Answer]:
    """What the model does in the turn of this number."""
    match number % 6:
        case 1:
            return (f"Let me see.\n{ROLL}", "You have rolled well.")
        case 2:
            return (f"{TIME}\n{ROLL}", remember(f"fact {number}"), RECALL, "All of it is done.")
        case 3:
            return ('roll_dices({"dice":"2d6"})', ROLL, "That was the right name.")
        case _:
            return (f"Answer {number}: {LONG}",)


async def talk(here: Street, turns: int, *, start: int = 0) -> None:
    """A conversation of three members, who also speak among themselves."""
    for number in range(start, start + turns):
        author = MEMBERS[number % 3]
        if number % 4 == 2:
            here.says(f"chatter {number}", MEMBERS[(number + 1) % 3])
        await here.ask(f"question {number}?", *answers(number), author=author, limit=150)


@pytest.mark.parametrize("mode", MODES)
async def test_thirty_turns(tmp_path: Path, mode: str) -> None:
    async with street(tmp_path, window=32_000) as here:
        await here.switch(tool_mode=mode)
        await talk(here, 30)
        assert len(here.sent) == 60
        here.contract.holds()
        heads = [head(sent, "question 0?") for sent in here.sent]
        assert heads == heads[:1] * len(heads)
        assert len({sent.body["messages"][-1]["content"] for sent in here.sent}) > 30
        assert ("tools" in here.sent[0].body) == (mode != "verbatim_only")


async def test_without_tools(tmp_path: Path) -> None:
    async with street(tmp_path) as here:
        await here.switch(tool_mode="off")
        for number in range(5):
            await here.ask(f"question {number}?", "An answer.")
        here.contract.holds()


async def test_native_calls(tmp_path: Path) -> None:
    """Their ids repeat from turn to turn, as servers give them."""
    async with street(tmp_path) as here:
        await here.switch(tool_mode="native")
        for number in range(4):
            await here.ask(f"question {number}?", NATIVE_ROLL, NATIVE_ROLL, "An answer.")
        here.contract.holds()
        assert any("tool_calls" in message for message in here.sent[-1].body["messages"])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("stable", [False, True], ids=["search", "stable dispatcher"])
async def test_loading_tools(tmp_path: Path, mode: str, stable: bool) -> None:
    shown = Exhibits()
    async with street(tmp_path, toolsets=[shown], window=32_000) as here:
        await here.switch(tool_mode=mode)
        settings = here.store.settings
        await settings.put(GUILD, "", "exposure", "search")
        if stable:
            models = {here.house.provider.endpoint: ["loopback-model"]}
            await settings.put(GUILD, "", "dispatch_models", models)
        search = 'tool_search({"query":"select:set_reminder"})'
        remind = 'set_reminder({"text":"hi","minutes":5})'
        lookup = 'mcp__docs__lookup({"word":"x"})'
        for number in range(3):
            await here.ask(f"remind me {number}", search, remind, "It is set.")
            await here.ask(f"and now {number}?", 'tool_search({"query":"handbook"})', lookup, "So.")
            await here.ask(f"thanks {number}", "Gladly.")
        here.contract.holds()
        assert [name for name, _ in shown.runs] == ["set_reminder", "mcp__docs__lookup"] * 3


async def test_an_admins_change_breaks_once(tmp_path: Path) -> None:
    async with street(tmp_path) as here:
        await talk(here, 4)
        await here.store.settings.put(GUILD, "", "persona", "You are Oak.")
        await talk(here, 4, start=4)
        await here.house.service.toggle(GUILD, "roll_dice", False)
        for number in range(8, 11):
            await here.ask(f"question {number}?", "An answer.")
        here.contract.grows_within_turns()
        assert here.contract.breaks() == [4, 8]


async def test_trimming_breaks_once_a_block(tmp_path: Path) -> None:
    """Whoever replies to the message right before is not quoted, at the cut neither."""
    async with street(tmp_path, window=3100) as here:
        for number in range(24):
            for author in (BOB, ADA):
                before = here.channel().messages[-1:]
                quote = [Quote(message_id=m.id, author=m.author, text=m.text) for m in before]
                message = here.channel().add(
                    author, f"question {number}? {LONG}", reply_to=quote[0] if quote else None
                )
                await here.answer(message, LONG)
        here.contract.grows_within_turns()
        breaks = here.contract.breaks()
        assert len(breaks) >= 4
        apart = min(later - earlier for earlier, later in pairwise(breaks))
        assert apart >= Budget().history_block - 1, breaks
        assert len({str(head(sent, "[from ")) for sent in here.sent}) == 1


async def test_trimming_between_a_question_and_its_late_answer(tmp_path: Path) -> None:
    """Answers to questions that came together stand behind all of them in the channel."""
    async with street(tmp_path, window=2700) as here:
        for number in range(12):
            await here.ask_at_once(
                *((who, f"{who.name} asks {number}", f"to {who.name}: {LONG}") for who in MEMBERS)
            )
        # Of questions that came together only the first has the history of the one before it.
        firsts = [sent for sent in here.sent if sent.question.startswith("Ada")]
        breaks = CacheContract(firsts).breaks()
        assert len(breaks) >= 3
        assert min(later - earlier for earlier, later in pairwise(breaks)) > len(MEMBERS)
        for sent in here.sent:
            for at, message in enumerate(sent.body["messages"]):
                who, _, words = str(message["content"]).removeprefix("to ").partition(": ")
                if words == LONG:
                    assert sent.words(at - 1).endswith(f"[from {who}]")


async def test_more_messages_than_are_read(tmp_path: Path) -> None:
    async with street(tmp_path, window=64_000) as here:
        for number in range(14):
            for place in range(20):
                here.says(f"chatter {number} {place}", BOB)
            await here.ask(f"question {number}?", "An answer.")
        assert len(here.channel().messages) > 300
        assert len(here.contract.breaks()) <= 2


@pytest.mark.parametrize("what", ["edit", "delete a question", "delete an answer"])
async def test_edits_and_deletions_keep_what_stands_before_them(tmp_path: Path, what: str) -> None:
    async with street(tmp_path) as here:
        for number in range(6):
            await here.ask(f"question {number}?", f"answer {number}")
        messages = here.channel().messages
        at = next(at for at, message in enumerate(messages) if message.text == "question 3?")
        if what == "edit":
            messages[at] = replace(messages[at], text="something else")
        else:
            del messages[at + (what == "delete an answer")]
        await here.ask("question 6?", "answer 6")
        await here.ask("question 7?", "answer 7")
        assert here.contract.breaks() == [6]
        before, after = here.sent[5], here.sent[6]
        touched = "answer 3" if what == "delete an answer" else "question 3?"
        assert common(before, after).startswith(before.up_to(touched))


async def test_channels_in_turns_each_keep_their_own(tmp_path: Path) -> None:
    async with street(tmp_path) as here:
        for number in range(6):
            for channel in (1, 2):
                await here.ask(
                    f"question {number}?", ROLL, f"answer {number} {channel}", channel=channel
                )
        here.contract.holds()
        assert len({str(head(sent, "question 0?")) for sent in here.sent}) == 1


async def test_questions_at_once(tmp_path: Path) -> None:
    """Each request begins with some earlier one up to that one's question."""
    async with street(tmp_path) as here:
        for number in range(4):
            await here.ask_at_once(
                *((who, f"{who.name} asks {number}", f"to {who.name}") for who in MEMBERS)
            )
        await here.ask("And now?", "Done.")
        for at, sent in enumerate(here.sent[1:], 1):
            assert any(
                common(before, sent).startswith(before.up_to(before.question))
                for before in here.sent[max(0, at - len(MEMBERS)) : at]
            )


async def test_names_never_move_the_head(tmp_path: Path) -> None:
    async with street(tmp_path) as here:
        await here.ask("question 0?", "An answer.")
        for number in range(1, 14):
            await here.ask(f"question {number}?", "An answer.", author=Member(id=number, name="M"))
        messages = here.channel().messages
        messages[0] = replace(messages[0], author=Member(id=ADA.id, name="Ada the Great"))
        await here.ask("question 14?", "An answer.", author=CLEO)
        heads = [head(sent, "question 0?") for sent in here.sent]
        assert heads == heads[:1] * len(heads)
        assert here.contract.breaks() == [14]


async def test_images_never_move_what_stands_before_them(tmp_path: Path) -> None:
    async with street(tmp_path) as here:
        await here.switch(vision="on")
        for number in range(6):
            files = {"cat.png": png()} if number in (1, 2) else None
            await here.ask(f"question {number}?", ROLL, "An answer.", files=files)
        here.contract.holds()
        shown = ["image_url" in str(sent.body) for sent in here.sent]
        assert True in shown
        assert False in shown[-2:]


@pytest.mark.parametrize("mode", MODES)
async def test_retrieval_never_moves_what_stands_before_it(tmp_path: Path, mode: str) -> None:
    async with street(tmp_path, window=16_000) as here:
        await here.switch(tool_mode=mode)
        knowledge = here.store.knowledge
        made = await knowledge.contexts.create(GUILD, "handbook", ADA.id)
        assert isinstance(made, Context)
        for name, text in (("ferry", "The ferry leaves at noon."), ("lobby", "A map hangs here.")):
            new = NewDocument(name=name, content=text, kind="link", url="", size=30, added_by=1)
            await knowledge.documents.add(made, new)
        await knowledge.contexts.use(await knowledge.contexts.authorise(GUILD, [made.id]))
        for number, about in enumerate(("ferry", "weather", "map", "ferry", "map", "weather")):
            await here.ask(f"question {number} on the {about}?", ROLL, "An answer.")
        here.contract.holds()
        told = ["server's document" in sent.words(sent.asked_at) for sent in here.sent]
        assert told == [yes for yes in (True, False, True, True, True, False) for _ in range(2)]
        heads = [head(sent, "question 0") for sent in here.sent]
        assert heads == heads[:1] * len(heads)


@pytest.mark.parametrize("mode", MODES)
async def test_a_restart_changes_nothing(tmp_path: Path, mode: str) -> None:
    async with street(tmp_path, window=2900) as here:
        await here.switch(tool_mode=mode)
        for number in range(8):
            await talk(here, 1, start=number)
            before = await body_of_the_next(here)
            await here.open()
            assert await body_of_the_next(here) == before
        here.contract.grows_within_turns()
        assert len(here.contract.breaks()) <= 3


async def body_of_the_next(here: Street) -> str:
    made = await here.house.service.snapshot(
        here.house.place, ADA, here.house.channel, here.channel().messages[-1].id
    )
    return made.json


DOWN = Step(status=503, body={"error": {"message": "down"}})


async def test_a_fallback_has_a_cache_of_its_own(tmp_path: Path) -> None:
    async with street(tmp_path, fallback=True) as here:
        first = here.endpoints[0]
        for number in range(8):
            if number < 3:
                first.add(DOWN)
            await here.ask(f"question {number}?", ROLL, "An answer.")
        here.contract.holds()


async def test_a_fallback_keeps_its_history_while_the_first_names_no_model(tmp_path: Path) -> None:
    """Nothing is planned for an endpoint whose model is unknown, so the fallback has to settle
    where history begins."""
    async with street(tmp_path, fallback=True, models=(None, "fallback-model")) as here:
        for number in range(40):
            here.says(f"chatter {number}", BOB)
        await here.endpoints[0].stop()
        for number in range(6):
            await here.ask(f"question {number}?", "An answer.")
        here.contract.holds()


def test_the_contract_notices_what_breaks_it() -> None:
    def sent(turn: int, *messages: str, tools: str = "", question: str) -> Sent:
        body = {"tools": tools, "messages": [{"content": text} for text in messages]}
        return Sent(turn=turn, channel=1, question=question, body=body)

    one = sent(0, "head", "q0 tail", question="q0")
    for other in (
        sent(1, "head at 12:31", "q0", "a", "q1", question="q1"),
        sent(1, "head", "q0", "a", "q1", tools="more", question="q1"),
        sent(1, "head", "q1", question="q1"),
    ):
        assert CacheContract([one, other]).breaks() == [1]
        with pytest.raises(AssertionError):
            CacheContract([one, replace(other, turn=0)]).grows_within_turns()
    CacheContract([one, sent(1, "head", "q0", "a", "q1", question="q1")]).holds()
