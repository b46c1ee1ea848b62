"""Worked turns that show a model how calls are written, and when not to call.

Invariant: fixed text about made-up tools. It never depends on the live tools, so it stays the
same bytes whatever is switched on; half of the turns or more get along without a call, because
small models otherwise call a tool for everything.

Each turn is there for something that small models got wrong without it: a question about time that
a tool answers although the clock stands right there; two calls in one message, the second with a
value left open that the first one brings; a remark in the words of a tool's description;
arithmetic, a fact and thanks that need no tool; another language. docs/prompt.md has the figures.
Turns without definitions of their made-up tools taught nothing. Some end in the very lines that a
live turn ends in, calls and silences both: a line that no worked turn had cost more than half of
the calls. The others look like older messages, and are cheaper.
"""

from dataclasses import dataclass

from prompt.open_values import OPEN, waits_for
from prompt.surface import ToolSurface
from prompt.taught import HEADER, definitions_text, result_text, signed, written_call
from prompt.values import Json, JsonObject, Role, ToolSpec

ACKNOWLEDGEMENT = "Understood."
"""Stands behind definitions: it keeps them a message apart from the question that follows."""

EXAMPLE_CLOCK = "[Monday, 3 March 2025, 14:05 UTC]"

_MEMBER = "Kim"

_TEXT: JsonObject = {"type": "string"}
_NUMBER: JsonObject = {"type": "integer"}


def _spec(name: str, description: str, **parameters: JsonObject) -> ToolSpec:
    schema: dict[str, Json] = {"type": "object", "properties": parameters}
    if parameters:
        schema["required"] = list(parameters)
    return ToolSpec(name=name, description=description, parameters=schema)


_MADE_UP = ToolSurface(
    direct=(
        _spec("tide_table", "High tide."),
        _spec("find_book", "Find a book.", title=_TEXT),
        _spec("lend_book", "Lend a book.", book_id=_NUMBER, days=_NUMBER),
    )
)


@dataclass(frozen=True, slots=True)
class _Worked:
    """A member's message and what follows: the answer, or calls and results in turn before it.
    `older` turns lack the lines that end a live one."""

    asked: str
    answers: tuple[str, ...]
    older: bool = False


_WORKED = (
    _Worked(
        "when is high tide?",
        (
            written_call("tide_table", "{}"),
            result_text("tide_table", "16:40"),
            "High tide is at 16:40.",
        ),
    ),
    _Worked("what is 12 plus 30", ("42.",)),
    _Worked(
        "lend me Dune for a week",
        (
            "\n".join(
                (
                    written_call("find_book", '{"title":"Dune"}'),
                    written_call("lend_book", f'{{"book_id":"{OPEN}","days":7}}'),
                )
            ),
            "\n".join(
                (
                    result_text("find_book", "book 31"),
                    result_text("lend_book", waits_for(["book_id"])),
                )
            ),
            written_call("lend_book", '{"book_id":31,"days":7}'),
            result_text("lend_book", "done"),
            "Dune is lent out.",
        ),
    ),
    _Worked("jaja gracias!", ("¡De nada!",), older=True),
    _Worked("i never find my books", ("Oh no!",)),
    _Worked("who wrote Emma?", ("Jane Austen.",), older=True),
)


def demonstrations(tail: str) -> list[tuple[Role, str]]:
    """Role and text of each message. `tail` is what a live turn puts behind its message, if
    anything."""
    messages: list[tuple[Role, str]] = [
        ("user", definitions_text(_MADE_UP.block, HEADER)),
        ("assistant", ACKNOWLEDGEMENT),
    ]
    for turn in _WORKED:
        asked = signed(turn.asked, _MEMBER)
        messages.append(("user", asked if turn.older else f"{asked}\n\n{tail}".rstrip()))
        for place, text in enumerate(turn.answers):
            messages.append(("user" if place % 2 else "assistant", text))
    return messages
