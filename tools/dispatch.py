"""Runs one tool call and turns whatever happens into a result that the model can read.

Invariant: nothing runs that is not on the surface, and no failure of a tool leaves here as an
exception; cancellation alone passes through.
"""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass

from prompt.dispatcher import META_SOURCE
from prompt.surface import ToolSurface, canonical_json
from prompt.values import Json, Outcome, ToolCall, ToolResult
from tools.dispatcher import resolve
from tools.registry import Tool, ToolContext, ToolFailure, ToolOutput
from tools.search import tool_search

log = logging.getLogger(__name__)

RESULT_LIMIT = 21_000
"""Characters of a result that reach the model, whatever tool it is from; most tools give far less,
and page through the rest."""

_EMPTY = frozenset({"[]", "{}", '""', "''", "null", "None", "()"})
"""Results that hold nothing, as programs write them."""


def error_text(code: str, name: str, **more: Json) -> str:
    """A failure as the model reads it."""
    return canonical_json({"error": code, "tool": name, **more})


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """A call with its result. `output` is what the tool returned, None where it did not."""

    result: ToolResult
    output: ToolOutput | None = None


async def run_call(
    tools: Mapping[str, Tool],
    surface: ToolSurface,
    context: ToolContext,
    call: ToolCall,
    *,
    timeout: float,  # noqa: ASYNC109 - a bound on the tool's work, reported as a result
) -> Ran:
    """Run `call`, or what a dispatcher is asked for in it, within `timeout` seconds, or what its
    tool takes where that is longer. `tools` are those of the surface, by their own names.

    Checked here again although parser and adapter did: dispatch must hold by itself.
    """

    def result(outcome: Outcome, text: str, output: ToolOutput | None = None) -> Ran:
        told = ToolResult(call_id=call.id, name=call.name, text=_clipped(text), outcome=outcome)
        return Ran(result=told, output=output)

    resolved = resolve(surface, call)
    asked, spec = resolved.call, resolved.spec
    if resolved.refusal is not None:
        outcome = "denied" if resolved.refusal == "not_permitted" else "invalid"
        return result(outcome, error_text(resolved.refusal, asked.name, **resolved.more))
    if spec is not None and spec.source == META_SOURCE:
        found = tool_search(str(asked.arguments["query"]), surface.catalog)
        return result("ok", canonical_json(found))
    tool = None if spec is None else tools.get(spec.registered or spec.name)
    if tool is None or spec is None:
        return result("invalid", error_text("unknown_tool", asked.name))
    if spec.permission and not (context.rights and await context.rights.may(spec.permission)):
        return result(
            "denied",
            error_text(
                "missing_permission",
                asked.name,
                message=f"The member who asks lacks the permission {in_words(spec.permission)}.",
            ),
        )
    seconds = max(timeout, spec.seconds or 0)
    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            output = await tool.run(context, asked.arguments)
    except ToolFailure as failure:
        return result("failed", error_text(failure.code, asked.name, message=str(failure)))
    except (Exception, asyncio.CancelledError) as error:
        if isinstance(error, TimeoutError) and limit.expired():
            return result("timeout", error_text("timeout", asked.name, seconds=seconds))
        if isinstance(error, asyncio.CancelledError) and _is_cancelled():
            raise
        # The traceback is the operator's; the model learns only that it did not work.
        log.exception("tool %s failed", asked.name)
        return result("failed", error_text("failed", asked.name, message="internal error"))
    return result("ok", _told(output.text), output)


def in_words(permission: str) -> str:
    """A permission as Discord's settings name it; `manage_guild` is Manage Server there."""
    words = permission.replace("guild", "server").replace("_", " ")
    return words.title()


def _told(text: str) -> str:
    """A result in words, also where it is empty: a model takes `[]` for a failure."""
    if not text.strip():
        return "(the tool returned nothing)"
    if text.strip() in _EMPTY:
        return f"(the tool found nothing: it returned an empty result, {text.strip()})"
    return text


def _is_cancelled() -> bool:
    """Whether it is this task that is to end, and not just something that a tool waited for."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _clipped(text: str) -> str:
    if len(text) <= RESULT_LIMIT:
        return text
    return f"{text[:RESULT_LIMIT]}\n[cut: {len(text) - RESULT_LIMIT} more characters]"
