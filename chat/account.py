"""Shows a prompt to people: as annotated text, and as the body that would be sent.

Invariant: made from the very Prompt that the live builder returned, with every known secret
blotted out wherever it stands. Of images the size is told in place of the bytes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from prompt.dialogue import cost
from prompt.prompt import Prompt
from prompt.surface import canonical_json
from prompt.values import ImageReference, Json, JsonObject, PromptItem
from tools.exposure import in_words

REDACTED = "[redacted]"


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptSnapshot:
    """A prompt for reading (`text`) and for replaying (`json`, the exact request body but for the
    bytes of images)."""

    text: str
    json: str
    prefix_hash: str


def account(
    prompt: Prompt, body: JsonObject, *, secrets: Sequence[str], counted: str = ""
) -> PromptSnapshot:
    """The prompt as people may see it. `secrets` are keys and tokens of this process. `counted`
    says what the endpoint made of the estimate the last time."""
    return PromptSnapshot(
        text=redacted(_in_words(prompt, counted), secrets),
        json=redacted(canonical_json(_without_bytes(body)), secrets),
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


def _without_bytes(value: Json) -> Json:
    """`value` with the size of an image in place of the bytes in its data URL."""
    if isinstance(value, Mapping):
        fields = cast("JsonObject", value)
        if fields.get("type") == "image_url":
            url = _without_data(fields["image_url"]["url"])
            return {**fields, "image_url": {"url": url}}
        return {name: _without_bytes(below) for name, below in fields.items()}
    if isinstance(value, list):
        return [_without_bytes(below) for below in cast("list[Json]", value)]
    return value


def _without_data(url: str) -> str:
    head, comma, data = url.partition(",")
    size = len(data) * 3 // 4
    return f"{head}{comma}[{size} bytes left out]" if url.startswith("data:") else url


def _in_words(prompt: Prompt, counted: str) -> str:
    report = prompt.report
    lines = [
        f"mode {report.mode}, about {report.tokens} tokens, {in_words(prompt.surface)}",
        f"stable prefix {report.prefix_hash}, {report.dropped_exchanges} exchanges trimmed",
        *([f"latest request: {counted}"] if counted else []),
        "",
        "stage                items  tokens",
    ]
    for stage in report.stages:
        problem = f"  FAILED: {stage.error}" if stage.error else ""
        lines.append(f"{stage.stage:<20} {stage.items:>5}  {stage.tokens:>6}{problem}")
    for item in prompt.all_items:
        lines += ["", _header(item), item.text]
        lines += [_image(part) for part in item.parts if isinstance(part, ImageReference)]
    return "\n".join(lines) + "\n"


def _header(item: PromptItem) -> str:
    return f"--- {item.tag} | {item.role} | {item.zone} | ~{cost(item)} tokens ---"


def _image(image: ImageReference) -> str:
    where = _without_data(image.url)
    return f"({image.description}: {image.width} by {image.height} pixels, {where})"
