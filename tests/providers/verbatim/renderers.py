"""Writes calls in each dialect, as the families that use it do."""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import cast
from xml.sax.saxutils import escape

from prompt.values import Json

Call = tuple[str, Mapping[str, Json]]
Renderer = Callable[[Sequence[Call]], str]

_QUOTE = '<|"|>'


def _pairs(
    value: Json, colon: str, write: Callable[[Json], str], key: Callable[[str], str] = str
) -> list[str]:
    members = cast("dict[str, Json]", value)
    return [f"{key(name)}{colon}{write(inner)}" for name, inner in members.items()]


def dumps(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)


def _object(call: Call, name: str = "name", arguments: str = "arguments") -> str:
    return dumps({name: call[0], arguments: call[1]})


def _joined(calls: Sequence[Call], write: Callable[[Call], str], between: str = "\n") -> str:
    return between.join(write(call) for call in calls)


def _python(call: Call) -> str:
    arguments = ", ".join(f"{key}={_literal(value)}" for key, value in call[1].items())
    return f"{call[0]}({arguments})"


def _literal(value: Json) -> str:
    match value:
        case bool() | None:
            return str(value)
        case dict():
            return "{" + ", ".join(_pairs(value, ": ", _literal, key=dumps)) + "}"
        case list():
            return "[" + ", ".join(map(_literal, cast("list[Json]", value))) + "]"
        case _:
            return dumps(value)


def _bare(value: Json) -> str:
    """A value between tags: strings as they are, the rest as JSON."""
    return value if isinstance(value, str) else dumps(value)


def _tagged(value: Json) -> str:
    """A value right between tags, of which readers drop one newline at each end."""
    text = _bare(value)
    if text[:1] in ("\n", "\r"):
        text = "\n" + text
    return text + "\n" if text[-1:] == "\n" else text


def _qwen(call: Call) -> str:
    lines = [f"<function={call[0]}>"]
    for key, value in call[1].items():
        lines += [f"<parameter={key}>", _bare(value), "</parameter>"]
    return "\n".join([*lines, "</function>"])


def _minicpm(call: Call) -> str:
    parameters = "".join(
        f'<param name="{key}"><![CDATA[{_bare(value)}]]></param>' for key, value in call[1].items()
    )
    return f'<function name="{call[0]}">{parameters}</function>'


def _invoke(call: Call, prefix: str = "") -> str:
    parameters = "\n".join(
        f'<{prefix}parameter name="{key}">{escape(_tagged(value))}</{prefix}parameter>'
        for key, value in call[1].items()
    )
    return f'<{prefix}invoke name="{call[0]}">\n{parameters}\n</{prefix}invoke>'


def _dsml(call: Call) -> str:
    bar = "｜DSML｜"
    parameters = "\n".join(
        f'<{bar}parameter name="{key}" string="{str(isinstance(value, str)).lower()}">'
        f"{_tagged(value)}</{bar}parameter>"
        for key, value in call[1].items()
    )
    return f'<{bar}invoke name="{call[0]}">\n{parameters}\n</{bar}invoke>'


def _glm(call: Call, newline: str = "\n", separator: str = "") -> str:
    pairs = "".join(
        f"{newline}<arg_key>{key}</arg_key>{newline}<arg_value>{_tagged(value)}</arg_value>"
        for key, value in call[1].items()
    )
    return f"<tool_call>{call[0]}{separator}{pairs}{newline}</tool_call>"


def _deepseek(call: Call) -> str:
    return (
        f"<｜tool▁call▁begin｜>function<｜tool▁sep｜>{call[0]}\n"
        f"```json\n{dumps(call[1])}\n```<｜tool▁call▁end｜>"
    )


def _kimi(calls: Sequence[Call]) -> str:
    inner = "".join(
        f"<|tool_call_begin|>functions.{name}:{at}<|tool_call_argument_begin|>"
        f"{dumps(arguments)}<|tool_call_end|>"
        for at, (name, arguments) in enumerate(calls)
    )
    return f"<|tool_calls_section_begin|>{inner}<|tool_calls_section_end|>"


def _kimi3(call: Call) -> str:
    arguments = "".join(
        f'<|open|>argument key="{key}" type="{"string" if isinstance(value, str) else "json"}"'
        f"<|sep|>{_bare(value)}<|close|>argument<|sep|>"
        for key, value in call[1].items()
    )
    return f'<|open|>call tool="{call[0]}"<|sep|>{arguments}<|close|>call<|sep|>'


