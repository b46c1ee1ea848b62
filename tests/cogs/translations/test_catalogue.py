"""The catalogues hold all that is said, nothing else, and fit where it is said."""

import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import discord
import pytest

from chat.admission import DMS_CLOSED
from chat.breaker import Resting
from chat.ending import CUT_BY_FILTER, CUT_BY_LENGTH, INCOMPLETE, RESTARTING, STOPPED
from chat.line import place_in_words
from chat.starting import BUSY
from chat.toolwork import WITHDRAWN_NOTICE
from chat.turn import (
    CALL_FAILED,
    NO_ANSWER,
    NO_ROOM,
    READING,
    TOO_MANY_ROUNDS,
)
from cogs.admitting import OPTED_OUT
from cogs.translations.catalogue import LANGUAGES, Catalogue, catalogue
from cogs.translations.figures import number, percent, plain_number, short_day
from cogs.translations.saying import named, retold, tr, tr_count
from cogs.tree import BROKEN, NOT_ALLOWED
from prompt.templates import REMEDY
from tests.cogs.translations.reading import (
    ROOT,
    literals,
    plainly_said,
    refusals,
    said,
    shown,
    skeleton,
    sources,
    told,
    untold,
)

NOTICES = (
    NO_ANSWER,
    CUT_BY_LENGTH,
    CUT_BY_FILTER,
    CALL_FAILED,
    TOO_MANY_ROUNDS,
    NO_ROOM,
    READING,
    BUSY,
    WITHDRAWN_NOTICE,
    INCOMPLETE,
    STOPPED,
    RESTARTING,
    DMS_CLOSED,
    OPTED_OUT,
    BROKEN,
    NOT_ALLOWED,
    *(f"you are {place_in_words(position)} in line" for position in range(1, 13)),
    *(Resting(seconds, limited=True).member for seconds in (0.5, 1.0, 2.0, 300.0)),
)

UNTRANSLATED = {
    "actions": "what a tool answers the model",
    "client": "the terminal",
    "files": "what the model reads of attachments",
    "in_words": "what the model reads of messages",
    "splitting": "patterns, and a fault of the caller's",
    "token_check": "the terminal",
}
"""Modules of cogs whose words are for others than members, and for whom."""

COGS = sorted((ROOT / "cogs").rglob("*.py"))
GERMAN = discord.Locale.german
PLACEHOLDER = re.compile(r"\{(\w+)\}")
COMMAND = re.compile(r"`/([^`]+)`")


@pytest.fixture(params=LANGUAGES)
def known(request: pytest.FixtureRequest) -> Catalogue:
    return catalogue(request.param)


def pairs(known: Catalogue) -> Iterator[tuple[str, str]]:
    yield from known.texts.items()
    for english, other in known.plurals.items():
        yield from zip(english, other, strict=True)


def test_what_cogs_say_is_in_every_catalogue(known: Catalogue) -> None:
    missing = [
        (path.name, texts)
        for path in sorted((ROOT / "cogs").rglob("*.py"))
        for texts in said(path)
        if (texts[0] not in known.texts if len(texts) == 1 else texts not in known.plurals)
    ]
    assert missing == []


def test_nothing_in_a_catalogue_is_said_nowhere(known: Catalogue) -> None:
    spoken = {text for path in sources() for text in literals(path)}
    assert [source for source, _ in pairs(known) if skeleton(source) not in spoken] == []


def test_both_languages_fill_in_the_same(known: Catalogue) -> None:
    for source, text in pairs(known):
        assert sorted(PLACEHOLDER.findall(source)) == sorted(PLACEHOLDER.findall(text)), source
        assert text.strip() == text != "", source


def test_commands_are_called_in_a_language_what_they_are_named_in_it(known: Catalogue) -> None:
    for source, text in pairs(known):
        called = [_in_language(known, path) for path in COMMAND.findall(source)]
        assert COMMAND.findall(text) == called, source


