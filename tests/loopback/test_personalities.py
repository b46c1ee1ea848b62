"""The rules of the personalities bite, and only where they should."""

from collections.abc import Callable, Mapping
from typing import Any

import aiohttp
import pytest

from tests.loopback import personality_rules as rules
from tests.loopback.cast import BY_NAME, LLAMA_CPP
from tests.loopback.personalities import serving

Body = dict[str, Any]

TOOL: Body = {
    "type": "function",
    "function": {
        "name": "roll_dice",
        "description": "Roll.",
        "parameters": {"type": "object", "properties": {"dice": {"type": "string"}}},
    },
}


def body(*roles: str, **fields: Any) -> Body:
    return {"messages": [{"role": role, "content": "x"} for role in roles], **fields}


def with_call(**changes: Any) -> Body:
    call = {"id": "abcdef123", "function": {"name": "f", "arguments": "{}", **changes}}
    return {
        "messages": [
            {"role": "user", "content": "x"},
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "content": "x", "tool_call_id": call["id"]},
        ]
    }


def tool(**changes: Any) -> Body:
    return {"messages": [], "tools": [{"type": "function", "function": changes}]}


FINE = {**body("system", "user", "assistant", "user"), "tools": [TOOL]}

BITES: Mapping[Callable[[rules.Body], bool], Body] = {
    rules.offers_tools: body("user", tools=[TOOL]),
    rules.empty_tools: body("user", tools=[]),
    rules.system_not_first: body("user", "system"),
    rules.any_system: body("system", "user"),
    rules.developer: body("developer", "user"),
    rules.any_tool_role: with_call(),
    rules.ends_with_assistant: body("user", "assistant"),
    rules.same_role_twice: body("system", "user", "user"),
    rules.long_call_ids: {
        "messages": [{"role": "tool", "content": "x", "tool_call_id": "call_0123456789"}]
    },
    rules.arguments_as_text: with_call(),
    rules.content_not_text: {"messages": [{"role": "user", "content": None}]},
    rules.unfinished_function: tool(name="f", parameters={"type": "object"}),
    rules.no_properties: tool(name="f", description="d", parameters={"type": "object"}),
    rules.null_strict: tool(name="f", strict=None),
    rules.choice_is_object: body("user", tool_choice={"type": "function"}),
    rules.regular_expression: tool(parameters={"properties": {"a": {"pattern": r"^\d+$"}}}),
    rules.asks_for_usage: body("user", stream_options={}),
    rules.newer_names: body("user", max_completion_tokens=1),
}

NEVER_FINE = {rules.offers_tools, rules.any_system}
"""What FINE has although some servers refuse it."""


@pytest.mark.parametrize("rule", BITES, ids=lambda rule: rule.__name__)
def test_a_rule_bites_where_it_should(rule: Callable[[rules.Body], bool]) -> None:
    assert rule(BITES[rule])
    assert rule in NEVER_FINE or not rule(FINE)


def test_calls_and_results_do_not_count_as_turns() -> None:
    spoken = with_call()["messages"]
    answered = {"messages": [*spoken, {"role": "assistant", "content": "x"}]}
    assert not rules.same_role_twice(answered)
    assert rules.same_role_twice({"messages": [*spoken, {"role": "user", "content": "x"}]})
    assert not rules.long_call_ids(answered)


async def test_a_refusal_is_sent_as_the_server_words_it_and_counted() -> None:
    async with serving(LLAMA_CPP) as endpoint, aiohttp.ClientSession() as client:
        url = f"{endpoint.base_url}/chat/completions"
        async with client.post(url, json=body("user", "system", "user")) as answer:
            told = await answer.json()
            assert answer.status == 400
        assert "System message must be at the beginning." in told["error"]["message"]
        assert len(endpoint.refused) == 1
        async with client.post(url, json=body("user")) as answer:
            told = await answer.json()
        assert told["choices"][0]["message"]["content"] == "Hello there."
        assert len(endpoint.refused) == 1


async def test_a_model_that_was_not_told_of_a_tool_does_not_call_it() -> None:
    asked: Body = {"messages": [{"role": "user", "content": "roll 2d6"}], "tools": [TOOL]}
    ignores = BY_NAME["Ollama, a template that ignores tools"]
    for personality, calls in ((ignores, False), (BY_NAME["TabbyAPI"], True)):
        async with serving(personality) as endpoint, aiohttp.ClientSession() as client:
            url = f"{endpoint.base_url}/chat/completions"
            async with client.post(url, json=asked) as answer:
                (choice,) = (await answer.json())["choices"]
        assert ("tool_calls" in choice["message"]) is calls
