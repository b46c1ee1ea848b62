"""Worked turns that show a model how calls are written, and when not to call.

Invariant: fixed text about made-up tools. It never depends on the live tools, so it stays the
same bytes whatever is switched on; half of the turns get along without a call, because small
models otherwise call a tool for everything.

Measured on a 1.5B model, 20 requests that need a tool and 20 that do not: the same turns
without definitions of their made-up tools gave 5 right calls, with them 17. A clock line behind
the live message that the worked turns lacked cost more than half of the calls, so each worked
turn ends in the very lines that a live turn ends in.
"""

from prompt.surface import ToolSurface
from prompt.taught import definitions_text, result_text, signed, written_call
from prompt.values import Json, Role, ToolSpec

ACKNOWLEDGEMENT = "Understood."
"""Stands behind definitions: it keeps them a message apart from the question that follows."""

EXAMPLE_CLOCK = "[Monday, 3 March 2025, 14:05 UTC]"

_MEMBER = "Kim"


def _spec(name: str, description: str, *parameters: str) -> ToolSpec:
    schema: dict[str, Json] = {
        "type": "object",
        "properties": {parameter: {"type": "string"} for parameter in parameters},
    }
    if parameters:
        schema["required"] = list(parameters)
    return ToolSpec(name=name, description=description, parameters=schema)


_MADE_UP = ToolSurface(
    direct=(
        _spec("tide_table", "Tell the times of high water in a harbour.", "harbour"),
        _spec("shelve", "Put a book on the member's shelf.", "title"),
        _spec("shelf", "List the books on the member's shelf."),
    )
)

_TIDE = written_call("tide_table", '{"harbour":"Porthleven"}')
_NO_TIDE = written_call("tide_table", '{"harbour":"St Ives"}')
_SHELVE = written_call("shelve", '{"title":"The Odyssey"}')
_SHELF = written_call("shelf", "{}")

_WORKED: tuple[tuple[str, ...], ...] = (
    # A member's message and the answer; or the call, its result and the answer.
    (
        "When is high tide in Porthleven?",
        _TIDE,
        result_text("tide_table", "high water 04:12 and 16:40"),
        "High tide in Porthleven is at 04:12 and again at 16:40.",
    ),
    ("What is 12 plus 30?", "12 plus 30 is 42."),
    (
        "put The Odyssey on my shelf please",
        _SHELVE,
        result_text("shelve", "shelved"),
        "The Odyssey is on your shelf now.",
    ),
    ("Who wrote it?", "Homer, as tradition has it."),
    (
        "Good morning! What does 'flotsam' mean?",
        "Good morning! Flotsam is wreckage found floating on the sea.",
    ),
    (
        "which books do I have?",
        _SHELF,
        result_text("shelf", "The Odyssey, Dune"),
        "You have two books: The Odyssey and Dune.",
    ),
    (
        "Is Dune any good?",
        "Many readers love it: a grand story of sand, power and prophecy.",
    ),
    (
        "and the tides in St Ives?",
        _NO_TIDE,
        result_text("tide_table", "no data for St Ives"),
        "I'm sorry, there is no tide data for St Ives.",
    ),
    ("What is the capital of Kenya?", "Nairobi."),
    ("Thanks! See you later.", "You're welcome, see you!"),
)


def demonstrations(tail: str) -> list[tuple[Role, str]]:
    """Role and text of each message. `tail` is what a live turn puts behind its message, if
    anything."""
    messages: list[tuple[Role, str]] = [
        ("user", definitions_text(_MADE_UP.block)),
        ("assistant", ACKNOWLEDGEMENT),
    ]
    for asked, *rest in _WORKED:
        messages.append(("user", f"{signed(asked, _MEMBER)}\n\n{tail}".rstrip()))
        for place, text in enumerate(rest):
            messages.append(("user" if place % 2 else "assistant", text))
    return messages
