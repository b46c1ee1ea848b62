"""Whole probes over real sockets, with every kind of server."""

from collections.abc import Mapping
from typing import Any

import pytest

from providers.base import Unavailable
from providers.openai.adapter import OpenAIProvider
from providers.probe import Findings, probe, sentence, settings_that_follow
from tests.loopback.cast import BY_NAME, LOST_IN_STREAMS
from tests.loopback.personalities import PersonalEndpoint, Personality, serving
from tests.loopback.personality_rules import Refusal, offers_tools, openai_shape, refuses

ALL = {**BY_NAME, LOST_IN_STREAMS.name: LOST_IN_STREAMS}

NATIVE = {"native_tools": "yes", "calls_tried": 3, "calls_worked": 3}
VERBATIM = {"calls_tried": 6, "calls_worked": 6}
REFUSED = {"native_tools": "refused", "patterns": "unknown", **VERBATIM}
STRICT = {"system": "first_only", "neighbours": "refused"}
EASY = {
    "system": "anywhere",
    "neighbours": "accepted",
    "tool_role": "read",
    "arguments_as_object": False,
    "patterns": "accepted",
    "usage_in_stream": "accepted",
    "context_window": None,
    "cached_tokens": False,
    "vision": "unknown",
}
LLAMA = {"context_window": 8192, "vision": "no"}

EXPECTED: Mapping[str, Mapping[str, Any]] = {
    "llama.cpp": {
        **NATIVE,
        **STRICT,
        **LLAMA,
        "calls_tried": 2,
        "calls_worked": 2,
        "patterns": "refused",
        "tokens_per_second": 41.5,
    },
    "llama.cpp without --jinja": {**REFUSED, **STRICT, **LLAMA},
    "llama.cpp, old": REFUSED,
    "a proxy that refuses stream_options": {
        **VERBATIM,
        "native_tools": "no_call",  # no token counts that would tell more
        "usage_in_stream": "refused",
    },
    "Ollama, a model without tools": {**REFUSED, "context_window": 4096, "vision": "yes"},
    "Ollama": {**NATIVE, "context_window": 8192, "vision": "no"},
    "Ollama, a template that ignores tools": {**VERBATIM, "native_tools": "ignored"},
    "Ollama, a proxy in front": NATIVE,
    "LM Studio": {
        **VERBATIM,
        "native_tools": "only_as_text",
        "context_window": 16384,
        "vision": "yes",
    },
    "vLLM without a tool parser": {**REFUSED, "context_window": 40960},
    "vLLM, a Mistral template": {**NATIVE, **STRICT, "cached_tokens": True},
    "vLLM, calls inside thinking": {**VERBATIM, "native_tools": "only_as_text"},
    "SGLang": NATIVE,
    "KoboldCpp": {**NATIVE, "context_window": 4096, "usage_in_stream": "unknown"},
    "KoboldCpp, calls left in the text": {
        **VERBATIM,
        "native_tools": "only_as_text",
        "usage_in_stream": "unknown",
    },
    "TabbyAPI without a tool format": {
        **VERBATIM,
        "native_tools": "only_as_text",
        "context_window": 16384,
    },
    "TabbyAPI": NATIVE,
    "LocalAI": NATIVE,
    "LocalAI, with its own answer function": NATIVE,
    "oMLX, alive by empty chunks": NATIVE,
    "mlx_lm.server": NATIVE,
    "mlx-serve, calls lost in streams": {
        "native_tools": "only_unstreamed",
        "calls_tried": 2,
        "calls_worked": 2,
    },
    "SGLang, Gemma 2": {**VERBATIM, "native_tools": "ignored", "system": "no_system_role"},
    "llama.cpp, a template without the tool role": {
        **NATIVE,
        **STRICT,
        "calls_tried": 2,
        "calls_worked": 2,
        "patterns": "refused",
        "tool_role": "refused",
    },
    "llama.cpp, a template that wants arguments as an object": {
        **NATIVE,
        **STRICT,
        "calls_tried": 2,
        "calls_worked": 2,
        "patterns": "refused",
        "arguments_as_object": True,
    },
}

