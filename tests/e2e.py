"""The main job on real input: bot process, loopback Discord and a real model, in one run.

    python -m tests.e2e [--model-path FILE] [--json]

The endpoint's chat template never sees `tools`, so every call is one that was written as text.
Each request must lead to a stored text call of the right tool that ran, and to a final edit
that holds its result; no edit may show a raw call. Model texts vary with threads and builds,
so none is compared: at least 8 of the 10 requests must succeed. Exit status 0 if they do.

Without --model-path the pinned model is fetched once into the project's var/ folder.
"""

import argparse
import asyncio
import json
import re
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from cli.embedded.gguf import LocalModel
from cli.embedded.offer import offer_model
from cli.embedded.process import EmbeddedEndpoint
from data.settings import REPOSITORY
from tests.main_job import Answered, scene, transcript

REQUIRED = 8
TURN_SECONDS = 240.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a member asks, the tool that it needs, and whether an answer tells its result."""

    text: str
    tool: str
    told: Callable[[str, str], bool]


def _number(result: str, answer: str) -> bool:
    """The total of a roll stands in the answer."""
    total = result.rsplit(maxsplit=1)[-1]
    return re.search(rf"(?<!\d){total}(?!\d)", answer) is not None


def _time(result: str, answer: str) -> bool:
    """The time stands in the answer, on a 24-hour or a 12-hour clock."""
    time = re.search(r"(\d\d):(\d\d)", result)
    if time is None:
        return False
    hour = int(time[1])
    return any(f"{shown}:{time[2]}" in answer for shown in (time[1], hour, hour % 12 or 12))


def _word(word: str) -> Callable[[str, str], bool]:
    def told(result: str, answer: str) -> bool:
        return word in result.lower() and word in answer.lower()

    return told


REQUESTS: tuple[Request, ...] = (
    Request(text="Roll 2d6 for me", tool="roll_dice", told=_number),
    Request(text="roll a d20 please", tool="roll_dice", told=_number),
    Request(text="Can you roll 3d8 for my attack?", tool="roll_dice", told=_number),
    Request(text="throw 4d6", tool="roll_dice", told=_number),
    Request(text="What time is it in Tokyo right now?", tool="current_time", told=_time),
    Request(text="current time in New York?", tool="current_time", told=_time),
    Request(text="Please remember that my cat is called Miso", tool="remember", told=_word("miso")),
    Request(text="remember that my favourite colour is teal", tool="remember", told=_word("teal")),
    Request(text="What do you remember about my cat?", tool="recall", told=_word("miso")),
    Request(text="Do you recall what my favourite colour is?", tool="recall", told=_word("teal")),
)


def verdict(request: Request, answered: Answered) -> str:
    """Empty if the request was served as it should be, else what went wrong."""
    if answered.raw_calls_seen:
        return f"a member saw a raw call: {answered.raw_calls_seen[0]!r}"
    right = [
        result
        for call, result in zip(answered.calls, answered.results, strict=True)
        if call.name == request.tool and call.origin == "text" and result.outcome == "ok"
    ]
    if not right:
        return f"no text call of {request.tool} ran"
    if not any(request.told(result.text, answered.final) for result in right):
        return "the final edit does not tell the result"
    return ""


async def run(model: LocalModel, *, as_json: bool) -> int:
    """Ask everything, print what happened, and return the exit status."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        async with EmbeddedEndpoint(home, model) as endpoint:
            environment = {"VERBATIM_BASE_URL": endpoint.base_url, "VERBATIM_MODEL": endpoint.model}
            async with scene(home, {**environment, "VERBATIM_TEMPERATURE": "0"}) as here:
                outcomes = [
                    (answered, verdict(request, answered))
                    for request in REQUESTS
                    for answered in [await here.ask(request.text, timeout=TURN_SECONDS)]
                ]
            violations = [str(record) for record in here.server.violations()]
    return _report(outcomes, violations, as_json=as_json)


def _report(
    outcomes: Sequence[tuple[Answered, str]], violations: Sequence[str], *, as_json: bool
) -> int:
    served = sum(not wrong for _, wrong in outcomes)
    raw = any(answered.raw_calls_seen for answered, _ in outcomes)
    fine = served >= REQUIRED and not raw and not violations
    if as_json:
        rows = [{"question": a.question, "final": a.final, "wrong": wrong} for a, wrong in outcomes]
        report = {"served": served, "of": len(outcomes), "violations": violations, "rows": rows}
        print(json.dumps(report, indent=2))
        return 0 if fine else 1
    for answered, wrong in outcomes:
        print(transcript(answered))
        print(f"  {'NOT SERVED: ' + wrong if wrong else 'served'}\n")
    for violation in violations:
        print(f"violation: {violation}")
    print(f"{served} of {len(outcomes)} requests served, {REQUIRED} required")
    return 0 if fine else 1


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.e2e", description=__doc__)
    parser.add_argument("--model-path", type=Path, help="a GGUF file in place of the pinned model")
    parser.add_argument("--json", action="store_true", help="print a report for machines")
    args = parser.parse_args()
    model = offer_model(
        REPOSITORY / "var",
        model_path=args.model_path,
        assume_yes=True,
        console=Console(stderr=True),
        stdin=sys.stdin,
    )
    return asyncio.run(run(model, as_json=args.json))


if __name__ == "__main__":
    sys.exit(main())
