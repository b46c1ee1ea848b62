"""What docs/operating.md tells operators to look for and to do is what there is."""

import configparser
import re
from pathlib import Path

import pytest

import run
from cogs.client import _GRACE, _PATIENCE  # pyright: ignore[reportPrivateUsage]
from data.departures import GRACE
from data.settings import Settings
from data.usage import KEPT
from tests.test_layers import SOURCES

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "docs/operating.md").read_text(encoding="utf-8")
SYMPTOMS = TEXT.partition("## When something is wrong")[2].partition("\n## ")[0]
QUOTED = sorted(
    {
        piece.strip()
        for row in SYMPTOMS.splitlines()
        if row.startswith("| ")
        for quote in re.findall(r"\*([^*]+)\*", row.split("|")[1])
        for piece in quote.split("...")
        if piece.strip()
    }
)


def everything_said() -> str:
    """All sources, with words that are broken into several literals joined."""
    joined = re.sub(r'"\s*\n\s*f?"', "", "\n".join((ROOT / path).read_text() for path in SOURCES))
    return joined + "Read-only file system Permission denied"  # the system says these


def test_there_are_symptoms() -> None:
    assert len(QUOTED) > 10


@pytest.mark.parametrize("quoted", QUOTED)
def test_what_is_quoted_is_what_the_bot_says(quoted: str) -> None:
    assert quoted in everything_said()


def unit() -> configparser.ConfigParser:
    parsed = configparser.ConfigParser(strict=False, interpolation=None)
    parsed.optionxform = str  # pyright: ignore[reportAttributeAccessIssue]
    parsed.read(ROOT / "docs/verbatim.service")
    return parsed


def test_the_service_starts_what_is_there_and_lets_answers_end() -> None:
    service = unit()["Service"]
    assert service["WorkingDirectory"] == "/opt/verbatim"
    assert service["ExecStart"] == "/opt/verbatim/.venv/bin/python bot.py run"
    assert service["ExecStartPre"] == "/usr/bin/python3 run.py --install-only"
    assert "--install-only" in (ROOT / "run.py").read_text()
    assert run.__doc__
    assert float(service["TimeoutStopSec"]) >= _PATIENCE + _GRACE + 2
    assert service["ReadWritePaths"] == service["WorkingDirectory"]
    assert unit()["Install"]["WantedBy"] == "multi-user.target"


def test_how_long_things_are_kept() -> None:
    table = TEXT.partition("## How long things are kept")[2]
    assert f"`VERBATIM_KEEP_TURNS`: {Settings.model_fields['keep_turns'].default} days" in table
    assert f"| {KEPT.days} days |" in table
    assert f"| {GRACE} days on which the bot ran" in table
