"""What a probe found, and what follows from it.

Invariant: frozen values. What follows names only switches whose value is to differ from the
default because a finding asks for it; whether tools are taken natively goes into the verdict,
which the tool mode `auto` reads.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from prompt.verbatim import Verdict

NativeTools: TypeAlias = Literal[
    "yes", "only_unstreamed", "only_as_text", "no_call", "ignored", "refused", "unknown"
]
"""How the `tools` field is taken.

`only_as_text`: the call came in the text of the answer. `no_call`: none came in any form.
`ignored`: none came, and the token count shows that the tools never reached the model.
"""

System: TypeAlias = Literal["anywhere", "first_only", "no_system_role", "unknown"]
ToolRole: TypeAlias = Literal["read", "accepted", "refused", "unknown"]
"""Whether a result of role `tool` is taken: `read` if the answer shows that the model saw it."""

Taken: TypeAlias = Literal["accepted", "refused", "unknown"]
Vision: TypeAlias = Literal["yes", "no", "by_name", "unknown"]
"""`by_name`: the server does not tell, the model's name speaks for it."""

STRUCTURED: frozenset[NativeTools] = frozenset({"yes", "only_unstreamed"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """One probe of an endpoint and model.

    `calls_tried` test calls were asked for in the way that turns will ask for them, natively or
    with the tools in the prompt, and `calls_worked` came back right. `refusals` holds the
    server's own words by the name of the request that it refused. `answered` is False where no
    request got an answer; `trouble` then tells why. `refusals` and `remedy` are for those who may
    know the endpoint's address, the rest is for everyone.
    """

    endpoint: str
    model: str
    answered: bool = True
    trouble: str = ""
    remedy: str = ""
    native_tools: NativeTools = "unknown"
    system: System = "unknown"
    neighbours: Taken = "unknown"
    tool_role: ToolRole = "unknown"
    arguments_as_object: bool = False
    patterns: Taken = "unknown"
    usage_in_stream: Taken = "unknown"
    context_window: int | None = None
    cached_tokens: bool | None = None
    vision: Vision = "unknown"
    tokens_per_second: float | None = None
    calls_tried: int = 0
    calls_worked: int = 0
    requests: int = 0
    seconds: float = 0.0
    refusals: Mapping[str, str] = field(default_factory=dict[str, str])


def settings_that_follow(findings: Findings) -> Mapping[str, str]:
    """Switches, by name, that a guild should set for this endpoint and model."""
    settings: dict[str, str] = {}
    if findings.native_tools == "only_unstreamed":
        settings["stream_with_tools"] = "whole"
    if findings.arguments_as_object:
        settings["arguments_in_history"] = "object"
    elif findings.tool_role == "refused":
        settings["tool_role"] = "as_user"
    if findings.system == "no_system_role":
        settings["system_layout"] = "fold_into_user"
    if findings.usage_in_stream == "refused":
        settings["usage_in_stream"] = "off"
    if findings.vision != "unknown":
        settings["vision"] = "off" if findings.vision == "no" else "on"
    if findings.context_window is not None:
        settings["context_window"] = str(findings.context_window)
    return settings


def verdict_that_follows(findings: Findings) -> Verdict | None:
    """What is known now of how tools are taken; None where the probe could not tell."""
    match findings.native_tools:
        case "unknown":
            return None
        case "yes" | "only_unstreamed":
            return Verdict(structured_calls=True, reason="a test sent a structured tool call")
        case "refused":
            said = findings.refusals.get("tools_whole") or findings.refusals.get("tools_streamed")
            return Verdict(
                refuses_tools_field=True,
                reason=f"a test was answered with an error over the tools field: {said}"[:300],
            )
        case _:
            return Verdict(reason="a test showed no structured tool call")
