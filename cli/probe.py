"""`bot.py probe`: asks an endpoint a few tiny questions and says how it takes tools.

Invariant: needs no settings and changes nothing; the key comes from VERBATIM_API_KEY and is never
printed. The JSON form is a stable interface.
"""

import argparse
import asyncio
import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, TextIO

from providers.base import EndpointError
from providers.probe import Findings, probe, sentence, settings_that_follow, table
from providers.probe.asking import SECONDS


def run(
    args: argparse.Namespace, environ: Mapping[str, str], stdout: TextIO, stderr: TextIO
) -> int:
    """Probe and print. The exit status is 0 if a test call worked, else 1."""
    if stderr.isatty():
        print("Asking; on slow hardware this takes a minute or two ...", file=stderr)
    return asyncio.run(_run(args, environ, stdout))


async def _run(args: argparse.Namespace, environ: Mapping[str, str], stdout: TextIO) -> int:
    from providers.openai.adapter import OpenAIProvider

    key = environ.get("VERBATIM_API_KEY")
    provider = OpenAIProvider(base_url=args.base_url, model=args.model, api_key=key)
    try:
        findings = await probe(provider, seconds=args.seconds)
    except EndpointError as error:
        findings = Findings(
            endpoint=provider.endpoint,
            model=provider.model,
            answered=False,
            trouble=error.member,
            remedy=f"{error.remedy} {error.detail}".strip(),
        )
    finally:
        await provider.close()
    if args.json:
        stdout.write(json.dumps(as_json(findings), indent=2, ensure_ascii=False) + "\n")
    else:
        stdout.writelines(f"{line}\n" for line in as_lines(findings))
    return 0 if findings.calls_worked else 1


def as_json(findings: Findings) -> dict[str, Any]:
    """Findings, what follows from them, and the verdict in words."""
    return {
        **asdict(findings),
        "settings": dict(settings_that_follow(findings)),
        "verdict": sentence(findings),
    }


def as_lines(findings: Findings) -> list[str]:
    """The table, the settings that follow and the verdict, for people."""
    lines = [f"{findings.model or 'no model'} at {findings.endpoint}"]
    remedy = [findings.remedy] if findings.remedy else []
    if findings.answered:
        rows = table(findings)
        width = max(len(row.what) for row in rows)
        lines += ["", *(f"{row.what:<{width}}  {row.found}" for row in rows)]
        refused = [f"  {name}: {said}" for name, said in findings.refusals.items()]
        if refused:
            lines += ["", "What the server said to what it refused:", *refused]
        settings = settings_that_follow(findings)
        if settings:
            lines += ["", "Settings that follow (/config workarounds):"]
            lines += [f"  {name} = {value}" for name, value in settings.items()]
        asked = f"{findings.requests} requests in {findings.seconds:.0f} s"
        return [*lines, "", f"{sentence(findings)} ({asked})", *remedy]
    return [*lines, sentence(findings), *remedy]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `probe`."""
    parser.add_argument(
        "--base-url", required=True, metavar="URL", help="the endpoint, such as http://host:port/v1"
    )
    parser.add_argument("--model", metavar="M", help="the first that the endpoint lists if omitted")
    parser.add_argument("--json", action="store_true", help="the findings as one JSON object")
    parser.add_argument(
        "--seconds",
        type=float,
        default=SECONDS,
        metavar="N",
        help="the most that the whole test may take",
    )
