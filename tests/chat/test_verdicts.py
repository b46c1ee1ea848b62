"""What is learnt of an endpoint in a turn, and what later turns make of it."""

import json

from chat.ending import INCOMPLETE
from chat.service import ChatService
from prompt.stages import TOOL_DEFINITIONS_TAG
from prompt.verbatim import Verdict
from providers.base import ToolsRefused
from tests.chat.house import House
from tests.chat.scripted import Request, call, say

ROLL = call("roll_dice", dice="1d6")
NATIVE = call("roll_dice", dice="1d6", origin="native")


def refused() -> ToolsRefused:
    return ToolsRefused("It refused.", remedy="Set tool_mode.", detail="tools need --jinja")


def block(request: Request) -> bool:
    return any(item.tag == TOOL_DEFINITIONS_TAG for item in request.prompt.items)


def field(request: Request) -> bool:
    return "tools" in request.body


async def test_verbatim_until_something_is_known(house: House) -> None:
    await house.ask("Hi", [say("Hello.")])
    assert await house.verdict() == Verdict()
    (request,) = house.requests
    assert (request.prompt.report.mode, field(request), block(request)) == ("verbatim", True, True)


async def test_a_text_call_teaches_nothing(house: House) -> None:
    await house.ask("Roll!", [ROLL], [say("Done.")])
    assert await house.verdict() == Verdict()


async def test_a_structured_call_is_remembered_with_its_reason(house: House) -> None:
    await house.ask("Roll!", [NATIVE], [say("Done.")])
    verdict = await house.verdict()
    assert verdict.structured_calls
    assert verdict.reason == "it has sent a structured tool call in a turn"
    assert [block(request) for request in house.requests] == [
        True,
        True,
    ]  # within the turn as before


async def test_the_next_turn_is_native(house: House) -> None:
    await house.ask("Roll!", [NATIVE], [say("Done.")])
    await house.ask("Again!", [NATIVE], [say("Done.")])
    third, fourth = house.requests[2:]
    assert (third.prompt.report.mode, field(third), block(third)) == ("native", True, False)
    assistant, tool = fourth.messages[-2:]
    assert assistant["tool_calls"][0]["function"]["name"] == "roll_dice"
    assert (tool["role"], tool["tool_call_id"]) == ("tool", assistant["tool_calls"][0]["id"])
    replayed = [message for message in third.messages if "tool_calls" in message]
    assert len(replayed) == 1


async def test_text_calls_are_read_in_native_mode_too(house: House) -> None:
    await house.service.configure(7, "tool_mode", "native")
    shown = await house.ask("Roll!", [ROLL], [say("Done.")])
    assert len(shown.reply.runs) == 1


async def test_the_notes_of_the_last_round_keep_to_strict_templates(house: House) -> None:
    """Between results and the next answer those admit no message of a user."""
    await house.service.configure(7, "tool_mode", "native")
    rounds = [[call("roll_dice", dice=f"{n}d6", origin="native")] for n in range(1, 8)]
    await house.ask("Roll!", *rounds, [say("Done.")])
    roles = [message["role"] for message in house.requests[-1].messages]
    assert roles[-14:] == ["assistant", "tool"] * 7


async def test_a_refusal_is_learnt_and_the_turn_starts_anew(house: House) -> None:
    shown = await house.ask("Roll!", [refused()], [ROLL], [say("Done.")])
    assert (shown.reply.text, shown.reply.notices) == ("Done.", [])
    first, second, third = house.requests
    assert (field(first), block(first)) == (True, True)
    assert (field(second), block(second), second.options.round) == (False, True, 1)
    assert (field(third), block(third)) == (False, True)
    verdict = await house.verdict()
    assert verdict.refuses_tools_field
    assert verdict.reason == "it answered the tools field with an error: tools need --jinja"
    await house.ask("Again!", [say("Done.")])
    assert not field(house.requests[-1])


async def test_a_second_refusal_ends_the_turn(house: House) -> None:
    shown = await house.ask("Roll!", [refused()], [refused()])
    assert (shown.reply.state, shown.reply.notices) == ("failed", ["It refused."])
    assert shown.reply.remedy == "Set tool_mode."


async def test_auto_comes_back_from_native_when_the_field_is_refused(house: House) -> None:
    await house.store.verdicts.put(
        house.provider.endpoint, house.provider.model, Verdict(structured_calls=True, reason="x")
    )
    shown = await house.ask("Roll!", [refused()], [say("Done.")])
    assert shown.reply.text == "Done."
    first, second = house.requests
    assert first.prompt.report.mode == "native"
    assert (second.prompt.report.mode, field(second)) == ("verbatim_only", False)


async def test_an_admin_who_insists_on_the_field_is_told(house: House) -> None:
    await house.service.configure(7, "tool_mode", "native")
    shown = await house.ask("Roll!", [refused()])
    assert (shown.reply.state, shown.reply.notices) == ("failed", ["It refused."])


async def test_what_tools_did_is_not_done_twice(house: House) -> None:
    remember = call("remember", fact="I like tea.")
    shown = await house.ask("Remember!", [remember], [refused()], [say("I will.")])
    assert (shown.reply.text, shown.reply.notices) == ("I will.", [])
    assert len(shown.reply.runs) == 1
    _, second, third = house.requests
    assert (field(second), field(third)) == (True, False)
    assert third.options.round == 2
    assert third.messages == second.messages


async def test_once_something_was_said_nothing_starts_anew(house: House) -> None:
    shown = await house.ask("Hi", [say("Hello"), refused()])
    assert (shown.reply.text, shown.reply.notices) == ("Hello", ["It refused.", INCOMPLETE])


async def test_a_structured_call_takes_a_refusal_of_earlier_days_back(house: House) -> None:
    await house.ask("Roll!", [refused()], [say("Done.")])
    await house.service.configure(7, "tool_mode", "native")
    await house.ask("Roll!", [NATIVE], [say("Done.")])
    verdict = await house.verdict()
    assert (verdict.structured_calls, verdict.refuses_tools_field) == (True, False)


async def test_a_structured_call_without_the_field_leaves_the_refusal(house: House) -> None:
    await house.ask("Roll!", [refused()], [NATIVE], [say("Done.")])
    verdict = await house.verdict()
    assert (verdict.structured_calls, verdict.refuses_tools_field) == (True, True)


async def test_off_offers_nothing(house: House) -> None:
    await house.service.configure(7, "tool_mode", "off")
    await house.ask("Roll!", [say("I cannot.")])
    (request,) = house.requests
    assert not field(request)
    assert not request.prompt.surface
    assert "roll_dice" not in json.dumps(request.body)


async def test_a_guilds_switches_are_its_own(house: House) -> None:
    service: ChatService = house.service
    await service.configure(8, "tool_mode", "off")
    await service.configure(None, "tool_mode", "native")
    await house.ask("Hi", [say("Hello.")])
    assert house.requests[0].prompt.report.mode == "verbatim"