def _gemma_value(quote: str, value: Json) -> str:
    match value:
        case str():
            return f"{quote}{value}{quote}"
        case dict():
            return "{" + ",".join(_pairs(value, ":", partial(_gemma_value, quote))) + "}"
        case list():
            return (
                "[" + ",".join(map(partial(_gemma_value, quote), cast("list[Json]", value))) + "]"
            )
        case _:
            return dumps(value)


def _harmony(call: Call) -> str:
    return (
        f"<|start|>assistant<|channel|>commentary to=functions.{call[0]} "
        f"<|constrain|>json<|message|>{dumps(call[1])}<|call|>"
    )


def _react(call: Call) -> str:
    return f"Action: {call[0]}\nAction Input: {dumps(call[1])}"


def _openai(calls: Sequence[Call]) -> str:
    listed = [
        {
            "id": f"call_{at}",
            "type": "function",
            "function": {"name": name, "arguments": dumps(arguments)},
        }
        for at, (name, arguments) in enumerate(calls)
    ]
    return dumps({"tool_calls": listed})


def _tool_tags(call: Call) -> str:
    inner = "\n".join(f"<{key}>{_tagged(value)}</{key}>" for key, value in call[1].items())
    return f"<{call[0]}>\n{inner}\n</{call[0]}>"


def _minimax3(call: Call) -> str:
    mark = "]<]minimax[>["
    return f"{mark}<tool_call>{_invoke(call).replace('<', mark + '<')}{mark}</tool_call>"


JSON_RENDERERS: dict[str, Renderer] = {
    "taught, in backticks": lambda cs: _joined(cs, lambda c: f"`{c[0]}({dumps(c[1])})`"),
    "taught, bare": lambda cs: _joined(cs, lambda c: f"{c[0]}({dumps(c[1])})"),
    "taught, without parentheses": lambda cs: _joined(cs, lambda c: f"{c[0]}{dumps(c[1])}"),
    "taught, fenced": lambda cs: (
        "```\n" + _joined(cs, lambda c: f"{c[0]}({dumps(c[1])})") + "\n```"
    ),
    "announced": lambda cs: _joined(cs, lambda c: f"[Calling tool: {c[0]}({dumps(c[1])})]"),
    "bare objects": lambda cs: _joined(cs, _object),
    "array of objects": lambda cs: "[" + _joined(cs, _object, ", ") + "]",
    "json fence": lambda cs: "```json\n" + _joined(cs, _object) + "\n```",
    "array in a fence": lambda cs: "```\n[" + _joined(cs, _object, ",\n") + "]\n```",
    "hermes": lambda cs: _joined(cs, lambda c: f"<tool_call>\n{_object(c)}\n</tool_call>"),
    "hermes, one tag": lambda cs: "<tool_call>" + _joined(cs, _object) + "</tool_call>",
    "jamba": lambda cs: "<tool_calls>[" + _joined(cs, _object, ", ") + "]</tool_calls>",
    "granite": lambda cs: "<|tool_call|>[" + _joined(cs, _object, ", ") + "]",
    "phi": lambda cs: "functools[" + _joined(cs, _object, ", ") + "]",
    "longcat": lambda cs: _joined(
        cs, lambda c: f"<longcat_tool_call>{_object(c)}</longcat_tool_call>"
    ),
    "internlm": lambda cs: _joined(
        cs,
        lambda c: f"<|action_start|><|plugin|>{_object(c, arguments='parameters')}<|action_end|>",
    ),
    "apertus": lambda cs: (
        "<|tools_prefix|>[" + _joined(cs, lambda c: dumps({c[0]: c[1]}), ", ") + "]<|tools_suffix|>"
    ),
    "command": lambda cs: (
        "<|START_ACTION|>["
        + _joined(cs, lambda c: _object(c, "tool_name", "parameters"), ",\n")
        + "]<|END_ACTION|>"
    ),
    "llama": lambda cs: (
        "<|python_tag|>" + _joined(cs, lambda c: _object(c, arguments="parameters"), "; ")
    ),
    "llama function tag": lambda cs: _joined(
        cs, lambda c: f"<function={c[0]}>{dumps(c[1])}</function>"
    ),
    "mistral array": lambda cs: "[TOOL_CALLS][" + _joined(cs, _object, ", ") + "]",
    "mistral named": lambda cs: _joined(cs, lambda c: f"[TOOL_CALLS]{c[0]}[ARGS]{dumps(c[1])}", ""),
    "mistral compact": lambda cs: _joined(cs, lambda c: f"[TOOL_CALLS]{c[0]}{dumps(c[1])}", ""),
    "deepseek": lambda cs: (
        "<｜tool▁calls▁begin｜>" + _joined(cs, _deepseek) + "<｜tool▁calls▁end｜>"
    ),
    "deepseek v3.1": lambda cs: (
        "<｜tool▁calls▁begin｜>"
        + _joined(
            cs,
            lambda c: f"<｜tool▁call▁begin｜>{c[0]}<｜tool▁sep｜>{dumps(c[1])}<｜tool▁call▁end｜>",
            "",
        )
        + "<｜tool▁calls▁end｜>"
    ),
    "kimi": _kimi,
    "harmony": lambda cs: _joined(cs, _harmony, ""),
    "react": lambda cs: _joined(cs, _react),
    "functionary": lambda cs: _joined(cs, lambda c: f">>>{c[0]}\n{dumps(c[1])}"),
    "openai": _openai,
}
"""Dialects whose arguments are JSON: any string comes back."""

