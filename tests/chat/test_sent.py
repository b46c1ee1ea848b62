"""What was sent in recent turns: kept in little room, compared, masked."""

import asyncio
import json
from typing import Any

from chat.account import PromptSnapshot
from chat.differing import difference
from chat.masking import crossed_out, masked
from chat.ports import Member, Place
from chat.sent import Sent, SentRequests, sent
from data.store import Store
from prompt.events import Usage
from prompt.prompt import Prompt, Report
from prompt.surface import ToolSurface, canonical_json
from prompt.values import PromptItem, Zone
from tests.chat.house import House
from tests.chat.scripted import ADA, PLACE, call, say
from tests.providers.openai.encoded import encode_messages

BO = Member(id=8, name="Bo [x]")


def items(*said: str, persona: str = "You are Fern.", tail: str = "(nudge)") -> list[PromptItem]:
    return [
        PromptItem(tag="persona", role="system", text=persona, zone=Zone.STABLE),
        *(
            PromptItem(
                tag="dialogue",
                role="assistant" if place % 2 else "user",
                text=text,
                zone=Zone.HISTORY,
            )
            for place, text in enumerate(said)
        ),
        PromptItem(tag="verbatim_nudge", role="user", text=tail, zone=Zone.TAIL),
    ]


def request(*said: str, usage: Usage | None = None, **texts: str) -> Sent:
    prompt = Prompt(
        items=tuple(items(*said, **texts)),
        surface=ToolSurface(),
        report=Report(mode="verbatim_only"),
    )
    body = {"model": "m", "messages": encode_messages(prompt), "stream": True}
    return sent(prompt, body, usage)


async def test_requests_come_back_as_they_were_and_what_they_share_is_kept_once() -> None:
    kept = SentRequests()
    long = [f"{number} " + "word " * 300 for number in range(40)]
    sizes: list[int] = []
    last = request()
    for turn in range(10):
        last = request(*long[: 20 + turn * 2], persona="p" * 4000)
        kept.keep(PLACE, [turn], [last])
        sizes.append(kept.size)
    # A turn adds its own words, not the whole conversation anew.
    assert sizes[-1] < sizes[0] * 3
    found = kept.of_message(PLACE, 9)
    assert found is not None
    assert list(found.requests) == [last]
    assert found.before == request(*long[:36], persona="p" * 4000)
    assert kept.of_message(PLACE, 11) is None
    assert kept.of_message(Place(guild_id=PLACE.guild_id, channel_id=1), 9) is None
    assert PLACE.guild_id is not None
    kept.forget(PLACE.guild_id)
    assert (kept.size, kept.of_message(PLACE, 9)) == (0, None)


async def test_the_oldest_go_when_they_are_many_large_or_old() -> None:
    few = SentRequests(most_turns=2)
    small = SentRequests(most_bytes=2500)
    brief = SentRequests(kept_for=0.05)
    for turn in range(4):
        for each in (few, small, brief):
            each.keep(PLACE, [turn], [request(f"{turn} {hash(str(turn)) ** 40}")])
    assert [few.of_message(PLACE, turn) is not None for turn in range(4)] == [False] * 2 + [
        True
    ] * 2
    assert small.size <= 2500
    assert small.of_message(PLACE, 0) is None
    assert small.of_message(PLACE, 3) is not None
    await asyncio.sleep(0.15)
    assert brief.size == 0
    private = Place(guild_id=None, channel_id=1)
    few.keep(private, [9], [request("hi")])
    assert few.of_message(private, 9) is None


