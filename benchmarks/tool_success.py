"""Measures how well a model calls tools, with the prompt and the parser of the bot itself.

    python -m benchmarks.tool_success --sample 0 --json result.json
    python -m benchmarks.tool_success --own-template --variants tool_mode=native
    python -m benchmarks.tool_success --base-url http://127.0.0.1:8099/v1 --model qwen \\
        --variants default nudge=off --json result.json

Without --base-url the embedded server is started, on all cores and in a process of its own.
A variant is `default`, or settings of `/config workarounds` with a comma between them; `names=off`
leaves out who writes. chat.tuning.cases tells how a file of cases is written. Requests go one after
another at temperature 0, and every response is kept in the JSON as it came.

A turn is judged by the calls that ran, as a member sees it. What the turn loop holds back or cannot
read is told to the model, which may call again; a turn of one step ends there with its first calls
that ran, or with words. How many requests that took is reported too.

Invariant: nothing here reads a model's text or writes a prompt of its own; requests run through the
turn loop, with tools that answer what the case says.
"""

import argparse
import asyncio
import json
import logging
import os
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console

from chat.approval import House, Policies
from chat.config import TurnConfig, checked, turn_config
from chat.ports import ChannelMessage, Member, Place, TurnRequest
from chat.recording import unpacked
from chat.reply import Reply, ToolRun
from chat.scheduler import Parallelism, Scheduler
from chat.toolwork import ToolWork
from chat.tuning.asking import NOW, ScriptedTool, built, scripted
from chat.tuning.cases import BadCase, Case, read_cases, sample
from chat.tuning.scores import Did, Outcome, outcome, share, summary
from chat.turn import TurnRun
from cli.embedded.errors import EmbeddedError
from cli.embedded.gguf import LocalModel
from cli.embedded.offer import offer_model
from cli.embedded.process import EmbeddedEndpoint
from data.settings import REPOSITORY
from data.store import Store, open_store
from prompt.prompt import Prompt
from prompt.values import Json
from providers.base import EndpointError, Provider, RequestOptions
from providers.openai.adapter import OpenAIProvider
from tools.registry import NoFiles, ToolContext

log = logging.getLogger(__name__)

DATA = Path(__file__).with_name("tool_success_data")

MEMBER = Member(id=1, name="Alice")
PLACE = Place(guild_id=1, channel_id=1)
REQUEST = TurnRequest(
    place=PLACE, member=MEMBER, message=ChannelMessage(id=1, author=MEMBER, text="", at=NOW)
)

_SAMPLE = 24
"""Cases unless told otherwise: all of them take an hour on two busy cores."""

_ATTEMPTS = 2
"""Requests that a busy server may break off before the case counts as failed."""

_DEFAULT = "default"
_NO_NAMES = "names=off"


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """Settings under which all cases are run."""

    name: str
    config: TurnConfig
    names: bool = True


def variant(text: str) -> Variant:
    """A variant as it is written on the command line. ValueError says what would be right."""
    entries = [] if text == _DEFAULT else text.split(",")
    stored: dict[str, Json] = {}
    for entry in entries:
        if entry != _NO_NAMES:
            name, _, value = entry.partition("=")
            stored[name] = checked(name, value)
    return Variant(name=text, config=turn_config(stored), names=_NO_NAMES not in entries)


class _Enough(Exception):
    """A request of a single step is judged by the first calls that run."""