VALUE_RENDERERS: dict[str, Renderer] = {
    "pythonic list": lambda cs: "[" + _joined(cs, _python, ", ") + "]",
    "pythonic, llama 4": lambda cs: (
        "<|python_start|>[" + _joined(cs, _python, ", ") + "]<|python_end|>"
    ),
    "pythonic lines": lambda cs: (
        "<function_calls>\n" + _joined(cs, _python) + "\n</function_calls>"
    ),
    "pythonic, lfm2": lambda cs: (
        "<|tool_call_start|>[" + _joined(cs, _python, ", ") + "]<|tool_call_end|>"
    ),
    "tool_code": lambda cs: "```tool_code\n" + _joined(cs, _python) + "\n```",
    "qwen": lambda cs: _joined(cs, lambda c: f"<tool_call>\n{_qwen(c)}\n</tool_call>"),
    "qwen without wrapper": lambda cs: _joined(cs, _qwen),
    "seed": lambda cs: _joined(cs, lambda c: f"<seed:tool_call>\n{_qwen(c)}\n</seed:tool_call>"),
    "minicpm": lambda cs: _joined(cs, _minicpm),
    "invoke": lambda cs: "<function_calls>\n" + _joined(cs, _invoke) + "\n</function_calls>",
    "minimax": lambda cs: "<minimax:tool_call>\n" + _joined(cs, _invoke) + "\n</minimax:tool_call>",
    "minimax m3": lambda cs: _joined(cs, _minimax3),
    "step": lambda cs: _joined(cs, lambda c: _invoke(c, "steptml:")),
    "dsml": lambda cs: (
        "<｜DSML｜function_calls>\n" + _joined(cs, _dsml) + "\n</｜DSML｜function_calls>"
    ),
    "glm": lambda cs: _joined(cs, _glm),
    "glm on one line": lambda cs: _joined(cs, lambda c: _glm(c, "")),
    "hunyuan": lambda cs: _joined(cs, lambda c: _glm(c, "\n", "<tool_sep>")),
    "kimi k3": lambda cs: (
        "<|open|>tools<|sep|>" + _joined(cs, _kimi3, "") + "<|close|>tools<|sep|>"
    ),
    "functiongemma": lambda cs: _joined(
        cs,
        lambda c: (
            f"<start_function_call>call:{c[0]}{_gemma_value('<escape>', dict(c[1]))}"
            "<end_function_call>"
        ),
        "",
    ),
    "gemma 4": lambda cs: _joined(
        cs,
        lambda c: f"<|tool_call>call:{c[0]}{_gemma_value(_QUOTE, dict(c[1]))}<tool_call|>",
        "",
    ),
    "a tag for each tool": lambda cs: _joined(cs, _tool_tags),
}
"""Dialects that write strings without quotes of JSON."""

RENDERERS = {**JSON_RENDERERS, **VALUE_RENDERERS}
