"""Shows what a model, a tool or a member wrote without any of it taking effect.

Invariant: it stands in code spans, which hold neither mentions nor markdown, on one line each and
within bounds.
"""

from collections.abc import Iterator

from cogs.sending import SUBTEXT
from prompt.surface import canonical_json
from prompt.values import JsonObject

_LONGEST = 150
_MOST_ARGUMENTS = 8


def code(text: str, most: int = _LONGEST) -> str:
    """`text` as a code span of about `most` characters."""
    flat = " ".join(text.replace("`", "'").split()) or " "
    return f"`{flat if len(flat) <= most else flat[: most - 1] + '…'}`"


def subtext(*lines: str) -> str:
    """Lines that Discord shows small, and that no history reads."""
    return "\n".join(f"{SUBTEXT}{line}" for line in lines)


def argument_lines(arguments: JsonObject) -> Iterator[str]:
    """One line for each of the first arguments of a call."""
    for name in list(arguments)[:_MOST_ARGUMENTS]:
        value = arguments[name]
        written = value if isinstance(value, str) else canonical_json(value)
        yield f"{code(name, 40)}: {code(written)}"
    if (more := len(arguments) - _MOST_ARGUMENTS) > 0:
        yield f"and {more} more"
