"""How calls and results are written as text, in the form that the prompt teaches.

Invariant: what is taught, what is replayed from history and what the parser reads best are one
spelling.
"""

# Without a sample call: a placeholder in an instruction is copied into calls.
HEADER = (
    "Tools as JSON. To use one, answer with its name and JSON arguments in a code span. "
    "If none is needed, answer in words."
)
"""Stands over the first definitions of a prompt."""

LATER_HEADER = "Only these tools are on now, used in the same way:"
"""Stands over the live definitions, behind the made-up ones, which were called where it lacked
`Only`. Telling it all again would cost 20 tokens."""

_NO_BRACKETS = str.maketrans("[]", "()")


def written_call(name: str, raw_arguments: str) -> str:
    """A call as an inline code span: name, then one JSON object in parentheses."""
    return f"`{name}({raw_arguments})`"


def result_text(name: str, text: str) -> str:
    """A tool's result as it stands in a user-role message."""
    return f"[tool result] {name}: {text}"


def signed(text: str, author: str) -> str:
    """A member's message with its author's name behind it.

    Behind and not before. Measured on a 1.5B model, calls right and silences right of 20 each,
    worked turns named alike: `Alice: ` in front 19 and 15, behind 18 and 18; without the nudge
    20 and 9 in front, 19 and 11 behind.
    """
    name = " ".join(author.translate(_NO_BRACKETS).split())
    return f"{text}\n[from {name}]" if name else text


def definitions_text(block: str, header: str) -> str:
    """Tool definitions as a message: a short header and the JSON array in a fence."""
    return f"{header}\n```json\n{block}\n```"
