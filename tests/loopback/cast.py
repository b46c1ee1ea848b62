"""The personalities: one or more for each kind of server.

Invariant: every error text, delta shape and rule stands for what that server has been seen to do.
"""

import json
from collections.abc import Mapping

from tests.loopback import personality_rules as rules
from tests.loopback.personalities import Chunk, Personality, entry
from tests.loopback.personality_rules import (
    Json,
    Refusal,
    llama_shape,
    openai_shape,
    plain_shape,
    refuses,
    tabby_shape,
    vllm_shape,
)


def in_fragments(name: str, arguments: str) -> list[Chunk]:
    """llama.cpp: name and the opening brace, then a few characters at a time."""
    first = entry(name, arguments[:1], index=0, id="mQ3vT7xK2pL9aB5cD8eF1gH4jN6rS0uW")
    rest = [arguments[at : at + 3] for at in range(1, len(arguments), 3)]
    return [first, *({"index": 0, "function": {"arguments": piece}} for piece in rest)]


def by_character(name: str, arguments: str) -> list[Chunk]:
    """vLLM: the name alone, then one character at a time without a name."""
    head = {"index": 0, "id": "chatcmpl-tool-5f2b", "type": "function", "function": {"name": name}}
    return [head, *({"index": 0, "function": {"arguments": letter}} for letter in arguments)]


def with_null_identity(name: str, arguments: str) -> list[Chunk]:
    """SGLang: id and name null on what continues a call."""
    head = entry(name, "", index=0, id="call_8d1e")
    halves = (arguments[:5], arguments[5:])
    return [head, *({**entry("", half, index=0, id=None)} for half in halves)]


def without_identity(name: str, arguments: str) -> list[Chunk]:
    """TabbyAPI: neither id nor index, the call whole."""
    return [{"type": "function", "function": {"name": name, "arguments": arguments}}]


def as_object(name: str, arguments: str) -> list[Chunk]:
    """Arguments that are no string, from servers that pass Ollama's own form on."""
    return [entry(name, json.loads(arguments), index=0, id="")]


_PREFILL = "Assistant response prefill is incompatible with enable_thinking."
_ALTERNATE = (
    "\n------------\nWhile executing CallExpression at line 40, column 24 in source:\n"
    "Error: Jinja Exception: Conversation roles must alternate user/assistant/user/assistant/..."
)
_SYSTEM_FIRST = (
    "Unable to generate parser for this template. Automatic parser generation failed: \n"
    "------------\nError: Jinja Exception: System message must be at the beginning."
)

_LLAMA_RULES = (
    refuses(llama_shape, 400, _SYSTEM_FIRST, rules.system_not_first),
    refuses(llama_shape, 500, _ALTERNATE, rules.same_role_twice),
    refuses(llama_shape, 400, _PREFILL, rules.ends_with_assistant),
    refuses(llama_shape, 500, "Jinja Exception: Unexpected message role.", rules.developer),
    refuses(llama_shape, 400, "Failed to parse tools: empty", rules.empty_tools),
    refuses(llama_shape, 400, "Failed to parse tools: missing field", rules.unfinished_function),
    refuses(llama_shape, 400, "failed to parse grammar", rules.regular_expression),
)

_LLAMA_TELLS: Mapping[str, Json] = {
    "/props": {
        "default_generation_settings": {"n_ctx": 8192, "params": {}},
        "total_slots": 1,
        "modalities": {"vision": False, "audio": False},
        "build_info": "b6500-abcdef",
    }
}

LLAMA_CPP = Personality(
    name="llama.cpp",
    rules=_LLAMA_RULES,
    deltas=in_fragments,
    content_first=None,
    before=b": ping\n\n",
    timings={"cache_n": 120, "prompt_n": 30, "predicted_n": 20, "predicted_per_second": 41.5},
    tells=_LLAMA_TELLS,
    unknown=llama_shape(404, "File Not Found"),
)

NO_TOOL_ROLE = Personality(
    name="llama.cpp, a template without the tool role",
    rules=(
        refuses(
            llama_shape,
            500,
            "Jinja Exception: Conversation roles must alternate user/assistant/...",
            rules.any_tool_role,
        ),
        *_LLAMA_RULES,
    ),
    deltas=in_fragments,
    content_first=None,
)

NO_SYSTEM_ROLE = Personality(
    name="SGLang, Gemma 2",
    rules=(refuses(vllm_shape, 400, "System role not supported", rules.any_system),),
    tools="ignored",
)

LOST_IN_STREAMS = Personality(
    name="mlx-serve, calls lost in streams",
    streaming="without_calls",
)

NO_STREAM_OPTIONS = Personality(
    name="a proxy that refuses stream_options",
    rules=(refuses(openai_shape, 400, "Unknown field: stream_options", rules.asks_for_usage),),
    tools="ignored",
    usage=None,
)

ARGUMENTS_AS_OBJECT = Personality(
    name="llama.cpp, a template that wants arguments as an object",
    rules=(
        refuses(
            llama_shape,
            500,
            "Jinja Exception: Unknown (built-in) filter 'items' for type String",
            rules.arguments_as_text,
        ),
        *_LLAMA_RULES,
    ),
    deltas=in_fragments,
    content_first=None,
)

