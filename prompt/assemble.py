"""Builds a Prompt out of a Snapshot within a Budget.

Invariant: pure, and total but for PromptTooLarge. A stage that raises is left out and named in
the report; the verbatim stages stand or fall together.
"""

import hashlib
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from prompt.dialogue import trimmed, turn_item
from prompt.knowledge import KNOWLEDGE_TAG
from prompt.pricing import Pricing
from prompt.projection import projected
from prompt.prompt import Prompt, Report, StageReport
from prompt.snapshot import Budget, PromptTooLarge, Snapshot
from prompt.stages import STAGES, Stage
from prompt.surface import ToolSurface
from prompt.tokens import estimate_image
from prompt.values import PromptItem, Turn, Zone
from prompt.verbatim import wire_mode

log = logging.getLogger(__name__)


def assemble(snapshot: Snapshot, budget: Budget, *, stages: Sequence[Stage] = STAGES) -> Prompt:
    """The prompt of one turn.

    Images that pass their share of the budget are left out, the oldest first. History is trimmed
    to its own ceiling. What is too much then goes in this order: the worst passages of knowledge,
    the oldest exchanges, images. The first two also make room for a call and its result. Raises
    PromptTooLarge if persona, tools and the message alone pass the budget.
    """
    share = int(budget.prompt * budget.image_share)
    while sum(estimate_image(each.width, each.height) for each in snapshot.images) > share:
        snapshot = snapshot.without_oldest_image()
    pricing = budget.pricing
    built, failed = _build(snapshot, stages)
    told = [item for _, items in built for item in items if item.zone is not Zone.HISTORY]
    passages = [item for item in told if item.tag == KNOWLEDGE_TAG and item.priority is not None]
    grounding = {place: pricing.item(item) for place, item in enumerate(passages)}
    fixed = _tokens(told, pricing) - sum(grounding.values())
    mode = wire_mode(snapshot.config, snapshot.verdict, snapshot.surface)
    has_field = mode in {"native", "verbatim"}
    if has_field and (mode == "native" or pricing.counts_field):
        fixed += pricing.of(snapshot.surface.block)
    ceiling = int(budget.prompt * budget.history_share)

    def price(turns: Sequence[Turn]) -> int:
        items = projected([turn_item(turn) for turn in turns], snapshot.surface)
        return _tokens(items, pricing)

    def within(most: int) -> tuple[tuple[Turn, ...], int]:
        return trimmed(snapshot.dialogue, ceiling=most, block=budget.history_block, price=price)

    calls = mode != "off" and bool(snapshot.surface)
    wanted = budget.prompt - (budget.call_room if calls else 0)
    kept, dropped = within(ceiling)
    total = fixed + price(kept)
    for place in _worst_first(passages):
        if total + sum(grounding.values()) <= wanted:
            break
        del grounding[place]
    survived = tuple(snapshot.snippets[place] for place in grounding)
    if total > wanted:
        kept, dropped = within(min(ceiling, wanted - fixed))
    if dropped or len(grounding) < len(passages):
        left = survived if passages else snapshot.snippets
        built, failed = _build(replace(snapshot, dialogue=kept, snippets=left), stages)
    items = tuple(item for _, items in built for item in items)
    history = [item for item in items if item.zone is Zone.HISTORY]
    total = fixed + sum(grounding.values()) + _tokens(projected(history, snapshot.surface), pricing)
    if total > budget.prompt and snapshot.images:
        return assemble(snapshot.without_oldest_image(), budget, stages=stages)
    if total > budget.prompt:
        persona, rules = pricing.of(snapshot.persona), pricing.of(snapshot.server_rules)
        parts = {
            "the message and what goes with it": total - fixed,
            "persona": persona,
            "server rules": rules if snapshot.server_rules else 0,
            "tools": max(fixed - persona - rules, 0),
        }
        raise _too_large(total, parts, budget)
    return Prompt(
        items=items,
        surface=snapshot.surface if mode != "off" else ToolSurface(),
        report=Report(
            mode=mode,
            stages=tuple(
                StageReport(
                    stage=stage.name,
                    items=len(items),
                    tokens=_tokens(items, pricing),
                    error=failed.get(stage.name, ""),
                )
                for stage, items in built
            ),
            tokens=total,
            room=budget.prompt - total,
            counted=sum(pricing.is_counted(item.text) for item in items),
            dropped_exchanges=dropped,
            prefix_hash=_prefix_hash(items, snapshot.surface.block if has_field else ""),
            context_snippets=survived,
        ),
        pricing=pricing,
    )


def texts(snapshot: Snapshot) -> tuple[str, ...]:
    """All that may stand in a prompt of `snapshot`, for whoever has it counted before: what stays,
    the tools, then the rest from its end, so that what is likely to be sent comes first."""
    built, _ = _build(snapshot, STAGES)
    items = projected([item for _, items in built for item in items], snapshot.surface)
    stable = [item.text for item in items if item.zone is Zone.STABLE]
    others = [item.text for item in reversed(items) if item.zone is not Zone.STABLE]
    return tuple(dict.fromkeys((*stable, snapshot.surface.block, *others)))


def _too_large(total: int, parts: Mapping[str, int], budget: Budget) -> PromptTooLarge:
    """The error in tokens as the endpoint counts them."""
    needed, allowed = (round(each * budget.token_ratio) for each in (total, budget.prompt))
    counted = {name: round(tokens * budget.token_ratio) for name, tokens in parts.items()}
    return PromptTooLarge(needed, allowed, counted)


def _build(
    snapshot: Snapshot, stages: Sequence[Stage]
) -> tuple[list[tuple[Stage, Sequence[PromptItem]]], dict[str, str]]:
    built: list[tuple[Stage, Sequence[PromptItem]]] = []
    failed: dict[str, str] = {}
    for stage in stages:
        items: Sequence[PromptItem] = ()
        if stage.applies(snapshot):
            try:
                items = stage.build(snapshot)
            except Exception as error:
                log.exception("prompt stage %s failed and is left out", stage.name)
                failed[stage.name] = f"{type(error).__name__}: {error}"
        built.append((stage, items))
    if any(stage.verbatim and stage.name in failed for stage, _ in built):
        built = [(stage, () if stage.verbatim else items) for stage, items in built]
    return built, failed


def _worst_first(passages: Sequence[PromptItem]) -> Sequence[int]:
    """Places of passages in the order in which they go: by priority, of equal ones the last."""
    return sorted(range(len(passages)), key=lambda place: (passages[place].priority or 0, -place))


def _tokens(items: Iterable[PromptItem], pricing: Pricing) -> int:
    return sum(pricing.item(item) for item in items)


def _prefix_hash(items: Sequence[PromptItem], field: str) -> str:
    """Names all that stands before history, the tools field too, which templates write into the
    head: as long as it stays, the endpoint's prefix cache holds."""
    digest = hashlib.sha256(field.encode())
    for item in items:
        if item.zone is Zone.STABLE:
            digest.update(f"{item.role}\x00{item.text}\x00".encode())
    return digest.hexdigest()[:12]
