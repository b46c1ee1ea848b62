"""Tells calls that the model means from those that it repeats out of what it has read.

Invariant: pure, and one judgement for calls in text and native ones: some servers turn a copied
call into a native one by themselves. Behind a dispatcher the inner call counts, and what only
reads may always be repeated.
"""

from typing import Literal, TypeAlias

from prompt.values import JsonObject, ToolSpec
from providers.verbatim.identity import call_key
from providers.verbatim.names import NameIndex
from providers.verbatim.settings import ParserSettings

Repeats: TypeAlias = Literal["quoted", "copied"]


def repeats(
    spec: ToolSpec, arguments: JsonObject, names: NameIndex, settings: ParserSettings
) -> Repeats | None:
    """What the call repeats: the asking member's own message, or text that others wrote."""
    key = call_key(spec.name, arguments)
    acting = names.exactly(key[0]) or spec
    if acting.read_only:
        return None
    if key in settings.quoted:
        return "quoted"
    return "copied" if key in settings.copied else None


def repeat_refused(spec: ToolSpec, repeated: Repeats) -> str:
    """What the model is told about a call that is not run for it."""
    if repeated == "quoted":
        return (
            f"This exact call of {spec.name} stands in the member's message, so it was not run. "
            "Answer in words."
        )
    return (
        f"This exact call of {spec.name} stands in text that was read in this turn, so it was not "
        "run. Only the member can ask for it."
    )