_CAST = (
    LLAMA_CPP,
    NO_STREAM_OPTIONS,
    NO_TOOL_ROLE,
    ARGUMENTS_AS_OBJECT,
    NO_SYSTEM_ROLE,
    Personality(
        name="llama.cpp without --jinja",
        rules=(
            refuses(llama_shape, 500, "tools param requires --jinja flag", rules.offers_tools),
            *_LLAMA_RULES,
        ),
        tools="ignored",
        content_first=None,
        tells=_LLAMA_TELLS,
    ),
    Personality(
        name="llama.cpp, old",
        rules=(refuses(llama_shape, 500, "Unsupported param: tools", rules.offers_tools),),
        tools="ignored",
    ),
    Personality(
        name="Ollama, a model without tools",
        rules=(
            refuses(
                openai_shape,
                400,
                "gemma3:4b does not support tools",
                rules.offers_tools,
            ),
        ),
        tools="ignored",
        tells={
            "/api/ps": {"models": [{"name": "local-model", "context_length": 4096}]},
            "/api/show": {"capabilities": ["completion", "vision"], "parameters": "stop x"},
        },
    ),
    Personality(
        name="Ollama",
        rules=(
            refuses(
                openai_shape, 400, "last message must not be assistant", rules.ends_with_assistant
            ),
        ),
        deltas=lambda name, arguments: [entry(name, arguments, index=0, id="call_k3x9v0aa")],
        finish="stop",
        tells={
            "/api/show": {"capabilities": ["completion", "tools"], "parameters": "num_ctx 8192"}
        },
    ),
    Personality(
        name="Ollama, a template that ignores tools",
        tools="ignored",
        written='{{"name": "{name}", "parameters": {arguments}}}',
    ),
    Personality(name="Ollama, a proxy in front", deltas=as_object, finish="stop"),
    Personality(
        name="LM Studio",
        rules=(
            refuses(
                plain_shape,
                400,
                "Invalid tool_choice type: 'object'. Supported string values: none, auto, required",
                rules.choice_is_object,
            ),
            refuses(plain_shape, 400, "'messages' field must have content", rules.null_content),
            refuses(
                plain_shape,
                400,
                "Invalid discriminator value. Expected 'object'",
                rules.no_properties,
            ),
            refuses(plain_shape, 400, "Expected boolean, received null: strict", rules.null_strict),
        ),
        tools="text",
        tells={
            "/api/v0/models": {
                "data": [
                    {
                        "id": "local-model",
                        "type": "vlm",
                        "state": "loaded",
                        "max_context_length": 131072,
                        "loaded_context_length": 16384,
                    }
                ]
            }
        },
        unknown=Refusal(status=200, body={"error": "Unexpected endpoint or method. (GET /props)"}),
    ),
    Personality(
        name="vLLM without a tool parser",
        rules=(
            refuses(
                vllm_shape,
                400,
                '"auto" tool choice requires --enable-auto-tool-choice and '
                "--tool-call-parser to be set",
                rules.offers_tools,
            ),
        ),
        tools="ignored",
        tells={"/v1/models": {"data": [{"id": "local-model", "max_model_len": 40960}]}},
    ),
    Personality(
        name="vLLM, a Mistral template",
        rules=(
            refuses(
                vllm_shape,
                400,
                "Unexpected role 'system' after role 'user'",
                rules.system_not_first,
            ),
            refuses(
                vllm_shape,
                400,
                "After the optional system message, conversation roles must alternate user and "
                "assistant roles except for tool calls and results.",
                rules.same_role_twice,
            ),
            refuses(
                vllm_shape,
                400,
                "Tool call IDs should be alphanumeric strings with length 9!",
                rules.long_call_ids,
            ),
            refuses(vllm_shape, 400, "Unexpected message role.", rules.developer),
        ),
        deltas=by_character,
        thought="They want dice, so I call the tool.",
        thought_field="reasoning",
        usage={"completion_tokens": 20, "prompt_tokens_details": {"cached_tokens": 64}},
    ),
    Personality(
        name="vLLM, calls inside thinking",
        tools="text",
        calls_in_thought=True,
        thought_field="reasoning",
    ),
    Personality(
        name="SGLang",
        rules=(refuses(vllm_shape, 400, "Unexpected message role.", rules.developer),),
        deltas=with_null_identity,
    ),
    Personality(
        name="KoboldCpp",
        deltas=lambda name, arguments: [entry(name, arguments, index=0, id="call_001")],
        streaming="in_one_piece",
        usage=None,
        tells={"/api/extra/true_max_context_length": {"value": 4096}},
    ),
    Personality(
        name="KoboldCpp, calls left in the text",
        tools="text",
        streaming="in_one_piece",
        usage=None,
        written='[{{"name": "{name}", "arguments": {arguments}}}]',
    ),
    Personality(
        name="TabbyAPI without a tool format",
        rules=(refuses(tabby_shape, 422, "messages: invalid content", rules.content_not_text),),
        tools="text",
        tells={"/v1/model": {"id": "local-model", "parameters": {"max_seq_len": 16384}}},
    ),
    Personality(name="TabbyAPI", deltas=without_identity),
    Personality(
        name="LocalAI",
        rules=(refuses(openai_shape, 500, "unexpected end of JSON input", rules.no_properties),),
        tools="both",
        written='{{"name": "{name}", "arguments": {arguments}}}',
        plain_finish="tool_calls",
    ),
    Personality(name="LocalAI, with its own answer function", says_with="answer"),
    Personality(
        name="oMLX, alive by empty chunks",
        before=b'data: {"object":"chat.completion.chunk","choices":[]}\n\n',
    ),
    Personality(
        name="mlx_lm.server",
        rules=(
            refuses(
                plain_shape,
                404,
                "Tool call IDs should be alphanumeric strings with length 9!",
                rules.long_call_ids,
            ),
            refuses(plain_shape, 400, "unknown field", rules.newer_names),
        ),
        deltas=lambda name, arguments: [
            entry(name, arguments, index=0, id="1f0c9e5e-3d3b-4a54-8f0e-b7a9b6a3f5d1")
        ],
        before=b": keepalive 12/240\n\n",
        done=b"",
    ),
)

BY_NAME: Mapping[str, Personality] = {personality.name: personality for personality in _CAST}
