"""Breaks up chat-template tokens in text that others than the model wrote.

Invariant: the same text always gives the same bytes; what is added is one invisible character a
token, which `whole` takes out again, and people read the same words.

Many servers turn such a token into a real turn mark wherever it stands in a message, so a page or
a member could end their own turn and speak as the system.
"""

import re

_JOINER = "\N{WORD JOINER}"

_BAR = "[|\N{FULLWIDTH VERTICAL LINE}]"
_BLANK = "\N{LOWER ONE EIGHTH BLOCK}"

_WORDS = (
    r"(?:s|bos|eos|pad|unk|mask|sop|eop|eot|eod|escape|"
    r"start_of_\w+|end_of_\w+|start_function\w*|end_function\w*|"
    r"think|thinking|thought|reasoning|seed:\w+|minimax:\w+|"
    r"system|user|assistant|developer|model|human|"
    r"tools?|tool_calls?|toolcall|tool_use|tool_code|tool_responses?|tool_results?|tool_outputs?|"
    r"function|functions|function_calls?|functioncall|function_response|function_results?|"
    r"invoke|parameters?|arg_key|arg_value|antml:\w+|longcat_\w+|xai:\w+|"
    r"available_tools|fim_\w+|file_sep|repo_name|unused\d+|extra_id_\d+|reserved_\w+|"
    r"image_soft_token|audio_soft_token|0x[0-9a-f]{2})"
)
"""Names of tokens in plain angle brackets, as model families have them."""

_TOKEN = re.compile(
    rf"<(?=/?{_BAR}"  # <|im_start|>, and with fullwidth bars
    rf"|/?[\w:{_BLANK}]{{1,64}}{_BAR}>"  # <tool_call|>
    rf"|/?{_WORDS}(?:[\s=>/]|$)"  # <start_of_turn>, <function=name>
    r"|</?SYS>>)"
    r"|(?<=<)<(?=/?SYS>>)"
    r"|\[(?=/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS?|TOOL_RESULTS?|TOOL_CONTENT|ARGS"
    r"|CALL_ID|THINK|IMG|MODEL_SETTINGS|g?MASK|sMASK|e~)[\]\[~])"
    r"|\](?=~[!b]|<\]\w+\[>\[)",  # ]~b]system, ]<]minimax[>[
    re.IGNORECASE,
)

_JOINED = re.compile(rf"(?<=[<\[\]]){_JOINER}")


def defused(text: str) -> str:
    """`text` with a word joiner behind the first character of every token."""
    return _TOKEN.sub(lambda found: found[0] + _JOINER, text)


def whole(text: str) -> str:
    """`text` as it was before `defused`."""
    return _JOINED.sub("", text)
