"""Reads the catalogue files, one a language, which lie beside this module.

Invariant: a catalogue is read once and never changes. What it does not have is None; whoever asks
then says it in English.

A file has tables `commands`, by qualified name, and `choices`, by what an option's choice is called
in English; and arrays of tables, which pair the English words (`en`) with those of the file's own
language: `texts` and `plurals`, that cogs say, and `notices`, that lower layers make. Placeholders
stand in braces, as `str.format` takes them. The table `figures` tells how numbers are written.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

LANGUAGES = ("de",)
"""Codes of the languages beside English; each has a file of that name."""

NUMBERS = frozenset({"count", "length", "minutes", "most", "number", "position", "seconds"})
"""Placeholders that stand for nothing but a number."""

LISTS = frozenset({"permissions"})
"""Placeholders that stand for notices with commas between."""

_PLACEHOLDER = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """A command's or option's name and description; the menu of a message shows a name alone."""

    name: str
    description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """How a language writes numbers and days: the signs between groups of three digits and before
    decimals, and forms with the placeholders {number}, or {day} and {month}."""

    thousands: str
    decimal: str
    percent: str
    day: str
    months: tuple[str, ...]

    def renumbered(self, english: str) -> str:
        """A number that is written as English does."""
        return english.translate({ord(","): self.thousands, ord("."): self.decimal})


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """One language. `options` are by qualified name of the command and name of the option,
    `plurals` the forms for one and for any other number by the two English ones. `texts` holds the
    `notices` too; `patterns` find those that have values in them."""

    commands: Mapping[str, Named]
    options: Mapping[tuple[str, str], Named]
    choices: Mapping[str, str]
    texts: Mapping[str, str]
    plurals: Mapping[tuple[str, str], tuple[str, str]]
    notices: Mapping[str, str]
    patterns: tuple[tuple[re.Pattern[str], str], ...]
    figures: Figures

    def retold(self, line: str) -> str | None:
        """The translation of `line`, which is a text of the catalogue, or one of its notices with
        the placeholders filled in, perhaps with other notices."""
        if (known := self.texts.get(line)) is not None:
            return known.format()
        return self._refilled(line)

    def _refilled(self, line: str) -> str | None:
        for pattern, text in self.patterns:
            if found := pattern.fullmatch(line):
                values = {
                    name: self._value(name, value) for name, value in found.groupdict().items()
                }
                return text.format(**values)
        return None

    def _value(self, name: str, value: str) -> str:
        if name in NUMBERS:
            return self.figures.renumbered(value)
        if name in LISTS:
            return ", ".join(self.notices.get(each, each) for each in value.split(", "))
        return self.notices.get(value) or self._refilled(value) or value


@cache
def catalogue(language: str) -> Catalogue:
    """The catalogue of one of LANGUAGES."""
    written = tomllib.loads(Path(__file__).with_name(f"{language}.toml").read_text("utf-8"))
    commands: Mapping[str, Mapping[str, Any]] = written["commands"]
    texts, notices = (
        {pair["en"]: pair[language] for pair in written[kind]} for kind in ("texts", "notices")
    )
    return Catalogue(
        commands={path: _named(each) for path, each in commands.items()},
        options={
            (path, option): _named(named)
            for path, each in commands.items()
            for option, named in each.get("options", {}).items()
        },
        choices=written["choices"],
        texts=texts | notices,
        notices=notices,
        plurals={tuple(pair["en"]): tuple(pair[language]) for pair in written["plurals"]},
        patterns=tuple(
            (_pattern(source), text)
            for source, text in notices.items()
            if _PLACEHOLDER.search(source)
        ),
        figures=_figures(written["figures"]),
    )


def _named(entry: Mapping[str, Any]) -> Named:
    return Named(name=entry["name"], description=entry.get("description", ""))


def _figures(entry: Mapping[str, Any]) -> Figures:
    return Figures(
        thousands=entry["thousands"],
        decimal=entry["decimal"],
        percent=entry["percent"],
        day=entry["day"],
        months=tuple(entry["months"]),
    )


def _pattern(source: str) -> re.Pattern[str]:
    """Matches what `source.format(...)` gives, whatever its placeholders stand for; those in
    NUMBERS tell where words next to them end."""
    parts = _PLACEHOLDER.split(source)  # words and names in turn
    words = [re.escape(each.format()) for each in parts[::2]]
    names = [f"(?P<{name}>{'[0-9.,]+' if name in NUMBERS else '.+?'})" for name in parts[1::2]]
    return re.compile(
        "".join(each for pair in zip(words, [*names, ""], strict=True) for each in pair), re.DOTALL
    )