def _in_language(known: Catalogue, path: str) -> str:
    words = path.split()
    paths = [" ".join(words[: end + 1]) for end in range(len(words))]
    return " ".join(known.commands[each].name for each in paths)


def test_a_line_is_said_in_the_language_of_its_reader() -> None:
    assert tr(GERMAN, "Remembered: {fact}", fact="{x}") == "Gemerkt: {x}"
    assert tr(discord.Locale.american_english, "Remembered: {fact}", fact="x") == "Remembered: x"
    assert tr(None, "Remembered: {fact}", fact="x") == "Remembered: x"
    assert tr(GERMAN, "Said nowhere: {fact}", fact="x") == "Said nowhere: x"


@pytest.mark.parametrize(
    ("count", "german", "english"),
    [(0, "0 Sachen", "0 facts"), (1, "1 Sache ", "1 fact "), (2, "2 Sachen", "2 facts")],
)
def test_a_number_takes_its_form(count: int, german: str, english: str) -> None:
    forms = "I remember {count} fact about you:", "I remember {count} facts about you:"
    assert german in tr_count(GERMAN, *forms, count=count)
    assert english in tr_count(None, *forms, count=count)


def test_a_finished_line_is_told_again_with_its_values() -> None:
    line = "A fact has 1 to 500 characters; this one has 612."
    assert retold(GERMAN, line) == "Eine Sache hat 1 bis 500 Zeichen; diese hat 612."
    assert retold(None, line) == line
    assert retold(GERMAN, f"Well. {line}") == f"Well. {line}"
    assert retold(GERMAN, "Whatever {this} is") == "Whatever {this} is"
    assert retold(GERMAN, "It cannot be undone.") == "Das lässt sich nicht rückgängig machen."


@pytest.mark.parametrize(
    ("line", "german"),
    [
        ("you are second in line", "du bist als Zweites an der Reihe"),
        ("you are number 12 in line", "du bist als Nummer 12 an der Reihe"),
        (
            "You have asked 5 questions a minute, as many as are allowed. I answer again <t:9:R>.",
            "Du hast 5 Fragen in einer Minute gestellt, so viele wie erlaubt sind. "
            "<t:9:R> antworte ich wieder.",
        ),
        (
            "I lack the permission Send Messages, View Channel there",
            "mir fehlt dort die Berechtigung Nachrichten senden, Kanal anzeigen",
        ),
        (
            "Only `x` or a member with the permission Manage Server can answer this.",
            "Das kann nur `x` beantworten oder ein Mitglied mit der Berechtigung Server verwalten.",
        ),
        ("upfront: 5 tools", "von Anfang an: 5 Werkzeuge"),
        (
            "stable dispatcher: 5 tools at hand, 12 found by search",
            "fester Verteiler: 5 Werkzeuge zur Hand, 12 durch Suche zu finden",
        ),
        (
            "`x` for <@1>: denied, by <@2>",
            "`x` für <@1>: abgelehnt, von <@2>",
        ),
        (
            "<@1> in <#2>: The admins of this server have me ignore you.",
            "<@1> in <#2>: Die Admins dieses Servers lassen mich dich nicht beachten.",
        ),
        (
            "The model server has not answered lately. It is tried again in 30 seconds.",
            "Der Modellserver hat zuletzt nicht geantwortet. "
            "In 30 Sekunden wird er wieder gefragt.",
        ),
        (
            "persona, line 2: a loop is not for templates here.",
            "persona, Zeile 2: eine Schleife gibt es in Vorlagen hier nicht.",
        ),
        (
            "notes, line 12: jinja2 says: Expected an expression.",
            "notes, Zeile 12: jinja2 sagt: Expected an expression.",
        ),
    ],
)
def test_values_that_are_notices_are_told_again_too(line: str, german: str) -> None:
    assert retold(GERMAN, line) == german


def test_what_is_right_in_a_template_is_told_with_its_braces() -> None:
    german = retold(GERMAN, REMEDY)
    assert german.startswith("Nimm {{ variable }}, {% if variable %} ...")
    assert german.endswith("zwischen {% raw %} und {% endraw %}.")


