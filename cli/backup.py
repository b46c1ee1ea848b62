"""`bot.py backup` and `bot.py restore`: copies the database out, and back in.

Invariant: backing up never disturbs a bot that runs, and restoring never happens beside one. What
a backup does not hold is named every time, because that is what people miss when they need it.
"""

from __future__ import annotations

import argparse
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    # Imported for types alone, so that other commands start at once.
    from collections.abc import AsyncGenerator

    from data.settings import Settings

COMMANDS = frozenset({"backup", "restore"})


def add_parsers(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:  # pyright: ignore[reportPrivateUsage]
    """The two commands and their arguments."""
    saving = commands.add_parser("backup", help="copy the database, also while the bot runs")
    saving.add_argument(
        "path", nargs="?", type=Path, help="a new file (default: one in the backups directory)"
    )
    putting_back = commands.add_parser("restore", help="put a backup in the database's place")
    putting_back.add_argument("path", type=Path, help="a backup; the present database is kept too")


def run(args: argparse.Namespace, settings: Settings, stdout: TextIO) -> int:
    """Do what `args` say and tell what was done. Raises StoreError."""
    from data.store import DATABASE_NAME

    database = settings.home / DATABASE_NAME
    if args.command == "restore":
        return _restore(args.path, database, stdout)
    return _back_up(args.path, database, settings, stdout)


def _back_up(to: Path | None, database: Path, settings: Settings, stdout: TextIO) -> int:
    from data.backup import back_up, default_name
    from data.keys import KEY_NAME, VARIABLE

    made = back_up(database, to or default_name(database, datetime.now(UTC)))
    key = f"the value of {VARIABLE}" if settings.master_key else f"{settings.home / KEY_NAME}"
    stdout.write(
        f"Backup made and checked: {made.path} ({made.size // 1000} kB, schema {made.schema}).\n"
        "It holds what members wrote, and keys in encrypted form only. Not in it, and to be kept "
        "in another place:\n"
        f"  {key}: the master key; without it the keys must be entered again\n"
        f"  {settings.home / 'config.toml'}, {settings.home / 'mcp.json'} and .env, as far as "
        "there are any\n"
        f"To put it back: stop the bot, then `python bot.py restore {made.path}`.\n"
    )
    return 0


def _restore(backup: Path, database: Path, stdout: TextIO) -> int:
    from data.backup import restore

    done = restore(backup, database)
    kept = f"The database that was there is kept: {done.former}.\n" if done.former else ""
    stdout.write(
        f"{database} is now what {backup} holds (it had schema {done.schema}).\n{kept}"
        "Keys in it are encrypted with the master key of that time. Start the bot, then see "
        "`python bot.py check`.\n"
    )
    return 0


@asynccontextmanager
async def backing_up(settings: Settings) -> AsyncGenerator[None]:
    """Make backups as the settings say for as long as the block runs."""
    import asyncio

    from data.backup import keep_backups
    from data.store import DATABASE_NAME

    if settings.backup_every is None:
        yield
        return
    schedule = asyncio.create_task(
        keep_backups(
            settings.home / DATABASE_NAME,
            every=timedelta(hours=settings.backup_every),
            keep=settings.backup_keep,
        )
    )
    try:
        yield
    finally:
        schedule.cancel()
        with suppress(asyncio.CancelledError):
            await schedule
