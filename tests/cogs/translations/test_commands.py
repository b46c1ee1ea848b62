"""Every command is documented, and named in every language within Discord's limits."""

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path

import discord
import pytest
from discord import app_commands

from cogs.translations.catalogue import LANGUAGES, catalogue
from cogs.translations.commands import CatalogueTranslator
from cogs.tree import sync_if_changed
from tests.cogs.town import town
from tests.cogs.translations.reading import ROOT
from tests.loopback.discord_server.command_rules import check_command, is_valid_name
from tests.loopback.discord_server.limits import Limits
from tests.loopback.discord_server.wire import SUBCOMMAND_KINDS, Payload, objects

LIMITS = Limits()
ROW = re.compile(r"^\| (?:`/|Apps → )(.+?)`? \| (.+?) \|", re.MULTILINE)
DOCUMENT = ROOT / "docs" / "commands.md"


@pytest.fixture(scope="module")
def declared(tmp_path_factory: pytest.TempPathFactory) -> list[Payload]:
    """The commands as they were registered."""

    async def register() -> list[Payload]:
        async with town(tmp_path_factory.mktemp("commands")) as here:
            return [command.declared for command in here.server.world.commands_in(here.home)]

    return asyncio.run(register())


def parts(command: Payload, path: str = "") -> Iterator[tuple[str, Payload]]:
    """A command with its groups, subcommands, options and choices, each with where it stands."""
    path = f"{path} {command['name']}".strip()
    yield path, command
    for option in objects(command.get("options")):
        yield from parts(option, path)
    for choice in objects(command.get("choices")):
        yield f"{path}={choice['name']}", choice


def in_language(node: Payload, language: str) -> Payload:
    """A command as those see it who use that language."""
    shown = {**node}
    for key in ("name", "description"):
        if language in (node.get(f"{key}_localizations") or {}):
            shown[key] = node[f"{key}_localizations"][language]
    for key in ("options", "choices"):
        if node.get(key):
            shown[key] = [in_language(child, language) for child in objects(node[key])]
    return shown


@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_is_left_in_english(declared: list[Payload], language: str) -> None:
    missing = [
        f"{path}: {key}"
        for command in declared
        for path, node in parts(command)
        for key in ("name", "description")
        if node.get(key) and language not in (node.get(f"{key}_localizations") or {})
    ]
    assert missing == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_discord_takes_what_is_translated(declared: list[Payload], language: str) -> None:
    for command in declared:
        check_command(in_language(command, language), command["name"], LIMITS)
        for path, node in parts(command):
            if node.get("description"):
                assert is_valid_name(in_language(node, language)["name"], LIMITS), path
    names = [(each["type"], in_language(each, language)["name"]) for each in declared]
    assert len(set(names)) == len(names)


def test_no_command_is_translated_that_there_is_not(declared: list[Payload]) -> None:
    paths = {path for command in declared for path, _ in parts(command)}
    for language in LANGUAGES:
        known = catalogue(language)
        assert {*known.commands} <= paths
        assert {f"{command} {option}" for command, option in known.options} <= paths
        choices = {path.partition("=")[2] for path in paths}
        assert {*known.choices} <= choices


def test_there_are_few_enough_commands(declared: list[Payload]) -> None:
    """Discord takes a hundred commands and refuses all if there is one more."""
    assert len(declared) <= 30


def test_every_command_is_documented_with_those_who_may(declared: list[Payload]) -> None:
    rows = ROW.findall(DOCUMENT.read_text("utf-8"))
    leaves = {
        path: command["default_member_permissions"]
        for command in declared
        for path, node in parts(command)
        if node in leaves_of(command)
    }
    assert sorted(path for path, _ in rows) == sorted(leaves)
    for path, who in rows:
        assert not (who == "everyone" and leaves[path]), path


def leaves_of(node: Payload) -> list[Payload]:
    """What can be used of a command: itself, or its subcommands."""
    below = [each for each in objects(node.get("options")) if each["type"] in SUBCOMMAND_KINDS]
    return [leaf for each in below for leaf in leaves_of(each)] if below else [node]


async def test_a_changed_translation_is_registered_and_nothing_else(tmp_path: Path) -> None:
    class Shouting(CatalogueTranslator):
        async def translate(
            self,
            string: app_commands.locale_str,
            locale: discord.Locale,
            context: app_commands.TranslationContextTypes,
        ) -> str | None:
            translated = await super().translate(string, locale, context)
            return translated and translated.replace("Was hier für dich geht", "Hilfe")

    async with town(tmp_path) as here:
        tree, journal = here.bot.tree, here.server.journal
        await here.until(lambda: len(journal.of("commands")) == 1)
        key = f"commands:{here.bot.application_id}"
        async with asyncio.timeout(5):  # it is noted once Discord has answered
            while (before := await here.store.meta.get(key)) is None:
                await asyncio.sleep(0.01)
        await sync_if_changed(tree, here.store.meta)
        assert len(journal.of("commands")) == 1
        await tree.set_translator(Shouting())
        await sync_if_changed(tree, here.store.meta)
        assert len(journal.of("commands")) == 2
        assert await here.store.meta.get(key) != before
