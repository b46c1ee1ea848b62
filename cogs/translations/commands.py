"""Translates names and descriptions of commands as discord.py registers them.

Invariant: an entry is found by the command's qualified name, so that a command needs nothing but
English where it is written. A language that has no entry shows the English one.
"""

import discord
from discord import app_commands
from discord.app_commands import TranslationContextLocation as Location

from cogs.translations.catalogue import LANGUAGES, Named, catalogue


class CatalogueTranslator(app_commands.Translator):
    """discord.py's translator over the catalogue files."""

    async def translate(
        self,
        string: app_commands.locale_str,
        locale: discord.Locale,
        context: app_commands.TranslationContextTypes,
    ) -> str | None:
        """See discord.py."""
        if locale.value not in LANGUAGES:
            return None
        known = catalogue(locale.value)
        match context.location:
            case Location.choice_name:
                return known.choices.get(string.message)
            case Location.parameter_name | Location.parameter_description:
                parameter = context.data
                key = parameter.command.qualified_name, parameter.display_name
                return _part(known.options.get(key), context.location)
            case Location.other:
                return None
            case _:
                return _part(known.commands.get(context.data.qualified_name), context.location)


def _part(named: Named | None, location: Location) -> str | None:
    if named is None:
        return None
    return named.name if location.name.endswith("_name") else named.description or None
