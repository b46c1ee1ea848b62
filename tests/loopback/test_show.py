"""The scenes that show what members see, played and read."""

from pathlib import Path

import pytest

from tests.loopback.scenarios import SCENARIOS
from tests.loopback.show import main, shown
from tests.loopback.timeline import changes

MAIN_LINES = {
    "tool": [
        "alice      says     | @verbatim What is 17.5 % of 2480, split three ways?",
        "verbatim   types",
        "[Stop]",
        "-# used calculate",
        "[Details] [Regenerate] [Delete]",
    ],
    "approval": [
        "owner      uses     /tool approval tool:remember policy:asks",
        "(only owner sees it)",
        "[Allow once] [Allow until outside text is read] [Deny]",
        "alice      presses  [Allow once]",
        "- -# May `remember` run for `Alice`?",
        "(no buttons any more)",
        "-# used remember",
    ],
    "workarounds": [
        "owner      uses     /config workarounds",
        "(is thinking)",
        "+ ## Workarounds for qwen3-8b",
        "<select of 5: auto>",
        "owner      presses  workarounds:tool_mode: verbatim_only",
        "<select of 6: verbatim_only>",
    ],
    "long": [
        "| ```python",
        "says     | ```python",
        "[Regenerate] [Delete]",
    ],
    "stop": [
        "alice      presses  [Stop]",
        "+ -# Stopped.",
        "[Regenerate] [Continue] [Delete]",
    ],
    "regenerate": [
        "| A sparrow.",
        "alice      presses  [Regenerate]",
        "- A sparrow.",
        "[Regenerate] [Delete]",
    ],
    "probe": [
        "owner      submits  ",
        "owner      presses  [Test tool calling]",
        "+ test calls               2 of 2 worked",
        "[Apply]",
    ],
    "usage": ["owner      uses     /usage of:server", "<file usage.png, "],
}


@pytest.mark.parametrize("name", SCENARIOS)
async def test_a_scene_shows_its_main_lines_in_order(name: str, tmp_path: Path) -> None:
    lines = iter(await shown(SCENARIOS[name], tmp_path))
    for wanted in MAIN_LINES[name]:
        assert any(wanted in line for line in lines), wanted


def test_the_program_names_the_scenes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == [*SCENARIOS]


def test_the_program_plays_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["regenerate", "--whole"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("   0.00 s  alice      says     | @verbatim Which bird")
    assert any(line.endswith("| A blackbird, long before the sun is up.") for line in lines)


@pytest.mark.parametrize(
    ("before", "after", "lines"),
    [
        ("same", "same", []),
        ("", "new", ["+ new"]),
        ("A wo", "A word", ["+ ...rd"]),
        ("A", "A\nB", ["+ B"]),
        ("A\n-# b", "A c", ["- A", "- -# b", "+ A c"]),
    ],
)
def test_what_an_edit_changed(before: str, after: str, lines: list[str]) -> None:
    assert sorted(changes(before, after)) == sorted(lines)
