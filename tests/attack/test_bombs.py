"""Texts made to keep the bot's own regular expressions and folding busy: each is done in time that
grows with its length, and no faster than that."""

import time
from collections.abc import Callable

import pytest

from chat.masking import crossed_out
from chat.screening import Screen
from cogs.buttons import read_custom_id
from cogs.rendering import without_remarks
from cogs.splitting import split
from cogs.tables import readable
from data.knowledge.terms import query
from tests.providers.verbatim.outcome import parse
from tools.foreign import instructions_in
from tools.mcp.cleaning import clean
from tools.paging import visible

LENGTH = 20_000
SECONDS = 1.0
"""Far more than any takes, and far less than one that backtracks."""

UNITS = (
    "a",
    " ",
    "\n",
    "`",
    "```",
    "*_~|",
    "[](",
    "{",
    '{"a":',
    "((((",
    "<",
    "</tool_call>",
    "<|im_start|>",
    "roll_dice(",
    "\\",
    '"',
    "\u0300",
    "\u200b",
    "\u202e",
    "\ufdfa",
    "\U000e0041",
    "\U0001f468\u200d",
    "|-|-|\n",
    "> ",
    "-# ",
    "ignore all ",
    "<@1",
    "a.b/c?d=e&",
)

TAKES: dict[str, Callable[[str], object]] = {
    "foreign text": instructions_in,
    "splitting a reply": split,
    "tables of a reply": readable,
    "listed words": lambda text: Screen(("kraken", "a b", "-#")).shown(text, final=False),
    "remarks of a reply": without_remarks,
    "a query of the knowledge": query,
    "a custom id": read_custom_id,
    "masking": crossed_out,
    "what a server says of a tool": lambda text: clean(text, most=len(text)),
    "a page": visible,
    "calls in a model's text": lambda text: parse([text]),
}


@pytest.mark.parametrize("name", TAKES)
def test_no_text_takes_long(name: str) -> None:
    slow: list[str] = []
    for unit in UNITS:
        text = (unit * (LENGTH // len(unit)))[:LENGTH]
        begun = time.process_time()
        TAKES[name](f"{text[:-1]}!")
        if (took := time.process_time() - begun) > SECONDS:
            slow.append(f"{unit!r} takes {took:.1f} s")
    assert slow == []
