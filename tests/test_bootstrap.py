"""run.py in a copy of its own, with a lock of one package that lies in a folder."""

import hashlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
POSIX = pytest.mark.skipif(os.name != "posix", reason="signals and scripts as on POSIX")

BOT = """
import json, os, sys
from importlib.metadata import version
said = {"greeting": version("greeting"), "arguments": sys.argv[1:], "prefix": sys.prefix}
print(json.dumps({**said, "utf8": sys.flags.utf8_mode, "cwd": os.getcwd()}))
sys.exit(7 if "fail" in sys.argv else 0)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A folder with run.py, its locks, a bot that says how it was started, and an index."""

    root: Path
    index: Path

    @property
    def mark(self) -> str:
        return (self.root / ".venv" / "installed").read_text()

    def publish(self, version: str) -> str:
        """Put a version of the package on the index. Returns a lock with it and nothing else."""
        wheel = self.index / f"greeting-{version}-py3-none-any.whl"
        info = f"greeting-{version}.dist-info"
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.writestr(
                f"{info}/METADATA", f"Metadata-Version: 2.1\nName: greeting\nVersion: {version}\n"
            )
            archive.writestr(
                f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
            )
            archive.writestr(f"{info}/RECORD", "")
        digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
        return f"greeting=={version} --hash=sha256:{digest}\n"

    def lock(self, text: str, *, full: str | None = None) -> None:
        """Set the lock for running, and the full one, by default to the same with a comment."""
        (self.root / "requirements-runtime.lock").write_text(text)
        (self.root / "requirements.lock").write_text(full or f"# everything\n{text}")

    def environment(self, **extra: str) -> dict[str, str]:
        pip = {
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": str(self.index),
        }
        return {"PATH": os.defpath, **pip, **extra}

    def start(
        self, *arguments: str, environment: Mapping[str, str] | None = None, cwd: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, str(self.root / "run.py"), *arguments],
            env=environment or self.environment(),
            cwd=cwd or self.root,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def call(self, code: str, *arguments: str, path: str = "") -> subprocess.CompletedProcess[str]:
        """Run code that imports this run.py."""
        return subprocess.run(
            [sys.executable, "-c", code, *arguments],
            env=self.environment(PATH=path),
            cwd=self.root,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )


def bare(folder: Path) -> Place:
    place = Place(root=folder / "verbatim", index=folder / "index")
    place.root.mkdir()
    place.index.mkdir()
    shutil.copy(ROOT / "run.py", place.root)
    (place.root / "bot.py").write_text(BOT)
    place.lock(place.publish("1.0"))
    return place


@pytest.fixture(scope="module")
def first_start(tmp_path_factory: pytest.TempPathFactory) -> tuple[Place, str, str]:
    """A place after its first successful start, and what that start printed.

    Before it, making the environment was cut off half-way.
    """
    place = bare(tmp_path_factory.mktemp("first"))
    (place.root / ".venv" / "lib").mkdir(parents=True)
    (place.root / ".venv" / "lib" / "half").touch()
    done = place.start("one", "two words")
    assert done.returncode == 0, done.stderr
    return place, done.stdout, done.stderr


@pytest.fixture
def place(first_start: tuple[Place, str, str], tmp_path: Path) -> Place:
    """A copy of a place that has been started before."""
    original = first_start[0]
    copy = Place(root=tmp_path / "verbatim", index=tmp_path / "index")
    shutil.copytree(original.root, copy.root, symlinks=True)
    shutil.copytree(original.index, copy.index)
    return copy


def test_a_start_over_half_an_environment_makes_it_anew_and_becomes_the_bot(
    first_start: tuple[Place, str, str],
) -> None:
    place, out, err = first_start
    said = json.loads(out)
    assert said["greeting"] == "1.0"
    assert said["arguments"] == ["one", "two words"]
    assert Path(said["prefix"]) == place.root / ".venv"
    assert said["utf8"] == 1
    (line,) = err.splitlines()
    assert "minutes" in line
    assert not (place.root / ".venv" / "lib" / "half").exists()


