"""The log of a process: what reaches the file, and what happens where none can be."""

import json
import logging
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Literal

import pytest

from chat.at_work import turn_at_work
from cli.logs import log_to
from data.errors import StoreError


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    """Whatever a test hangs on the root logger goes again, and its files are closed."""
    root = logging.getLogger()
    before, level = list(root.handlers), root.level
    yield
    for handler in [handler for handler in root.handlers if handler not in before]:
        root.removeHandler(handler)
        with suppress(OSError):  # of a disk that is full
            handler.close()
    root.setLevel(level)


def test_the_file_holds_what_weighs_enough(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log_to(tmp_path, "info", chatting=True)
    log = logging.getLogger("test")
    log.debug("light")
    log.warning("heavy")
    log.error("heaviest")
    written = (tmp_path / "logs" / "verbatim.log").read_text(encoding="utf-8")
    assert [line.split(": ")[-1] for line in written.splitlines()] == ["heavy", "heaviest"]
    shown = capsys.readouterr().err
    assert "heaviest" in shown
    assert "heavy\n" not in shown


def test_a_home_without_room_for_logs_is_told(tmp_path: Path) -> None:
    (tmp_path / "logs").write_text("in the way")
    with pytest.raises(StoreError, match=r"logs cannot be written.*VERBATIM_HOME"):
        log_to(tmp_path, "info", chatting=False)


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_line_tells_its_turn_and_no_secret(tmp_path: Path, form: Literal["text", "json"]) -> None:
    log_to(tmp_path, "info", chatting=True, form=form, secrets=["hunter2"])
    log = logging.getLogger("test")
    log.warning("outside")
    turn = turn_at_work.set(1577294474789388817)
    error = ValueError("hunter2 was refused")
    log.error("with hunter2", exc_info=(ValueError, error, None))
    turn_at_work.reset(turn)
    written = (tmp_path / "logs" / "verbatim.log").read_text(encoding="utf-8")
    assert "hunter2" not in written
    if form == "text":
        outside, inside, *_ = written.splitlines()
        assert outside.endswith("WARNING test: outside")
        assert inside.endswith("test: [turn 1577294474789388817] with [secret]")
        assert "[secret] was refused" in written
        return
    first, second = map(json.loads, written.splitlines())
    assert (first["level"], first["logger"], first["message"]) == ("warning", "test", "outside")
    assert "turn" not in first
    assert second["turn"] == "1577294474789388817"
    assert second["message"] == "with [secret]"
    assert second["traceback"].endswith("ValueError: [secret] was refused")
    assert datetime.fromisoformat(second["time"]).tzinfo is not None


def test_a_secret_that_begins_with_another_is_blotted_whole(tmp_path: Path) -> None:
    log_to(tmp_path, "info", chatting=True, secrets=["", "key", "key-of-another"])
    logging.getLogger("test").warning("with key-of-another")
    written = (tmp_path / "logs" / "verbatim.log").read_text(encoding="utf-8")
    assert written.rstrip().endswith("test: with [secret]")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a file that is always full")
def test_a_full_disk_is_told_once_and_without_a_traceback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "logs").mkdir()
    path = tmp_path / "logs" / "verbatim.log"
    path.symlink_to("/dev/full")
    log_to(tmp_path, "info", chatting=True)
    for number in range(3):
        logging.getLogger("test").error("line %d", number)
    (told,) = [line for line in capsys.readouterr().err.splitlines() if "ERROR" not in line]
    assert told == f"The log cannot be written to {path}: [Errno 28] No space left on device"
