"""Reads tool calls out of a model's text, sans-IO, whatever the model's family."""

from providers.verbatim.arguments import BindFailure, Bound, bind_call
from providers.verbatim.copies import repeat_refused, repeats
from providers.verbatim.foreign import find_calls
from providers.verbatim.identity import call_id, call_key, canonical_arguments
from providers.verbatim.names import NameIndex
from providers.verbatim.objects import parallel_calls
from providers.verbatim.parser import VerbatimParser
from providers.verbatim.settings import ParserSettings

__all__ = [
    "BindFailure",
    "Bound",
    "NameIndex",
    "ParserSettings",
    "VerbatimParser",
    "bind_call",
    "call_id",
    "call_key",
    "canonical_arguments",
    "find_calls",
    "parallel_calls",
    "repeat_refused",
    "repeats",
]
