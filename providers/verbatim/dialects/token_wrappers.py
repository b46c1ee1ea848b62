"""Families that put JSON or Python calls between tokens of their own.

Llama (`<|python_tag|>`), Llama 4 and LFM2 (pythonic lists), Granite and Phi (`<|tool_call|>`),
GigaChat, Command (`<|START_ACTION|>`), InternLM (`<|action_start|><|plugin|>`), Apertus.
"""

from providers.verbatim.grammar import Dialect, Wrapper

_PAIRS = {
    "<|python_tag|>": (),
    "<|python_start|>": ("<|python_end|>",),
    "<|tool_call_start|>": ("<|tool_call_end|>",),
    "<|tool_calls_start|>": ("<|tool_calls_end|>",),
    "<|tool_call|>": ("<|/tool_call|>", "</|tool_call|>", "<|end_tool_call|>"),
    "<|tool_calls|>": ("<|/tool_calls|>",),
    "<|function_call|>": ("<|/function_call|>",),
    "<|START_ACTION|>": ("<|END_ACTION|>",),
    "<|action_start|>": ("<|action_end|>",),
    "<|plugin|>": ("<|action_end|>",),
    "<|tools_prefix|>": ("<|tools_suffix|>",),
}
# Granite, GigaChat and InternLM 2 end such a call with the message; a closer is a courtesy.
_OPEN_ENDED = frozenset({"<|tool_call|>", "<|function_call|>", "<|tool_calls|>"})

DIALECT = Dialect(
    name="token wrappers",
    wrappers=tuple(
        Wrapper(opener=opener, closers=closers, tag=False, open_ended=opener in _OPEN_ENDED)
        for opener, closers in _PAIRS.items()
    ),
)
