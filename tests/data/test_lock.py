"""One process a home directory."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from data.errors import StoreError
from data.lock import LOCK_NAME, instance_lock
from data.settings import REPOSITORY

HOLDER = """
import sys
from pathlib import Path
from data.lock import instance_lock

with instance_lock(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def hold(home: Path) -> "subprocess.Popen[str]":
    child = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(home)],
        cwd=REPOSITORY,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "held\n"
    return child


def acquire(home: Path) -> None:
    with instance_lock(home):
        pass


@pytest.mark.parametrize("how", ["normally", "killed"])
def test_a_second_process_is_refused_until_the_first_ends(tmp_path: Path, how: str):
    with hold(tmp_path) as child:
        with pytest.raises(StoreError) as caught:
            acquire(tmp_path)
        assert str(tmp_path) in caught.value.problem
        assert f"(process {child.pid})" in caught.value.problem
        assert "VERBATIM_HOME" in caught.value.remedy
        if how == "killed":
            os.kill(child.pid, signal.SIGKILL)
        else:
            child.communicate("")
        child.wait()
    acquire(tmp_path)


def test_a_left_over_file_is_no_lock(tmp_path: Path):
    (tmp_path / LOCK_NAME).write_text("123456789\n")
    with instance_lock(tmp_path):
        assert (tmp_path / LOCK_NAME).read_text() == f"{os.getpid()}\n"


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"me"])
def test_an_unreadable_process_id_is_left_out(tmp_path: Path, content: bytes):
    with hold(tmp_path) as child:
        (tmp_path / LOCK_NAME).write_bytes(content)
        with pytest.raises(StoreError, match="Another Verbatim process is using the directory"):
            acquire(tmp_path)
        child.communicate("")


def test_two_directories_are_two_locks(tmp_path: Path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    with instance_lock(tmp_path / "a"), instance_lock(tmp_path / "b"):
        pass