SETTINGS: Mapping[str, Mapping[str, str]] = {
    "llama.cpp": {"context_window": "8192", "vision": "off"},
    "LM Studio": {"context_window": "16384", "vision": "on"},
    "a proxy that refuses stream_options": {"usage_in_stream": "off"},
    "mlx-serve, calls lost in streams": {"stream_with_tools": "whole"},
    "SGLang, Gemma 2": {"system_layout": "fold_into_user"},
    "llama.cpp, a template without the tool role": {"tool_role": "as_user"},
    "llama.cpp, a template that wants arguments as an object": {"arguments_in_history": "object"},
    "TabbyAPI": {},
}


async def probed(endpoint: PersonalEndpoint, *, seconds: float = 30) -> Findings:
    provider = OpenAIProvider(base_url=endpoint.base_url, model="local-model")
    try:
        return await probe(provider, seconds=seconds)
    finally:
        await provider.close()


def test_every_personality_is_expected() -> None:
    assert EXPECTED.keys() == ALL.keys()


@pytest.mark.parametrize("personality", ALL.values(), ids=ALL.keys())
async def test_what_is_found(personality: Personality) -> None:
    async with serving(personality) as endpoint:
        findings = await probed(endpoint)
    expected = {**EASY, **EXPECTED[personality.name]}
    assert {name: getattr(findings, name) for name in expected} == expected
    assert (findings.answered, findings.trouble) == (True, "")
    assert findings.requests == len(endpoint.bodies)
    if personality.name in SETTINGS:
        assert settings_that_follow(findings) == SETTINGS[personality.name]


async def test_requests_are_tiny_and_cold() -> None:
    async with serving(BY_NAME["TabbyAPI"]) as endpoint:
        await probed(endpoint)
    assert len(endpoint.bodies) == 6
    assert all(body["max_tokens"] <= 256 and body["temperature"] == 0 for body in endpoint.bodies)


async def test_a_server_that_answers_every_path_with_200_has_answered_nothing() -> None:
    words = "Unexpected endpoint or method. (POST /v1/chat/completions)"
    rule = refuses(lambda _, text: Refusal(status=200, body={"error": text}), 200, words, bool)
    async with serving(Personality(name="LM Studio, a wrong path", rules=(rule,))) as endpoint:
        findings = await probed(endpoint)
    assert (findings.answered, findings.native_tools) == (False, "unknown")
    assert sentence(findings) == "No test request was answered. It refused them all."
    assert findings.remedy == words
    assert settings_that_follow(findings) == {}


@pytest.mark.parametrize("status", [401, 403, 404])
async def test_a_closed_door_is_not_knocked_at_for_long(status: int) -> None:
    rule = refuses(openai_shape, status, "not for you", bool)
    async with serving(Personality(name="closed", rules=(rule,))) as endpoint:
        findings = await probed(endpoint)
    assert len(endpoint.bodies) == 2
    assert sentence(findings) == "No test request was answered. It refuses requests as such."
    assert findings.remedy == f"{status}: not for you"


async def test_a_404_that_is_about_tools_alone_does_not_end_the_test() -> None:
    words = "No endpoints found that support tool use"
    rule = refuses(openai_shape, 404, words, offers_tools)
    router = Personality(name="a router", rules=(rule,), tools="ignored")
    async with serving(router) as endpoint:
        findings = await probed(endpoint)
    assert (findings.native_tools, findings.calls_worked) == ("refused", 6)


async def test_nobody_listens() -> None:
    async with serving(BY_NAME["TabbyAPI"]) as endpoint:
        pass
    findings = await probed(endpoint)
    assert not findings.answered
    assert "127.0.0.1" not in sentence(findings)
    assert "Nothing listens" in findings.remedy


async def test_without_a_name_nothing_can_be_asked() -> None:
    async with serving(BY_NAME["TabbyAPI"]) as endpoint:
        pass
    provider = OpenAIProvider(base_url=endpoint.base_url)
    with pytest.raises(Unavailable):
        await probe(provider)
    await provider.close()


async def test_time_is_bounded_and_what_was_found_until_then_is_told() -> None:
    slow = Personality(name="slow", pause=0.6)
    async with serving(slow) as endpoint:
        findings = await probed(endpoint, seconds=1.0)
    assert findings.seconds < 3
    assert findings.answered
    assert findings.trouble
    assert findings.tool_role == "unknown"
