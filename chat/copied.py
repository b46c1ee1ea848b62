"""Finds the calls that stand in text which others than the model wrote.

Invariant: found as the text was written and as the model reads it: a call that is copied with
broken up tokens in its arguments is a copy too.
"""

from prompt.defused import defused
from prompt.surface import ToolSurface
from providers.base import CallKey
from providers.verbatim import find_calls


def calls_in(text: str, surface: ToolSurface) -> frozenset[CallKey]:
    """The keys of all calls of offered tools in `text`."""
    tame = defused(text)
    calls = find_calls(text, surface)
    return calls if tame == text else calls | find_calls(tame, surface)
