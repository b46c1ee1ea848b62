"""Says a line in the language of the one who reads it.

Invariant: English is both the source and what is said where a catalogue lacks a line; nothing here
fails over a translation that is missing.
"""

from typing import TypeAlias

import discord

from cogs.translations.catalogue import LANGUAGES, Catalogue, catalogue

Speaks: TypeAlias = discord.Locale | None
"""The locale of a member's client, or the one that a server prefers; None is English."""


def tr(locale: Speaks, text: str, /, **values: object) -> str:
    """`text`, which stands in the catalogues, with `values` for its placeholders."""
    known = known_to(locale)
    translated = known.texts.get(text, text) if known else text
    return translated.format(**values)


def tr_count(locale: Speaks, one: str, many: str, /, count: int, **values: object) -> str:
    """The same for a number of things: `one` where `count` is 1, else `many`; both may hold the
    placeholder `{count}`."""
    known = known_to(locale)
    forms = known.plurals.get((one, many), (one, many)) if known else (one, many)
    return forms[count != 1].format(count=count, **values)


def retold(locale: Speaks, line: str, /) -> str:
    """A finished English line of a lower layer, which knows no locales, in another language.

    A line with values in it is found by the text that it was made from.
    """
    known = known_to(locale)
    return (known and known.retold(line)) or line


def reads_in(message: discord.Message) -> Speaks:
    """The language of those who read the answer to a message, as far as Discord tells."""
    return message.guild.preferred_locale if message.guild else None


def named(locale: Speaks, path: str, description: str) -> tuple[str, str]:
    """What a command is called in a member's client, and its description there. `path` and
    `description` are the English ones."""
    known = known_to(locale)
    entry = known.commands.get(path) if known else None
    return (entry.name, entry.description or description) if entry else (path, description)


def choice(locale: Speaks, name: str) -> str:
    """What a command's choice is called in a member's client; `name` is the English one."""
    known = known_to(locale)
    return known.choices.get(name, name) if known else name


def known_to(locale: Speaks) -> Catalogue | None:
    """The catalogue of those who read in `locale`; None where they read English."""
    language = locale.value.partition("-")[0] if locale else ""
    return catalogue(language) if language in LANGUAGES else None
