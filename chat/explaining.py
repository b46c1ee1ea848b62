"""Tells what was made of the model's output in a recorded turn.

Invariant: told from the very lines that are handed out for replaying, after every known secret
was blotted out of them, so that `bot.py parse` shows the same.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from chat.account import redacted
from chat.blotting import blotted
from chat.captured import Record, Surfaces, case_of, parse
from chat.recording import RecordedTurn, unpacked
from prompt.surface import canonical_json

_SHOWN_ARGUMENTS = 300
"""Characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """What was read, in words, and the lines from which `bot.py parse --batch` reads the same."""

    text: str
    replay: str


def explanation(turn: RecordedTurn, *, secrets: Sequence[str] = ()) -> Explanation:
    """What was made of the answers of `turn`. `secrets` are keys and tokens of this process. Takes
    about a fifth of a second for a million bytes."""
    hidden = (*secrets, *turn.secrets)
    surfaces = Surfaces()
    instead = redacted(turn.instead, hidden)
    told = [f"Answered by {instead}: those before it did not."] if instead else []
    lines: list[str] = []
    for number, answer in enumerate(turn.answers, start=1):
        fields = cast("Record", _redacted(unpacked(answer), hidden))
        fields["input"] = blotted(fields["input"], hidden)
        case = case_of(fields, surfaces)
        records = parse(replace(case, settings=replace(case.settings, explain=True)))
        is_whole = fields.pop("whole")
        line = {"id": str(number), **fields, "finish": records[-1]["reason"]}
        lines.append(json.dumps(line) + "\n")
        told.append(f"**Answer {number} of {len(turn.answers)}**: {_end(records[-1])}")
        told += [f"- {_in_words(record)}" for record in records[:-1]]
        if not is_whole:
            told.append("- the answer went on, but is too long to be kept whole")
    return Explanation(text="\n".join(told), replay="".join(lines))


def _redacted(value: Any, secrets: Sequence[str]) -> Any:
    """A JSON value without the secrets in any of its texts but names."""
    if isinstance(value, str):
        return redacted(value, secrets)
    if isinstance(value, list):
        return [_redacted(each, secrets) for each in cast("list[Any]", value)]
    if isinstance(value, dict):
        fields = cast("Record", value)
        return {name: _redacted(each, secrets) for name, each in fields.items()}
    return value


def _end(finish: Record) -> str:
    return ", ".join([f"finish reason {finish['reason'] or 'not told'}", *_counts(finish["usage"])])


def _counts(usage: Record | None) -> Iterator[str]:
    counts = usage or {}
    if "prompt_tokens" in counts:
        yield f"{counts['prompt_tokens']:,} tokens read"
    yield f"{counts['cached_tokens']:,} cached" if "cached_tokens" in counts else "cached not told"
    if "completion_tokens" in counts:
        yield f"{counts['completion_tokens']:,} written"


def _in_words(record: Record) -> str:
    match record["type"]:
        case "call":
            arguments = _code(canonical_json(record["arguments"]))
            repaired = ", repaired" if record["repaired"] else ""
            what = f"call {_code(record['name'])} {arguments} ({record['origin']}{repaired})"
        case "error" if record["code"] == "endpoint_error":
            what = f"error of the endpoint: {record['message']}"
        case "error":
            name = f" {_code(record['name'])}" if record["name"] else ""
            what = f"call{name} failed ({record['code']}): {record['message']}"
        case "dropped":
            what = f"dropped, {record['characters']:,} characters"
        case kind:
            name = "thinking" if kind == "reasoning" else "text"
            what = f"{name}, {len(record['text']):,} characters"
    return f"{what}. Rule: {record['rule']}"


def _code(text: str) -> str:
    """As inline code, which has no escapes, on one line."""
    plain = " ".join(text.replace("`", "'").split())
    if len(plain) > _SHOWN_ARGUMENTS:
        plain = f"{plain[: _SHOWN_ARGUMENTS - 1]}…"
    return f"`{plain}`"
