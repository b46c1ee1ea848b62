"""Tells a response that repeats the definitions of its tools from one that says something.

Small models answer with the list of tools that they were given. For the parser that is text, since
it calls nothing; a member has no use for it.

Invariant: pure. Only text that is nothing but definitions of tools on the surface, bare or in one
fence, is an echo. A word before or behind them makes it an answer.
"""

import json
import re
from collections.abc import Callable
from json import JSONDecodeError, JSONDecoder
from typing import TypeAlias, cast

import jiter

from prompt.surface import ToolSurface
from prompt.values import Json

_OPENING = re.compile(r"\s*(?:`{3,}\w*\s*)?")
_CLOSING = re.compile(r"\s*`*\s*\Z")
_BETWEEN = re.compile(r"[\s,]*")
_BEGINS_A_FENCE = re.compile(r"\s*`{1,2}\Z")
_LITERALS = ("true", "false", "null")
_KEYS = {"type", "function"}

_Name: TypeAlias = Callable[[str], bool]
"""Whether a name is that of a tool, or may become it."""


def is_echo(text: str, surface: ToolSurface) -> bool:
    """Whether `text`, a whole response, is nothing but definitions; the last may be cut off."""
    names = surface.callable
    values = _values(text)
    return bool(values) and all(_defines(value, names.__contains__) for value in values or ())


def may_be_echo(text: str, surface: ToolSurface) -> bool:
    """Whether `text`, the beginning of a response, may still become an echo."""
    if not surface or not text.strip():
        return False
    if _BEGINS_A_FENCE.match(text):
        return True
    values = _values(text)
    if values is None:
        return False
    names = surface.callable
    *whole, last = values or [{}]
    return all(_defines(value, names.__contains__) for value in whole) and _may_define(
        last, lambda begun: any(name.startswith(begun) for name in names)
    )


def _values(text: str) -> list[Json] | None:
    """The arrays and objects that `text` consists of, the last as far as it goes; None where it
    holds anything else."""
    fence = _OPENING.match(text)
    text = _CLOSING.sub("", text[fence.end() if fence else 0 :])
    values: list[Json] = []
    at, read = 0, JSONDecoder(strict=False).raw_decode
    while at < len(text):
        if text[at] not in "[{":
            return None
        try:
            value, at = read(text, at)
        except JSONDecodeError as error:
            if not _is_cut_off(text, error):
                return None
            try:
                value = jiter.from_json(text[at:].encode(), partial_mode="trailing-strings")
            except ValueError:
                return None
            at = len(text)
        values.append(value)
        between = _BETWEEN.match(text, at)
        at = between.end() if between else at
    return values


def _is_cut_off(text: str, error: json.JSONDecodeError) -> bool:
    """Whether what is wrong with JSON is that it goes on."""
    rest = text[error.pos :].rstrip()
    unfinished = error.msg.startswith(("Unterminated string", "Invalid \\"))
    return unfinished or any(literal.startswith(rest) for literal in _LITERALS)


def _defines(value: Json, is_tool: _Name) -> bool:
    """Whether this is a definition or an array of them; of the last its name is enough."""
    match value:
        case [_, *_]:
            return all(_defines(each, is_tool) for each in cast("list[Json]", value))
        case {"type": "function", "function": {"name": str(name)}}:
            return is_tool(name)
        case _:
            return False


def _may_define(value: Json, is_tool: _Name) -> bool:
    """Whether a value whose end is missing may become a definition or an array of them."""
    match value:
        case list():
            return all(_may_define(each, is_tool) for each in cast("list[Json]", value))
        case {**keys} if not keys.keys() <= _KEYS:
            return False
        case {"function": {"name": str(name)}} if not is_tool(name):
            return False
        case {"type": str(kind)}:
            return "function".startswith(kind)
        case {"type": _}:
            return False
        case dict():
            return True
        case _:
            return False
