"""Every marker that means something in running text, in one table.

Invariant: one walk finds a marker, whatever it is: thinking, template token, wrapper, call.
"""

import re

from providers.verbatim import tokens
from providers.verbatim.grammar import Grammar
from providers.verbatim.scanner import Words


class Markers:
    """The markers of a grammar together with those of chat templates and thinking."""

    def __init__(self, grammar: Grammar) -> None:
        self.hidden = frozenset((*tokens.STOPS, *tokens.OWN_TURN, *grammar.noise))
        self.foreign = frozenset(tokens.FOREIGN_TURN)
        closers = [closer for closers in tokens.THINKING.values() for closer in closers]
        self.words = Words(
            (
                *tokens.THINKING,
                *closers,
                *tokens.ORPHANS,
                *self.hidden,
                *self.foreign,
                *tokens.NAMED_TURN,
                *grammar.channels,
                *grammar.wrappers,
                *grammar.calls,
                *grammar.closers,
            )
        )
        begins = "".join(re.escape(char) for char in sorted(self.words.first))
        self.trigger = re.compile(rf"[\n`{begins}]")
        """What a marker, a new line or code may begin with."""
