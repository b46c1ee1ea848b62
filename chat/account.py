"""Shows a prompt to people: as annotated text, as the body that is sent, and what is new in it.

Invariant: made from the very items and body that are sent, with every known secret blotted out
wherever it stands. Of images the size is told in place of the bytes.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from chat.differing import difference
from chat.masking import masked
from chat.sent import Sent, SentTurn, sent, without_data
from prompt.pricing import Pricing
from prompt.prompt import Prompt, Report
from prompt.surface import canonical_json
from prompt.tokens import estimate
from prompt.values import ImageReference, JsonObject, PromptItem
from tools.exposure import in_words

REDACTED = "[redacted]"

_NOTHING_BEFORE = "No earlier request of this channel is kept: they stay for 24 hours, in memory."


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptSnapshot:
    """A prompt for reading (`text`), for replaying (`json`, the exact request body but for the
    bytes of images), and where it parts from the request before (`diff`)."""

    text: str
    json: str
    prefix_hash: str
    diff: str = ""


def account(
    prompt: Prompt,
    body: JsonObject,
    *,
    secrets: Sequence[str],
    counted: str = "",
    remarks: Sequence[str] = (),
    before: SentTurn | None = None,
    masks: bool = False,
) -> PromptSnapshot:
    """The prompt as people may see it. `secrets` are keys and tokens of this process. `counted`
    says what the endpoint made of the estimate the last time, `remarks` what is wrong with texts of
    admins. `before` is what the channel has sent before; `masks` leaves out what members said."""
    report = prompt.report
    request = sent(prompt, body)
    lines = [
        f"mode {report.mode}, about {report.tokens} tokens ({_counting(report)}), "
        f"{in_words(prompt.surface)}",
        f"stable prefix {report.prefix_hash}, {report.dropped_exchanges} exchanges trimmed",
        *([f"latest request: {counted}"] if counted else []),
        *(f"remark: {remark}" for remark in remarks),
        "",
        "stage                items  tokens",
    ]
    for stage in report.stages:
        problem = f"  FAILED: {stage.error}" if stage.error else ""
        lines.append(f"{stage.stage:<20} {stage.items:>5}  {stage.tokens:>6}{problem}")
    hidden = (*secrets, *(before.secrets if before else ()))
    shown = masked(request) if masks else request
    details = [_details(item, prompt.pricing, masks=masks) for item in prompt.all_items]
    earlier = before.requests[-1] if before else None
    return PromptSnapshot(
        text=redacted(_with_items(lines, shown.items, details), hidden),
        json=redacted(canonical_json(shown.body), hidden),
        prefix_hash=report.prefix_hash,
        diff=redacted(_diff(earlier, [request], masks=masks), hidden),
    )


def account_of(turn: SentTurn, *, secrets: Sequence[str], masks: bool = False) -> PromptSnapshot:
    """What was sent in a turn: its last request, which holds the others, and where each of them
    parts from the one before."""
    last = turn.requests[-1]
    shown = masked(last) if masks else last
    costs = [estimate(item.text) for item in last.items]
    details = [(tokens, ()) for tokens in costs]
    lines = [
        f"request {len(turn.requests)} of {len(turn.requests)} in this turn, mode {last.mode}, "
        f"about {sum(costs)} tokens; {_reported(last)}"
    ]
    hidden = (*secrets, *turn.secrets)
    return PromptSnapshot(
        text=redacted(_with_items(lines, shown.items, details), hidden),
        json=redacted(canonical_json(shown.body), hidden),
        prefix_hash="",
        diff=redacted(_diff(turn.before, turn.requests, masks=masks), hidden),
    )


def parted(before: JsonObject, after: JsonObject) -> str:
    """Where one request body parts from an earlier one."""
    requests = [Sent(items=(), body=body, mode="native") for body in (before, after)]
    return _diff(requests[0], requests[1:], masks=False)


def redacted(text: str, secrets: Sequence[str]) -> str:
    """`text` without the secrets."""
    for spelling in spellings(secrets):
        text = text.replace(spelling, REDACTED)
    return text


def spellings(secrets: Sequence[str]) -> list[str]:
    """How secrets may stand in a text: as they are, and with the escapes of JSON. Longer ones come
    first, one may hold another."""
    ordered = sorted(filter(None, secrets), key=len, reverse=True)
    return [spelling for secret in ordered for spelling in (secret, canonical_json(secret)[1:-1])]


_Details: TypeAlias = "tuple[int, Sequence[str]]"
"""Tokens of an item, and a line for each image in it."""


def _counting(report: Report) -> str:
    items = sum(stage.items for stage in report.stages)
    if not report.counted:
        return "estimated"
    if report.counted == items:
        return "counted by the server"
    return f"counted by the server, {items - report.counted} of {items} messages estimated"


def _details(item: PromptItem, pricing: Pricing, *, masks: bool) -> _Details:
    images = [] if masks else [part for part in item.parts if isinstance(part, ImageReference)]
    return pricing.item(item), [
        f"({each.description}: {each.width} by {each.height} pixels, {without_data(each.url)})"
        for each in images
    ]


def _with_items(
    lines: Sequence[str], items: Sequence[PromptItem], details: Iterable[_Details]
) -> str:
    told = list(lines)
    for item, (tokens, images) in zip(items, details, strict=True):
        told += ["", f"--- {item.tag} | {item.role} | {item.zone} | ~{tokens} tokens ---"]
        told += [item.text, *images]
    return "\n".join(told) + "\n"


def _diff(before: Sent | None, requests: Sequence[Sent], *, masks: bool) -> str:
    lines: list[str] = []
    for number, request in enumerate(requests, 1):
        lines.append(f"request {number} of {len(requests)}:")
        lines += [f"  {line}" for line in _against(before, request, masks=masks)]
        before = request
    return "\n".join(lines) + "\n"


def _against(before: Sent | None, request: Sent, *, masks: bool) -> list[str]:
    if before is None:
        return [_NOTHING_BEFORE, _reported(request)]
    found = difference(before, request)
    if found is None:
        return ["it begins with the whole request before and only adds to it", _reported(request)]
    excerpts = [f"before: {found.before!r}", f"now:    {found.after!r}"]
    return [
        f"first difference: byte {found.byte:,} of the body, in {found.where}",
        *([] if masks else excerpts),
        f"about {found.shared:,} tokens shared with the request before, about {found.lost:,} of "
        f"its cached tokens lost, about {found.fresh:,} to be read",
        _reported(request),
    ]


def _reported(request: Sent) -> str:
    usage = request.usage
    if usage is None or usage.prompt_tokens is None:
        return "the endpoint has reported no counts"
    cached = "not told" if usage.cached_tokens is None else f"{usage.cached_tokens:,}"
    return f"the endpoint reported {usage.prompt_tokens:,} tokens, cached: {cached}"