class Runner:
    """Runs cases against one endpoint. `store` is there for the turn loop and stays empty."""

    def __init__(self, provider: Provider, store: Store, *, max_tokens: int) -> None:
        self._provider = provider
        self._store = store
        self._max_tokens = max_tokens

    async def run(self, case: Case, under: Variant) -> Did:
        """What the model does with a request."""
        tools = scripted(case)
        prompt = built(case, under.config, tools, names=under.names)
        options = RequestOptions(
            turn_id="t", max_tokens=self._max_tokens, temperature=0.0, wire=under.config.wire
        )
        failure = ""
        for attempt in range(_ATTEMPTS):
            try:
                return await self._turn(case, prompt, under, tools, options)
            except EndpointError as error:
                failure = str(error)
                log.warning("case %d, attempt %d: %s", case.id, attempt + 1, failure)
                tools = scripted(case)
        return Did(failure=failure)

    async def _turn(
        self,
        case: Case,
        prompt: Prompt,
        under: Variant,
        tools: Sequence[ScriptedTool],
        options: RequestOptions,
    ) -> Did:
        reply = Reply()

        def changed() -> None:
            """Stops before the request that follows the first call that ran."""
            if case.kind != "steps" and reply.state == "thinking" and any(map(_ran, reply.runs)):
                raise _Enough

        context = ToolContext(
            guild_id=1,
            channel_id=1,
            member_id=1,
            message_id=1,
            now=NOW,
            facts=self._store.facts,
            files=NoFiles(),
        )
        gate = House(policies=Policies(store=self._store)).gate(REQUEST, _not_asked)
        named = {tool.spec.name: tool for tool in tools}
        work = ToolWork(named, context, reply, changed, gate, repeats=under.config.repeats)
        run = TurnRun(self._provider, work, reply, changed, options)
        scheduler = Scheduler(assumed=1)
        async with scheduler.turn(PLACE, Parallelism(most=1), ask=_slots, moved=_moved) as lease:
            with suppress(_Enough):
                await run.run(prompt, lease)
        usage = run.sent[0].usage
        calls = [each.call for each in reply.runs if _ran(each)]
        text = run.turns[-1].text if run.turns else ""
        return Did(
            calls=calls,
            errors=not calls and not text.strip(),
            text=text,
            raw=[written(unpacked(answer)["input"].encode()) for answer in run.answers],
            prompt_tokens=None if usage is None else usage.prompt_tokens,
        )


def written(body: bytes) -> str:
    """The text of a streamed answer, as the model wrote it."""
    pieces: list[str] = []
    for line in body.decode("utf-8", "replace").splitlines():
        if line.startswith("data: {"):
            choices = json.loads(line.removeprefix("data: ")).get("choices", [])
            pieces += [choice.get("delta", {}).get("content") or "" for choice in choices]
    return "".join(pieces)


def _ran(run: ToolRun) -> bool:
    return run.result is not None and run.result.outcome == "ok"


def _moved(_: int) -> None:
    """Nobody waits in line."""


def _not_asked(_: str) -> None:
    """No tool here needs anybody's consent."""


async def _slots() -> int | None:
    return None


def _row(case: Case, did: Did, became: Outcome) -> dict[str, Json]:
    return {
        "case": case.id,
        "kind": case.kind,
        "user": case.user,
        "outcome": became,
        "calls": [
            {"name": c.name, "arguments": dict(c.arguments), "repaired": c.repaired}
            for c in did.calls
        ],
        "raw": list(did.raw),
        "responses": len(did.raw),
        **({"failure": did.failure} if did.failure else {}),
    }


async def measure(
    provider: Provider, cases: Sequence[Case], variants: Sequence[Variant], *, max_tokens: int
) -> list[dict[str, Json]]:
    """Every variant with its summary and rows."""
    measured: list[dict[str, Json]] = []
    with TemporaryDirectory() as home:
        async with open_store(Path(home)) as store:
            runner = Runner(provider, store, max_tokens=max_tokens)
            for under in variants:
                began = time.monotonic()
                judged: list[tuple[Case, Did, Outcome]] = []
                for case in cases:
                    did = await runner.run(case, under)
                    judged.append((case, did, outcome(case, did)))
                found = summary(judged)
                print(_line(under, found, time.monotonic() - began), file=sys.stderr, flush=True)
                rows = [_row(*each) for each in judged]
                measured.append({"variant": under.name, **found, "rows": rows})
    return measured


