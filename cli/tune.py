"""`bot.py tune`: tries settings of tool calling on an endpoint, and sets those that did best.

Invariant: how many requests it takes is told before the first one, and nothing is set unasked.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from providers.base import EndpointError

if TYPE_CHECKING:
    # Imported for types alone, so that what tunes nothing starts at once.
    from chat.tuning.tuner import Progress, Tuner

_TOLD_EVERY = 10
"""Requests between two lines about the progress."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `bot.py tune`."""
    parser.add_argument(
        "--guild", type=int, default=None, help="a guild's id, for its endpoint and settings"
    )
    parser.add_argument("--apply", action="store_true", help="set what did best")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the result there too")


async def run_tune(tuner: Tuner, args: argparse.Namespace, stdout: TextIO) -> int:
    """Try, print the table, and return the exit status: 1 if the endpoint does not answer."""

    def told(progress: Progress) -> None:
        if progress.done % _TOLD_EVERY == 0:
            print(f"{progress.done} of about {progress.of}", file=sys.stderr)

    try:
        model, requests = await tuner.plan(args.guild)
        print(
            f"About {requests} short requests to {model}, one at a time. Ctrl-C ends it; nothing "
            f"is {'set before the end' if args.apply else 'set'}.",
            file=sys.stderr,
        )
        tuning = await tuner.run(args.guild, told)
    except EndpointError as error:
        print(f"{error.member} {error.remedy}", file=sys.stderr)
        return 1
    stdout.write(f"{tuning.table()}\n")
    best = tuning.best
    if args.json is not None:
        text = json.dumps(tuning.as_json(), indent=1) + "\n"
        try:
            args.json.write_text(text, encoding="utf-8")
        except OSError as error:
            print(f"The result was not written: {error}", file=sys.stderr)
            return 1
    if not best.changes:
        stdout.write("No other setting does clearly better.\n")
    elif args.apply:
        await tuner.apply(args.guild, tuning)
        stdout.write(f"Set: {best.name}. /config workarounds shows and changes it.\n")
    else:
        stdout.write(f"Best: {best.name}. --apply sets it, as /config workarounds does.\n")
    return 0
