"""Tells whether a model was given the number that it calls a tool with, or made it up.

Invariant: pure, and doubt is in the model's favour. Only arguments whose name says that they hold
the number or code of a thing are looked at, and a value counts as known in whatever form it was
read: other case, separators, leading zeros, digits of another script, number words.

Asked for a thing by its description, small models call with a number that nobody named, and a tool
does to something else what it was to do to this. They also read pages at addresses that they put
together from the words of a question.
"""

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import cast

from prompt.open_values import schema_of
from prompt.prompt import EXCHANGE, Prompt
from prompt.values import Json, PromptItem, TextPart, ToolCall, ToolResult, ToolSpec

_OWN = frozenset({"demonstrations", "knowledge_verbatim_tool_definitions", "clock"})
"""Items whose numbers are not what a member or a tool has named."""

_ID = re.compile(r"(?:^|_)(?:id|ids|uuid|guid)$|(?<=[a-z])(?:Id|Ids|ID|IDs)$")
_NUMBER = re.compile(r"(?:^|_)(?:number|no|nr)$")

_HOST = re.compile(r"https?://(?:www\.)?([^/:?#@\s]+)")

_NUMBER_WORDS: Mapping[int, str] = {
    1: "one first un une uno una um uma ein eine eins einen erste first premier primero один één",
    2: "two second deux dos due dois zwei zweite tweede deuxième segundo два twee",
    3: "three third trois tres tre três drei dritte troisième tercero три drie",
    4: "four fourth quatre cuatro quattro quatro vier vierte четыре",
    5: "five fifth cinq cinco cinque fünf fuenf fünfte пять vijf",
    6: "six sixth seis sei sechs sechste шесть zes",
    7: "seven seventh sept siete sette sete sieben siebte семь zeven",
    8: "eight eighth huit ocho otto oito acht achte восемь",
    9: "nine ninth neuf nueve nove neun neunte девять negen",
    10: "ten tenth dix diez dieci dez zehn zehnte десять tien",
    11: "eleven onze once undici elf одиннадцать",
    12: "twelve douze doce dodici doze zwölf zwoelf двенадцать twaalf",
}
_VALUE_OF = {word: number for number, words in _NUMBER_WORDS.items() for word in words.split()}


class Known:
    """What a model has read in a turn."""

    def __init__(self, prompt: Prompt) -> None:
        text = _plain("\n".join(_read(prompt)))
        # Number words of members only: what we tell of calls says `first` ourselves.
        said = _plain("\n".join(item.text for item in prompt.items if item.tag == "dialogue"))
        self._text = text
        self._words = set(re.findall(r"\w+", text)) - {"www"}
        self._squeezed = _squeezed(text)
        self._numbers = {found.lstrip("0") or "0" for found in re.findall(r"\d+", text)}
        words = set(re.findall(r"\w+", said))
        self._numbers |= {str(_VALUE_OF[word]) for word in words & _VALUE_OF.keys()}
        # Numerals that are no digits, such as those of Chinese.
        signs = {sign for sign in said if not sign.isascii()}
        values = [unicodedata.numeric(sign, -1) for sign in signs]
        self._numbers |= {str(int(value)) for value in values if value >= 0 and value == int(value)}

    def invented(self, spec: ToolSpec, call: ToolCall) -> tuple[tuple[str, ...], str]:
        """The required parameters of a call whose values come from nowhere, and what to say."""
        required: Json = spec.parameters.get("required")
        names = cast("list[Json]", required) if isinstance(required, list) else []
        found = {
            name: call.arguments[name]
            for name in names
            if name in call.arguments and self._is_invented(spec, name, call.arguments[name])
        }
        told = " and ".join(json.dumps(value, ensure_ascii=False) for value in found.values())
        return tuple(found), told and f"{told} is known from nowhere"

    def made_up_address(self, spec: ToolSpec, call: ToolCall) -> tuple[tuple[str, ...], str]:
        """The same for addresses of pages. Models know many by heart, so one counts as known if its
        site is called by a word that was said."""
        hosts = {
            name: found[1]
            for name, value in call.arguments.items()
            if isinstance(value, str) and (found := _HOST.match(value.strip().casefold()))
        }
        strange = {name: host for name, host in hosts.items() if not self._has_host(host)}
        told = " and ".join(strange.values())
        return tuple(strange), told and f"{told} is known from nowhere"

    def _has_host(self, host: str) -> bool:
        return host in self._text or not self._words.isdisjoint(re.split(r"[.-]", host)[:-1])

    def _is_invented(self, spec: ToolSpec, name: str, value: Json) -> bool:
        if isinstance(value, list):
            return any(self._is_invented(spec, name, each) for each in cast("list[Json]", value))
        whole = isinstance(value, int) and not isinstance(value, bool)
        if not (whole or isinstance(value, str)):
            return False
        if not (_ID.search(name) or (whole and _NUMBER.search(name))):
            return False
        text = _plain(str(value))
        if not any(sign.isdigit() for sign in text) or _is_told(spec, name, value):
            return False
        return not self._has(text)

    def _has(self, text: str) -> bool:
        squeezed = _squeezed(text)
        if squeezed.isdigit():
            return (squeezed.lstrip("0") or "0") in self._numbers or (
                len(squeezed) > 4 and squeezed in self._squeezed
            )
        if squeezed in self._squeezed:
            return True
        # A prefix that the model put before a number, or left of it: `#12`, `INV-12`, `fact 12`.
        digits = [found.lstrip("0") or "0" for found in re.findall(r"\d+", text)]
        return all(found in self._numbers for found in digits)


def _is_told(spec: ToolSpec, name: str, value: Json) -> bool:
    """Whether the tool's own definition names the value."""
    fields = schema_of(spec, name)
    listed: list[Json] = [fields.get("default"), fields.get("const")]
    for key in ("enum", "examples"):
        values: Json = fields.get(key)
        listed += cast("list[Json]", values) if isinstance(values, list) else []
    described = _squeezed(_plain(f"{spec.description} {fields.get('description', '')}"))
    return value in listed or _squeezed(_plain(str(value))) in described


def _read(prompt: Prompt) -> Iterator[str]:
    """The texts of a prompt in which a value may have been named; calls of this turn may not."""
    for item in prompt.all_items:
        if item.tag not in _OWN:
            yield from _texts(item) if item.tag == EXCHANGE else (item.text,)


def _texts(item: PromptItem) -> Iterator[str]:
    if item.role == "assistant":
        return
    for part in item.parts:
        if isinstance(part, ToolResult | TextPart):
            yield part.text


def _plain(text: str) -> str:
    """Folded, and digits of any script as ours."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    if folded.isascii():
        return folded
    return "".join(str(int(sign)) if sign.isdecimal() else sign for sign in folded)


def _squeezed(text: str) -> str:
    return "".join(sign for sign in text if sign.isalnum())