def test_the_next_start_only_starts(place: Place, tmp_path: Path) -> None:
    shutil.rmtree(place.index)
    done = place.start("fail", cwd=tmp_path)
    assert done.returncode == 7
    assert done.stderr == ""
    assert json.loads(done.stdout)["cwd"] == str(tmp_path)


def test_a_changed_lock_is_installed_over_the_old_one(place: Place) -> None:
    place.lock(place.publish("2.0"))
    canary = place.root / ".venv" / "canary"
    canary.touch()
    done = place.start()
    assert json.loads(done.stdout)["greeting"] == "2.0"
    assert "up to date" in done.stderr
    assert canary.exists()


def test_development_needs_are_more_than_running_needs(place: Place) -> None:
    place.lock(place.publish("1.0"), full=place.publish("1.1"))
    runtime = place.mark
    assert place.start("--dev", "--install-only").stdout == ""
    full = place.mark
    assert full != runtime
    again = place.start()
    assert again.stderr == ""
    assert json.loads(again.stdout)["greeting"] == "1.1"
    assert place.mark == full


def test_an_environment_without_a_mark_is_completed_in_place(place: Place) -> None:
    mark = place.root / ".venv" / "installed"
    before = mark.read_text()
    mark.unlink()
    canary = place.root / ".venv" / "canary"
    canary.touch()
    assert place.start("--install-only").returncode == 0
    assert mark.read_text() == before
    assert canary.exists()


def test_a_mark_of_another_python_version_does_not_count(place: Place) -> None:
    mark = place.root / ".venv" / "installed"
    fresh = mark.read_text()
    mark.write_text(f"{fresh.split()[0]} 3.10\n")
    assert "up to date" in place.start("--install-only").stderr
    assert mark.read_text() == fresh


@POSIX
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL], ids=["ctrl-c", "killed"])
def test_an_interrupted_installation_is_taken_up_again(
    place: Place, number: signal.Signals
) -> None:
    place.lock(place.publish("2.0"))
    silent = socket.create_server(("127.0.0.1", 0))
    silent.settimeout(30)
    url = f"http://127.0.0.1:{silent.getsockname()[1]}/simple"
    environment = {**place.environment(), "PIP_NO_INDEX": "0", "PIP_INDEX_URL": url}
    with (
        closing(silent),
        subprocess.Popen(
            [sys.executable, str(place.root / "run.py")],
            env=environment,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        ) as process,
    ):
        connection, _ = silent.accept()
        assert place.mark == ""
        os.killpg(process.pid, number)  # the terminal does so, too
        assert process.wait(timeout=20) == (130 if number == signal.SIGINT else -number)
        assert process.stderr is not None
        said = process.stderr.read()
        connection.close()
    assert "Traceback" not in said
    assert ("Interrupted" in said) == (number == signal.SIGINT)
    assert json.loads(place.start().stdout)["greeting"] == "2.0"


def only_line(done: subprocess.CompletedProcess[str]) -> str:
    """What was said after the announcement."""
    assert done.returncode == 1
    assert done.stdout == ""
    *announcement, line = done.stderr.splitlines()
    assert len(announcement) <= 1
    return line


def test_a_package_with_another_hash_is_refused(place: Place) -> None:
    place.lock(f"greeting==2.0 --hash=sha256:{'0' * 64}\n")
    place.publish("2.0")
    line = only_line(place.start())
    assert "install.log" in line
    assert "HASHES" in (place.root / ".venv" / "install.log").read_text()
    assert place.mark == ""


def test_no_network_names_the_network(place: Place) -> None:
    place.lock(place.publish("2.0"))
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    url = f"http://127.0.0.1:{port}/simple"
    offline = {"PIP_CONFIG_FILE": os.devnull, "PIP_INDEX_URL": url, "PIP_RETRIES": "0"}
    line = only_line(place.start(environment={"PATH": os.defpath, **offline}))
    assert "network" in line
    assert "HTTPS_PROXY" in line


def test_a_file_in_the_way_is_named(tmp_path: Path) -> None:
    place = bare(tmp_path)
    (place.root / ".venv").touch()
    assert str(place.root / ".venv") in only_line(place.start())