def test_the_first_difference_is_told_with_its_place_and_cost() -> None:
    before = request("hello\n[from Ada]", "Hi!", "and " * 100)
    assert difference(before, before) is None
    changed = request("hello\n[from Ada]", "Hi!", "or " * 100)
    found = difference(before, changed)
    assert found is not None
    assert found.where == "dialogue (history), in message 4 (user)"
    texts = [canonical_json(each.body).encode() for each in (before, changed)]
    assert texts[0][: found.byte] == texts[1][: found.byte]
    assert texts[0][found.byte] != texts[1][found.byte]
    assert found.lost > 100
    assert found.before.startswith("and and")
    other = difference(before, request("hello\n[from Ada]", persona="You are Ivy."))
    assert other is not None
    assert other.where == "persona (stable), in message 1 (system)"
    assert other.shared < 10
    head = difference(before, Sent(items=(), body={**before.body, "tools": [1]}, mode="verbatim"))
    assert head is not None
    assert (head.where, head.shared) == ("the field tools", 0)


def test_members_are_masked_and_the_form_stays() -> None:
    said = ["My cat Tom is 12!\n[from Ada]", '`remember({"fact":"Ada\'s cat","n":[1]})`']
    clear = request(*said, "[tool result] remember: kept Tom", "Fine, Ada.", "bye\n[from Ada]")
    shown = masked(clear)
    texts = [item.text for item in shown.items]
    assert texts[1:] == [
        "xx xxx xxx xx 00!\n[from Member 1]",
        '`remember({"fact":"xxx\'x xxx","n":[0]})`',
        "[tool result] remember: xxxx xxx",
        "xxxx, xxx.",
        "xxx\n[from Member 1]",
        "(nudge)",
    ]
    assert texts[0] == "You are Fern."
    body = canonical_json(shown.body)
    assert "Ada" not in body
    assert "Tom" not in body
    assert json.loads(body)["messages"][0]["content"] == "You are Fern."
    assert crossed_out("Ünï 3½ 猫!") == "xxx 00 x!"


def test_calls_in_fields_of_their_own_are_masked_too() -> None:
    message: dict[str, Any] = {
        "role": "assistant",
        "content": None,
        "reasoning_content": "Ada wants",
        "tool_calls": [{"id": "1", "function": {"name": "find", "arguments": '{"who":"Ada"}'}}],
    }
    body = {"messages": [message, {"role": "tool", "tool_call_id": "1", "content": "Ada is in"}]}
    shown = masked(Sent(items=(), body=body, mode="native"))
    assert "Ada" not in canonical_json(shown.body)
    assert '{\\"who\\":\\"xxx\\"}' in canonical_json(shown.body)


async def test_what_was_sent_is_found_by_the_answer(store: Store) -> None:
    house = House(store, secrets=["sk-secret"])
    first = await house.ask("my key is sk-secret", [say("One.")])
    second = await house.ask("Now roll!", [call("roll_dice", dice="1d6")], [say("Two.")], author=BO)

    async def of(message_id: int, *, masks: bool = False) -> PromptSnapshot:
        shown = await house.service.sent(PLACE, message_id, masks=masks)
        assert shown is not None
        return shown

    shown = await of(second.ids[0])
    body = canonical_json(house.requests[-1].body)
    assert shown.json == body.replace("sk-secret", "[redacted]")
    assert "request 2 of 2 in this turn, mode verbatim" in shown.text
    assert "--- verbatim_nudge | user | tail | ~" in shown.text
    lines = shown.diff.splitlines()
    assert lines[0] == "request 1 of 2:"
    assert "first difference: byte " in lines[1]
    assert "request 2 of 2:" in lines
    assert "  it begins with the whole request before and only adds to it" in lines
    assert "sk-secret" not in shown.text + shown.json + shown.diff
    assert "No earlier request" in (await of(first.ids[0])).diff
    hidden = await of(second.ids[0], masks=True)
    assert "Now roll" in shown.text
    assert "Now roll" not in hidden.text + hidden.json + hidden.diff
    assert "Member 2" in hidden.text
    assert await house.service.sent(PLACE, 12345) is None

    now = await house.service.snapshot(PLACE, ADA, house.channel, 10**9, masks=True)
    assert "my key" not in now.text + now.json
    assert "first difference" in now.diff or "only adds" in now.diff
    house.service.forget(PLACE.guild_id, ADA.id)
    assert await house.service.sent(PLACE, second.ids[0]) is None