def test_what_admins_are_refused_is_in_every_catalogue(known: Catalogue) -> None:
    spoken = {skeleton(source) for source, _ in pairs(known)}
    texts = list(refusals())
    assert len(texts) > 30
    assert [text for text in texts if text not in spoken] == []


def test_what_turns_tell_is_in_every_catalogue(known: Catalogue) -> None:
    assert [each for each in NOTICES if known.retold(each) is None] == []


def test_commands_and_menus_have_names_for_members() -> None:
    assert named(GERMAN, "help", "What works") == (
        "hilfe",
        "Was hier für dich geht und wie du fragst",
    )
    assert named(GERMAN, "unheard of", "What works") == ("unheard of", "What works")
    assert named(None, "help", "What works") == ("help", "What works")


@pytest.mark.parametrize("path", COGS, ids=lambda path: path.stem)
def test_cogs_say_every_line_by_the_catalogue(path: Path, known: Catalogue) -> None:
    spoken = {skeleton(source) for source, _ in pairs(known)}
    spoken |= {*known.commands, *known.choices}
    missing = [text for text in plainly_said(path) if text not in spoken]
    assert bool(missing) == (path.stem in UNTRANSLATED), missing


def test_nothing_is_shown_past_the_catalogue() -> None:
    past = [(each.where, text) for path in COGS for each in shown(path)
            for text in untold(each.value)]  # fmt: skip
    assert past == []


@pytest.mark.parametrize(
    "line",
    [
        "await channel.send('Hello there')",
        "await channel.send(f'{name} is here')",
        "await channel.send(clipped('Hello there', 20))",
        "await interaction.edit_original_response(content=known or 'Nothing')",
        "super().__init__(title='A form')",
        "ui.Button(label='Stop' if runs else tr(locale, 'Start'), custom_id='stop')",
        "ui.TextDisplay(f'**{tr(locale, name)}** of many')",
        "discord.SelectOption(label=tr(locale, 'One'), description='The first one')",
    ],
)
def test_what_is_shown_past_the_catalogue_is_found(line: str, tmp_path: Path) -> None:
    module = tmp_path / "cog.py"
    module.write_text(f"async def show():\n    {line}\n", "utf-8")
    assert [text for each in shown(module) for text in untold(each.value)] != []


def test_translations_fit_where_discord_shows_them(known: Catalogue) -> None:
    texts = [(text, each.most) for path in COGS for each in shown(path)
             for text in told(each.value)]  # fmt: skip
    assert len(texts) > 50
    assert [text for text, most in texts if len(known.texts[text]) > most] == []


def test_the_font_of_the_chart_has_every_letter(known: Catalogue) -> None:
    chart, usage = (ROOT / "cogs" / name for name in ("chart.py", "usage.py"))
    texts = [texts[0] for texts in said(chart)]
    texts += [text for text in literals(usage) if text in known.notices]
    drawn = [*(known.texts[text] for text in texts), *known.figures.months, known.figures.day]
    assert len(drawn) > 20
    assert [text for text in drawn if not text.isascii()] == []


@pytest.mark.parametrize(
    ("locale", "written"),
    [(None, ("1,234.5", "0.05", "87%", "3 Mar")), (GERMAN, ("1.234,5", "0,05", "87 %", "3. Mrz."))],
)
def test_figures_are_written_as_in_the_language(
    locale: discord.Locale | None, written: tuple[str, ...]
) -> None:
    assert written == (
        number(locale, 1234.5, 1),
        plain_number(locale, 0.05),
        percent(locale, 0.871),
        short_day(locale, date(2026, 3, 3)),
    )


def test_numbers_in_a_finished_line_are_written_as_in_the_language() -> None:
    line = "This server now keeps 1,900 of at most 2,000 documents."
    assert retold(GERMAN, line) == "Dieser Server hat jetzt 1.900 Dokumente; höchstens 2.000 gehen."
