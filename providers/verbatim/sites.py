"""A call as it stands in the text, before anyone has judged it.

Invariant: a site says what the model wrote and where; whether it runs is decided elsewhere.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from prompt.values import Span
from providers.verbatim.arguments import Written

Ending: TypeAlias = Literal["closed", "forgiven", "open", "cut"]
"""How a call ends.

`closed`: with its own closer, or something follows that can only follow a complete call.
`forgiven`: complete, but the response ends before the closer. `open`: the response ends with
brackets missing. `cut`: it ends inside a string, a name or a tag.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """One place at which the model wrote a call: the name and the arguments as written.

    `repaired`: reading the call took a repair. `size`: characters of the arguments where
    they were too many to be kept, else 0. `form`: what it was read as, for explanations.
    """

    name: str
    arguments: Written
    span: Span
    ending: Ending = "closed"
    repaired: bool = False
    size: int = 0
    form: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Malformed:
    """A call wrapper without a call that can be read; `cut` where the response ended in it.

    `form`: what it was read as, for explanations.
    """

    name: str
    problem: str
    span: Span
    cut: bool = False
    form: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hidden:
    """Text that reaches nobody: a marker, a stop token."""

    span: Span
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Blank:
    """White space between calls whose fate is open."""

    span: Span


Piece: TypeAlias = Site | Malformed | Hidden | Blank


class Sink(Protocol):
    """Takes what a reader finds, in the order of the text and without a gap."""

    def started(self, name: str) -> None:
        """The name of a call is certain."""
        ...

    def channel(self, ends: Sequence[str], *, final: bool) -> None:
        """A channel begins: thinking up to one of `ends`, or the answer if there are none."""
        ...

    def piece(self, piece: Piece) -> None:
        """The next stretch of text is this."""
        ...


class Held:
    """A sink that keeps what a reader finds until it has read everything."""

    def __init__(self) -> None:
        self.pieces: list[Piece] = []

    def started(self, name: str) -> None:
        """Nothing is certain before the end."""

    def channel(self, ends: Sequence[str], *, final: bool) -> None:
        """No form that is read this way opens a channel."""

    def piece(self, piece: Piece) -> None:
        """Keep it."""
        self.pieces.append(piece)
