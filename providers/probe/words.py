"""Says findings in plain words: a table and one sentence.

Invariant: pure; every value of every finding has words, and none of them claims more than was
seen.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from providers.probe.findings import (
    Findings,
    NativeTools,
    System,
    Taken,
    ToolRole,
    Vision,
)

_NATIVE: Mapping[NativeTools, str] = {
    "yes": "yes",
    "only_unstreamed": "only unstreamed",
    "only_as_text": "only as text: the call stands in the answer's words",
    "no_call": "no: the tools were taken, but no structured call came",
    "ignored": "no: the tools never reached the model",
    "refused": "no: the server refuses the field",
    "unknown": "not known",
}
_SYSTEM: Mapping[System, str] = {
    "anywhere": "anywhere",
    "first_only": "first only",
    "no_system_role": "not at all",
    "unknown": "not known",
}
_NEIGHBOURS: Mapping[Taken, str] = {
    "accepted": "not needed: two user messages in a row are taken",
    "refused": "needed: two user messages in a row are refused",
    "unknown": "not known",
}
_TOOL_ROLE: Mapping[ToolRole, str] = {
    "read": "yes: the answer used the result",
    "accepted": "taken, but the answer did not use the result",
    "refused": "refused",
    "unknown": "not known",
}
_PATTERNS: Mapping[Taken, str] = {
    "accepted": "taken",
    "refused": "refused",
    "unknown": "not known",
}
_VISION: Mapping[Vision, str] = {
    "yes": "yes, the server says",
    "no": "no, the server says",
    "by_name": "probably, going by the model's name",
    "unknown": "not known",
}
_VERDICT: Mapping[NativeTools, str] = {
    "yes": "This server calls tools natively; verbatim is off, as it is not needed",
    "only_unstreamed": "This server calls tools natively, but not in streams; verbatim is off, "
    "and replies with tools should come whole",
    "only_as_text": "This server leaves tool calls in the text; verbatim is on",
    "no_call": "This server takes tools, but no structured call came of it; verbatim is on",
    "ignored": "This server ignores tools; verbatim is on",
    "refused": "This server refuses tools; verbatim is on, without the tools field",
    "unknown": "How this server takes tools could not be told; verbatim is on",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the table."""

    what: str
    found: str


def table(findings: Findings, tell: Callable[[str], str] = str) -> Sequence[Row]:
    """What was found, line by line; `tell` says the words of it in another language."""
    window = findings.context_window
    speed = findings.tokens_per_second
    rows = {
        "native tools": _NATIVE[findings.native_tools],
        "test calls": f"{findings.calls_worked} of {findings.calls_tried} worked",
        "system position": _SYSTEM[findings.system],
        "alternation": _NEIGHBOURS[findings.neighbours],
        "tool role": _TOOL_ROLE[findings.tool_role],
        "patterns in schemas": _PATTERNS[findings.patterns],
        "context window": "not told" if window is None else f"{window:,} tokens",
        "token counts in streams": {
            "accepted": "reported",
            "refused": "asking for them is refused",
            "unknown": "not reported",
        }[findings.usage_in_stream],
        "cached tokens": "reported" if findings.cached_tokens else "not reported",
        "vision": _VISION[findings.vision],
        "speed": "not known" if speed is None else f"about {speed:.3g} tokens a second",
    }
    return [Row(what=tell(what), found=tell(found)) for what, found in rows.items()]


def sentence(findings: Findings, tell: Callable[[str], str] = str) -> str:
    """The verdict; `tell` as for `table`."""
    if not findings.answered:
        return f"{tell('No test request was answered.')} {tell(findings.trouble)}".rstrip()
    worked = f"{findings.calls_worked} of {findings.calls_tried} test calls worked"
    verdict = tell(_VERDICT[findings.native_tools])
    sentences = [f"{verdict}; {tell(worked)}." if findings.calls_tried else f"{verdict}."]
    if findings.calls_tried and not findings.calls_worked:
        sentences.append(tell("Some models, small ones above all, never call a tool."))
    if findings.trouble:
        sentences.append(tell(findings.trouble))
    return " ".join(sentences)
