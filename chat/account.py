"""Shows a prompt to people: as annotated text, and as the body that would be sent.

Invariant: made from the very Prompt that the live builder returned, with every known secret
blotted out wherever it stands.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from prompt.prompt import Prompt
from prompt.surface import canonical_json
from prompt.tokens import estimate
from prompt.values import JsonObject, PromptItem

REDACTED = "[redacted]"


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptSnapshot:
    """A prompt for reading (`text`) and for replaying (`json`, the exact request body)."""

    text: str
    json: str
    prefix_hash: str


def account(prompt: Prompt, body: JsonObject, *, secrets: Sequence[str]) -> PromptSnapshot:
    """The prompt as people may see it. `secrets` are keys and tokens of this process."""
    return PromptSnapshot(
        text=redacted(_in_words(prompt), secrets),
        json=redacted(canonical_json(body), secrets),
        prefix_hash=prompt.report.prefix_hash,
    )


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


def _in_words(prompt: Prompt) -> str:
    report = prompt.report
    lines = [
        f"mode {report.mode}, about {report.tokens} tokens, {len(prompt.surface.direct)} tools",
        f"stable prefix {report.prefix_hash}, {report.dropped_exchanges} exchanges trimmed",
        "",
        "stage                items  tokens",
    ]
    for stage in report.stages:
        problem = f"  FAILED: {stage.error}" if stage.error else ""
        lines.append(f"{stage.stage:<20} {stage.items:>5}  {stage.tokens:>6}{problem}")
    for item in prompt.all_items:
        lines += ["", _header(item), item.text]
    return "\n".join(lines) + "\n"


def _header(item: PromptItem) -> str:
    return f"--- {item.tag} | {item.role} | {item.zone} | ~{estimate(item.text)} tokens ---"