def _line(under: Variant, found: dict[str, Json], seconds: float) -> str:
    return (
        f"{under.name}: calls {share(found, 'call')}, silences {share(found, 'silence')}, "
        f"after a result {share(found, 'after_result')}, steps {share(found, 'steps')}, "
        f"repaired {found['repaired']}, in {seconds:.0f} s"
    )


async def run(arguments: argparse.Namespace, model: LocalModel | None) -> int:
    """Measure, print and write; on the embedded `model` where there is one."""
    try:
        cases = read_cases(arguments.cases)
        variants = [variant(text) for text in arguments.variants]
    except (BadCase, OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    chosen = sample(cases, arguments.sample or len(cases))
    print(f"{len(chosen)} of {len(cases)} cases", file=sys.stderr, flush=True)
    try:
        if model is None:
            report = await _report(arguments, arguments.base_url, arguments.model, chosen, variants)
        else:
            with TemporaryDirectory() as home:
                async with EmbeddedEndpoint(Path(home), model) as endpoint:
                    report = await _report(
                        arguments, endpoint.base_url, endpoint.model, chosen, variants
                    )
    except EndpointError as error:
        print(error, file=sys.stderr)
        return 1
    text = json.dumps(report, indent=1, ensure_ascii=False)
    if arguments.json is None:
        print(text)
    else:
        arguments.json.write_text(text, encoding="utf-8")
    return 0


async def _report(
    arguments: argparse.Namespace,
    base_url: str,
    name: str | None,
    cases: Sequence[Case],
    variants: Sequence[Variant],
) -> dict[str, Json]:
    provider = OpenAIProvider(base_url=base_url, model=name)
    try:
        model = await provider.resolve_model()
        measured = await measure(provider, cases, variants, max_tokens=arguments.max_tokens)
    finally:
        await provider.close()
    return {
        "model": model,
        "cases": arguments.cases.name,
        "measured": len(cases),
        "variants": measured,
    }


def _embedded(arguments: argparse.Namespace) -> LocalModel:
    """The model to serve, fetched at the first time. Raises EmbeddedError."""
    model = offer_model(
        REPOSITORY / "var",
        model_path=arguments.model_path,
        assume_yes=True,
        console=Console(stderr=True),
        stdin=sys.stdin,
    )
    return replace(model, plain_template=model.plain_template and not arguments.own_template)


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tool_success", description=__doc__)
    parser.add_argument("--base-url", help="with its /v1; default: the embedded model is started")
    parser.add_argument("--model", help="default: the first that the endpoint lists")
    given = os.environ.get("VERBATIM_MODEL_PATH")
    parser.add_argument(
        "--model-path",
        type=Path,
        default=Path(given) if given else None,
        help="a GGUF file for the embedded server; default: VERBATIM_MODEL_PATH, or the pinned one",
    )
    parser.add_argument(
        "--own-template",
        action="store_true",
        help="serve with the file's own chat template, which may write `tools` into the prompt",
    )
    parser.add_argument("--cases", type=Path, default=DATA / "cases.jsonl", help="JSON lines")
    parser.add_argument("--variants", nargs="+", default=[_DEFAULT], help="default: default")
    parser.add_argument(
        "--sample",
        type=int,
        default=_SAMPLE,
        help=f"so many cases, the same each time; 0 for all; default: {_SAMPLE}",
    )
    parser.add_argument("--max-tokens", type=int, default=160, help="a response; default: 160")
    parser.add_argument("--json", type=Path, nargs="?", help="write there, not to standard output")
    arguments = parser.parse_args()
    try:
        model = None if arguments.base_url else _embedded(arguments)
        return asyncio.run(run(arguments, model))
    except EmbeddedError as error:
        print(json.dumps({"skipped": str(error)}, indent=1))
        return 0


if __name__ == "__main__":
    sys.exit(main())