def script(path: Path, *lines: str) -> str:
    path.write_text("\n".join(["#!/bin/sh", *lines]))
    path.chmod(0o755)
    return str(path)


AS = """
import sys
sys.executable, sys.version_info = sys.argv[1], tuple(map(int, sys.argv[2].split(".")))
import run
"""
START = AS + "sys.exit(run.main([]))"
CHOOSE = AS + "print(run.choose().command[0])"


@POSIX
@pytest.mark.parametrize(("version", "fault"), [("3.8", "too old"), ("3.14", "too new")])
def test_a_version_that_does_not_fit_is_named(tmp_path: Path, version: str, fault: str) -> None:
    place = bare(tmp_path)
    stub = script(tmp_path / "python", f"echo {version.replace('.', ' ')} 1 1")
    line = only_line(place.call(START, stub, version))
    assert f"this is Python {version}, which is {fault}" in line
    assert "3.11 to 3.13" in line
    assert not (place.root / ".venv").exists()


@POSIX
def test_another_interpreter_that_fits_is_found(tmp_path: Path) -> None:
    place = bare(tmp_path)
    old = script(tmp_path / "python", "echo 3 8 1 1")
    programs = tmp_path / "programs"
    programs.mkdir()
    script(programs / "python3.13", "echo shims may pretend >&2", "exit 127")
    script(programs / "python3.12", "echo 3 12 0 1")
    script(programs / "python3.11", "echo 3 11 1 1")
    assert place.call(CHOOSE, old, "3.8", path=str(programs)).stdout == "python3.11\n"


@POSIX
def test_a_missing_venv_names_the_package(tmp_path: Path) -> None:
    place = bare(tmp_path)
    stub = script(tmp_path / "python", "echo 3 12 0 1")
    line = only_line(place.call(START, stub, "3.12"))
    assert "apt install python3-venv" in line
    assert "python3.12-venv" in line


AS_NOBODY = """
import os
if os.geteuid() == 0:
    os.setegid(65534)
    os.seteuid(65534)
"""


@POSIX
def test_no_right_to_write_is_named() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        place = bare(folder)
        stub = script(folder / "python", "echo 3 12 1 1")
        place.root.chmod(0o555)
        try:
            line = only_line(place.call(AS + AS_NOBODY + "sys.exit(run.main([]))", stub, "3.12"))
        finally:
            place.root.chmod(0o755)
    assert "Permission denied" in line
    assert str(place.root) in line


CHILD = """
import signal, sys, time
try:
    print("ready", flush=True)
    time.sleep(30)
except KeyboardInterrupt:
    print("asked to stop", flush=True)
    sys.exit(5)
"""


@pytest.fixture
def waiting() -> Iterator[subprocess.Popen[str]]:
    """run.py waiting for a child, as on Windows."""
    code = "import sys, run; sys.exit(run.wait_for([sys.executable, '-c', sys.argv[1]]))"
    with subprocess.Popen(
        [sys.executable, "-c", code, CHILD],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        yield process
        process.kill()


@POSIX
def test_where_it_cannot_become_the_bot_ctrl_c_is_the_bots(
    waiting: subprocess.Popen[str],
) -> None:
    assert waiting.stdout is not None
    assert waiting.stdout.readline() == "ready\n"
    os.killpg(waiting.pid, signal.SIGINT)
    assert waiting.stdout.read() == "asked to stop\n"
    assert waiting.wait(timeout=10) == 5


def pins(lock: str) -> dict[str, frozenset[str]]:
    """Requirement lines of a lock, each with its hashes."""
    found: dict[str, set[str]] = {}
    current: set[str] = set()
    for line in (ROOT / lock).read_text().splitlines():
        text = line.strip().removesuffix("\\").strip()
        if text.startswith("--hash="):
            current.add(text)
        elif text and not text.startswith("#"):
            current = found[text] = set()
    return {name: frozenset(hashes) for name, hashes in found.items()}


def test_the_runtime_lock_is_a_part_of_the_full_one() -> None:
    runtime, full = pins("requirements-runtime.lock"), pins("requirements.lock")
    assert runtime.items() < full.items()
    assert all(runtime.values())
