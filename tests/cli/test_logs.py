"""The log of a process: what reaches the file, and what happens where none can be."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

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
