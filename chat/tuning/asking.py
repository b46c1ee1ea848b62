"""Puts a case to a model with the bot's own prompt, and hears what it does.

Invariant: nothing here reads a model's text or writes a prompt of its own, and two runs of one case
send the same bytes.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from chat.config import TurnConfig
from chat.service import PERSONA
from chat.tuning.cases import Case, Expected
from chat.tuning.scores import Did, fits
from prompt.assemble import assemble
from prompt.dialogue import turn_item
from prompt.events import CallError, TextDelta, Usage
from prompt.prompt import EXCHANGE, Prompt
from prompt.snapshot import Budget, Snapshot
from prompt.values import JsonObject, TextPart, ToolCall, ToolSpec, Turn
from prompt.verbatim import Verdict
from providers.base import Provider, RequestOptions
from tools.exposure import Gates
from tools.registry import Tool, ToolContext, ToolFailure, ToolOutput
from tools.surface import build_surface
from tools.toolset import offering

NOW = datetime(2026, 5, 4, 12, 30, tzinfo=UTC)
"""The time in every prompt."""

_OPEN = Gates(web=True, images=True)
"""Whatever a case has is on."""

_WINDOW = 32_768
"""Tokens, where nothing else is configured: no case comes near it."""


class ScriptedTool:
    """Answers each call with the next of the texts that a case has for it. `unless` is a failure
    that meets every call but those of `wanted`, where the case has one."""

    def __init__(
        self, spec: ToolSpec, texts: Sequence[str], wanted: Sequence[Expected], unless: str
    ) -> None:
        self.spec = spec
        self._texts = iter(texts)
        self._wanted = wanted
        self._unless = unless

    async def run(self, context: ToolContext, arguments: JsonObject) -> ToolOutput:
        """See Tool."""
        if self._unless and not any(fits(each.arguments, arguments) for each in self._wanted):
            raise ToolFailure(self._unless)
        return ToolOutput(text=next(self._texts, "done"))


def scripted(case: Case) -> list[ScriptedTool]:
    """The tools of a case."""
    return [
        ScriptedTool(
            spec,
            case.results.get(spec.name, ()),
            [each for each in case.expect if each.name == spec.name],
            case.unless.get(spec.name, ""),
        )
        for spec in case.tools
    ]


def built(
    case: Case,
    config: TurnConfig,
    tools: Sequence[Tool],
    *,
    verdict: Verdict | None = None,
    names: bool = True,
) -> Prompt:
    """The prompt of a case, as a turn would send it; without `names` nobody is told who writes."""
    asked = Turn(role="user", parts=(TextPart(text=case.user),), author=case.author)
    dialogue = (*case.history, asked)
    if not names:
        dialogue = tuple(replace(turn, author=None) for turn in dialogue)
    authors = dict.fromkeys(turn.author for turn in dialogue if turn.author)
    snapshot = Snapshot(
        persona=PERSONA,
        server_rules="",
        config=config.tools,
        verdict=verdict or Verdict(),
        surface=build_surface(offering(tools), gates=_OPEN, level=config.schema_level),
        dialogue=dialogue,
        snippets=case.passages,
        now=NOW,
        participants=tuple(authors),
    )
    prompt = assemble(snapshot, Budget(window=config.context_window or _WINDOW))
    if not case.called:
        return prompt
    calls = Turn(role="assistant", parts=tuple(call for call, _ in case.called))
    results = Turn(role="tool", parts=tuple(result for _, result in case.called))
    return prompt.grown(turn_item(calls, tag=EXCHANGE), turn_item(results, tag=EXCHANGE))


async def heard(provider: Provider, prompt: Prompt, options: RequestOptions) -> Did:
    """What a model does with a prompt, in one response. Raises EndpointError."""
    calls: list[ToolCall] = []
    words: list[str] = []
    errors, tokens = 0, None
    async with provider.stream(prompt, options) as events:
        async for event in events:
            match event:
                case ToolCall():
                    calls.append(event)
                case CallError():
                    errors += 1
                case TextDelta(text=text):
                    words.append(text)
                case Usage(prompt_tokens=counted):
                    tokens = counted
                case _:
                    pass
    return Did(calls=calls, errors=errors, text="".join(words), prompt_tokens=tokens)
