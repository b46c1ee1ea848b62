"""What a German admin reads, over the wire."""

import json
from pathlib import Path
from typing import Any

import discord
import pytest

from chat.reply import Reply, ToolRun
from cogs.rendering import reply_in_messages
from cogs.translations.catalogue import catalogue
from prompt.values import Outcome, ToolCall, ToolResult
from tests.cogs.town import Town, shown, town

FORMS: list[tuple[str, dict[str, Any]]] = [
    ("config limits", {"whose": "member"}),
    ("config budget", {}),
    ("config prices", {"model": "big"}),
    ("config search", {"provider": "searxng"}),
    ("config search", {"provider": "brave"}),
    ("config images", {}),
    ("config setup", {}),
    ("knowledge embeddings", {}),
    ("mcp add", {}),
]
REPLIES: list[tuple[str, dict[str, Any]]] = [
    ("config limits", {}),
    ("config prices", {}),
    ("config answering", {}),
    ("config moderation", {}),
    ("config persona", {}),
    ("config workarounds", {}),
    ("config endpoints", {}),
    ("config show", {}),
    ("config tune", {}),
    ("config search", {"provider": "default"}),
    ("knowledge list", {}),
    ("knowledge info", {}),
    ("knowledge use", {}),
    ("knowledge create", {"name": "Regeln"}),
    ("mcp list", {}),
    ("mcp remove", {"server": "none"}),
    ("usage", {}),
]


def english_in(words: str) -> list[str]:
    """Sentences of the catalogue that stand in `words` in English."""
    known = catalogue("de").texts
    return [
        text
        for text, german in known.items()
        if text.count(" ") > 1 and "{" not in text and text != german and text in words
    ]


async def read(here: Town, path: str, options: dict[str, Any]) -> str:
    """All that a command shows, forms included."""
    used = await here.slash(here.home_channel, here.operator, path, **options)
    if used.modal is not None:
        return json.dumps(used.modal, ensure_ascii=False)
    message = shown(used)
    return message.text + json.dumps(message.components, ensure_ascii=False)


async def test_an_admin_reads_their_language_everywhere(tmp_path: Path) -> None:
    async with town(tmp_path) as here:
        here.operator.locale = "de"
        for path, options in [*FORMS, *REPLIES]:
            words = await read(here, path, options)
            assert english_in(words) == [], path
            assert len(words) > 2, path


async def test_english_would_be_seen(tmp_path: Path) -> None:
    async with town(tmp_path) as here:
        seen = [path for path, options in FORMS if english_in(await read(here, path, options))]
        assert seen == [path for path, _ in FORMS]


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("1.500", "Fragen in einer Stunde: 1.500"),
        ("1,5", "Nichts wurde geändert. „1,5“ ist keine ganze Zahl von 1 bis "),
    ],
)
async def test_a_form_takes_numbers_as_they_are_written_there(
    tmp_path: Path, typed: str, said: str
) -> None:
    async with town(tmp_path) as here:
        here.operator.locale = "de"
        opened = await here.slash(here.home_channel, here.operator, "config limits", whose="member")
        sent = here.server.driver.submit(here.operator, opened, {"hour": typed})
        assert said in shown(await here.server.driver.answered(sent)).text


def test_what_became_of_tools_is_told_in_the_readers_language() -> None:
    outcomes: list[Outcome] = ["ok", "failed", "denied", "timeout", "invalid"]
    runs = [
        ToolRun(
            call=ToolCall(id=name, name=name, arguments={}, raw_arguments="{}", origin="text"),
            result=ToolResult(call_id=name, name=name, text="", outcome=outcome),
        )
        for name, outcome in zip("abcde", outcomes, strict=True)
    ]
    (shown,) = reply_in_messages(
        Reply(runs=runs), ["Ja."], final=True, begun=True, locale=discord.Locale.german
    )
    assert shown == (
        "Ja.\n-# benutzt: a, b (gescheitert), c (abgelehnt), d (hat zu lange gebraucht), "
        "e (wurde falsch aufgerufen)"
    )
