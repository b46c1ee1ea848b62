"""`bot.py backup` and `restore` as operators run them: real processes, also on a full disk."""

import argparse
import asyncio
import io
import os
import resource
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from pydantic import SecretStr

from cli import backup
from data.migrate import migrate
from data.settings import Settings
from data.store import DATABASE_NAME, open_store
from tests.loopback.process import PythonProcess


def bot(
    home: Path, *arguments: str, first: Callable[[], None] | None = None, **settings: str
) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ.get("PATH", os.defpath), "VERBATIM_HOME": str(home)}
    return subprocess.run(
        [sys.executable, "bot.py", *arguments],
        env={**environment, **settings},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        preexec_fn=first,
    )


async def test_backup_and_restore_from_end_to_end(tmp_path: Path) -> None:
    home, kept = tmp_path / "home", tmp_path / "backup.db"
    async with open_store(home) as store:
        await store.facts.remember(10, 30, "Drinks green tea")
        # The store is open, as it is while the bot runs.
        saving = PythonProcess("bot.py", "backup", str(kept))
        async with saving:
            await saving.start([], {"VERBATIM_HOME": str(home)})
            assert await saving.wait() == 0
            said = saving.output
            refused = await asyncio.to_thread(bot, home, "restore", str(kept))
        await store.facts.remember(10, 30, "Drinks black tea")
    assert str(kept) in said
    assert str(home / "master.key") in said
    assert refused.returncode == 1
    assert "Another Verbatim process" in refused.stderr
    # Where only the database was saved, it must come back before the keys are entered again.
    (home / "config.toml").write_text('discord_token_encrypted = "lost"\n')
    done = await asyncio.to_thread(bot, home, "restore", str(kept))
    assert done.returncode == 0
    assert "master.key is missing" in done.stderr
    async with open_store(home) as store:
        assert [fact.text for fact in await store.facts.recall(10, 30, None)] == [
            "Drinks green tea"
        ]


def in_process(settings: Settings, *arguments: str) -> str:
    """What a command says, without a process of its own."""
    parser = argparse.ArgumentParser()
    backup.add_parsers(parser.add_subparsers(dest="command"))
    stdout = io.StringIO()
    assert backup.run(parser.parse_args(arguments), settings, stdout) == 0
    return stdout.getvalue()


def test_a_key_is_named_but_neither_copied_nor_shown(tmp_path: Path) -> None:
    migrate(tmp_path / DATABASE_NAME)
    key = "c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0MTI="
    said = in_process(Settings(home=tmp_path, master_key=SecretStr(key)), "backup")
    assert "the value of VERBATIM_MASTER_KEY" in said
    (made,) = (tmp_path / "backups").iterdir()
    assert str(made) in said
    assert key not in said
    assert key.encode() not in made.read_bytes()


def full_disk() -> None:
    """No file may grow beyond this many bytes: less than an empty database has."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))


@pytest.mark.parametrize("command", ["backup", "restore"])
def test_a_full_disk_ends_in_one_line_and_leaves_everything_as_it_was(
    tmp_path: Path, command: str
) -> None:
    home, kept = tmp_path / "home", tmp_path / "backup.db"
    home.mkdir()
    migrate(home / DATABASE_NAME)
    before = (home / DATABASE_NAME).read_bytes()
    if command == "restore":
        migrate(kept)
    done = bot(home, command, str(kept), first=full_disk)
    assert done.returncode == 1
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert "disk" in done.stderr
    assert (home / DATABASE_NAME).read_bytes() == before
    assert list(tmp_path.rglob("*.partial")) == list(tmp_path.rglob("*.incoming*")) == []
    assert kept.exists() == (command == "restore")


def test_a_bot_with_a_damaged_database_says_how_to_get_it_back(tmp_path: Path) -> None:
    path, kept = tmp_path / DATABASE_NAME, tmp_path / "b.db"
    migrate(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("INSERT INTO meta VALUES ('k', 'v')")
        connection.commit()
    in_process(Settings(home=tmp_path), "backup", str(kept))
    path.write_bytes(path.read_bytes()[:9000])
    before = path.read_bytes()
    started = bot(tmp_path, "run", VERBATIM_BASE_URL="http://127.0.0.1:9/v1", DISCORD_TOKEN="t")
    assert started.returncode == 1
    assert "is damaged" in started.stderr
    assert "bot.py restore" in started.stderr
    assert "Traceback" not in started.stderr
    assert path.read_bytes() == before
    in_process(Settings(home=tmp_path), "restore", str(kept))
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT value FROM meta").fetchall() == [("v",)]
