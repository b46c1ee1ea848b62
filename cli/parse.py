"""`bot.py parse`: shows what is read out of a captured model output.

Invariant: a stable interface. One JSON line an event, the last one `finish`. In a batch every line
is answered in order, whatever it holds.
"""

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, TextIO

from chat.captured import FORMATS, Case, Record, Surfaces, case_of, parse, surface_of
from chat.parse_events import printable
from prompt.values import Json, JsonObject
from providers.openai.fault import Fault, as_object
from providers.verbatim import ParserSettings


def add_parser(
    subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]",  # pyright: ignore[reportPrivateUsage]
) -> None:
    """Adds `parse` to the command line."""
    summary = "show what is read out of a captured model output"
    parser = subparsers.add_parser("parse", help=summary, description=summary)
    add_arguments(parser)
    parser.set_defaults(func=_main)


def _main(args: argparse.Namespace) -> int:
    return run(args, sys.stdin.buffer, sys.stdout)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `parse`."""
    parser.add_argument("--tools", type=Path, help="tools as a JSON array, OpenAI shape")
    parser.add_argument(
        "--format",
        choices=FORMATS,
        default="text",
        help="raw text; one chat.completion.chunk a line; raw body of server-sent events",
    )
    parser.add_argument(
        "--finish",
        choices=("stop", "length", "tool_calls"),
        default="stop",
        help="finish reason that goes with raw text",
    )
    parser.add_argument(
        "--chunk", type=int, default=0, metavar="N", help="characters a feed; 0 = whole"
    )
    parser.add_argument(
        "--reasoning-open", action="store_true", help="the template opened a thinking block"
    )
    parser.add_argument(
        "--explain", action="store_true", help="add to each event the rule that decided it"
    )
    parser.add_argument(
        "--batch",
        action="store_true",
        help='lines {"id","tools","input","format"?,"finish"?,"chunk"?,"reasoning_open"?,'
        '"settings"?,"copied"?,"quoted"?} in, lines {"id","events"} out',
    )


def run(args: argparse.Namespace, stdin: BinaryIO, stdout: TextIO) -> int:
    """Reads stdin and writes events; the exit status. Raises nothing for bad input."""
    if args.batch:
        surfaces = Surfaces()
        for line in stdin:
            if line.strip():
                answer = _answer(line, surfaces, explain=args.explain)
                stdout.write(json.dumps(answer) + "\n")
                stdout.flush()
        return 0
    try:
        tools: Json = json.loads(args.tools.read_text(encoding="utf-8-sig")) if args.tools else []
        case = Case(
            surface=surface_of(tools),
            input=stdin.read().decode("utf-8-sig", "replace"),
            format=args.format,
            finish=args.finish,
            chunk=args.chunk,
            settings=ParserSettings(reasoning_open=args.reasoning_open, explain=args.explain),
        )
    except (OSError, ValueError) as error:
        sys.stderr.write(f"parse: {args.tools}: {error}\n")
        return 2
    stdout.writelines(json.dumps(record) + "\n" for record in parse(case))
    return 0


def _answer(line: bytes, surfaces: Surfaces, *, explain: bool) -> Record:
    """The output line for one line of a batch."""
    fields: JsonObject = {}
    try:
        fields = as_object(json.loads(line.decode("utf-8-sig", "replace"))) or {}
        case = case_of(fields, surfaces)
        events = parse(replace(case, settings=replace(case.settings, explain=explain)))
    except Exception as error:
        # Whatever a line holds costs that line alone, a defect of ours included.
        fault = Fault(message=f"{type(error).__name__}: {error}")
        events = printable([], fault=fault, explain=explain)
    return {"id": fields.get("id"), "events": events}
