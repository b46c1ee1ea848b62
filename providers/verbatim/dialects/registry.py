"""The list of dialects.

Invariant: a dialect becomes part of the parser by standing here, and in no other way.
"""

from providers.verbatim.dialects import hermes
from providers.verbatim.grammar import Grammar

GRAMMAR = Grammar((hermes.DIALECT,))
