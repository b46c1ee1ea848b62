"""Prints the prompt that a message would send now.

Invariant: made by the live builder; nothing is sent to the endpoint.
"""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol, TextIO

from chat.ports import ChannelMessage, History, Member, Place
from prompt.snapshot import PromptTooLarge
from tools.registry import NoFiles

_MEMBER = Member(id=1, name="User")
_PLACE_CHANNEL = 2


class Shown(Protocol):
    """A prompt for reading and for replaying."""

    @property
    def text(self) -> str: ...  # noqa: D102
    @property
    def json(self) -> str: ...  # noqa: D102


class Snapshots(Protocol):
    """The part of the chat service that makes snapshots."""

    async def snapshot(
        self, place: Place, member: Member, history: History, newest: int, *, masks: bool = False
    ) -> Shown:
        """The prompt as it would be now; with `masks` without what the member said."""
        ...


class OneMessage(NoFiles):
    """A history that holds just the message given on the command line."""

    def __init__(self, text: str) -> None:
        self.message = ChannelMessage(
            id=time.time_ns(), author=_MEMBER, text=text, at=datetime.now(UTC)
        )

    async def read(self, *, before: int, after: int | None, limit: int) -> Sequence[ChannelMessage]:
        """See `chat.ports.History`."""
        inside = (after or 0) < self.message.id < before
        return [self.message][:limit] if inside else []


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `bot.py snapshot`."""
    parser.add_argument("message", nargs="?", default="Hello!", help="what the member says")
    parser.add_argument(
        "--guild", type=int, default=None, help="a guild's id, for its switches and persona"
    )
    parser.add_argument(
        "--format",
        choices=("text", "json"),
        default="text",
        help="text: annotated, for reading; json: the exact request body",
    )
    parser.add_argument("--mask", action="store_true", help="leave out what the member says")
    parser.add_argument(
        "--before",
        type=Path,
        metavar="FILE",
        help="tell in place of it where it parts from a body that --format json has printed",
    )


async def run_snapshot(snapshots: Snapshots, args: argparse.Namespace, stdout: TextIO) -> int:
    """Print the snapshot and return the exit status, 1 if the prompt cannot be made."""
    history = OneMessage(args.message)
    place = Place(guild_id=args.guild, channel_id=_PLACE_CHANNEL)
    try:
        before = None if args.before is None else json.loads(args.before.read_bytes())
        shown = await snapshots.snapshot(
            place, _MEMBER, history, history.message.id, masks=args.mask
        )
    except (OSError, ValueError) as error:
        print(f"{args.before} is no request body: {error}", file=sys.stderr)
        return 1
    except PromptTooLarge as error:
        print(error, file=sys.stderr)
        return 1
    if before is not None:
        # Imported here, so that what shows no snapshot starts at once.
        from chat.account import parted

        stdout.write(parted(before, json.loads(shown.json)))
        return 0
    stdout.write(shown.json + "\n" if args.format == "json" else shown.text)
    return 0
