"""Learns of an endpoint from what a turn has noticed of it.

Invariant: nothing that an admin set is changed, and what follows holds from the next turn on.
"""

import logging
from collections.abc import Sequence

from chat.config import is_open
from chat.counting import Count, cut_at, ratio_after, window_of
from chat.learning import Learning
from chat.planning import CONTEXT_WINDOW, Plan
from chat.turn import TurnRun
from providers.wire import Change

log = logging.getLogger(__name__)

_TAKES_MORE = 1.1
"""So many times the tokens that were left of a cut prompt show a larger window."""


async def learn_from(plan: Plan, run: TurnRun) -> None:
    """Remember how the endpoint called tools, how its chat template begins an answer, and how it
    counts tokens."""
    learning = Learning(store=plan.store, route=plan.route)
    if run.native_calls_seen:
        await learning.structured_calls_seen(field_sent=run.field_sent)
    known = plan.gathered.snapshot.verdict.learnt
    opened = Change(name="template_opens_think", value="yes")
    if run.template_opens_think and is_open(plan.gathered.stored, known, opened):
        await learning.learn({opened.name: opened.value})
    elif run.thinking_never_ends and not run.template_opens_think:
        await learning.unlearn(opened.name)
    await _learn_counts(plan, run.counts)


async def _learn_counts(plan: Plan, counts: Sequence[Count]) -> None:
    """Remember how the endpoint counts tokens, and that it cuts prompts where it has done so."""
    learning = Learning(store=plan.store, route=plan.route)
    for count in counts:
        verdict = await learning.verdict()
        before = verdict.token_ratio
        if (left := cut_at(count, before)) is None:
            await learning.counted(ratio_after(before, [count]))
            if verdict.cut_at is not None and count.reported > verdict.cut_at * _TAKES_MORE:
                await learning.cut(None)
            continue
        window = Change(name=CONTEXT_WINDOW, value=str(window_of(left)))
        model, endpoint = plan.route.provider.model, plan.route.provider.endpoint
        log.warning(
            "%s at %s seems to cut prompts without saying so: it reports %d tokens of about %d. "
            "Give it a larger window (Ollama: OLLAMA_CONTEXT_LENGTH, or PARAMETER num_ctx in the "
            "Modelfile) and set context_window to that; until then prompts keep to %s.",
            *(model, endpoint, left, count.estimated, window.value),
        )
        await learning.cut(left)
        known = plan.gathered.snapshot.verdict.learnt
        if is_open(plan.gathered.stored, known, window) and plan.is_smaller(window):
            await learning.learn({window.name: window.value})
