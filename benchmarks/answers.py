"""The model outputs that parsers are measured on, and what a right reading of them is.

Invariant: an answer depends on nothing but its family and its length, so two runs read the same.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import cycle
from typing import cast

from prompt.values import Json, JsonObject
from tests.providers.verbatim.renderers import JSON_RENDERERS, RENDERERS, Call

CHARACTERS_A_TOKEN = 4
ANSWER_TOKENS, CALL_TOKENS = 2_000, 1_500

_SENTENCES = (
    "The ferry leaves at ten, and the walk to the quay takes a quarter of an hour. ",
    "Bring a coat: it is windy out there, even in June (so the locals say). ",
    "If the café is closed, there is **another one** by the church.\n\n",
    "- tickets cost 12 crowns each\n- dogs travel free\n- bicycles do not\n\n",
    'They call it "the long way round", though it is only 3 km longer. ',
    "See [the timetable](https://example.org/ferry?day=2) or ask for `line 7` at the kiosk. ",
    "It isn't far; you'll see the lighthouse on the left - can't miss it!\n",
)
_BODY = (
    "Day one: arrive, unpack, walk to the harbour. ",
    'Ask for the room "with the view", number 12.\n',
    "Day two: the museum (10-17, closed on Mondays), then soup at Åse's.\n",
    "  * rope & boots\n  * map, 1:50 000\n\n",
    "Costs so far: 3 x 120 = 360, which is 40 % of what we planned; fine. ",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a parser made of an output: the words for the member, and the calls in order."""

    words: str
    calls: tuple[tuple[str, Mapping[str, Json]], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An output and the right reading of it, whose words count without blanks at their ends."""

    text: str
    right: Reading

    def agrees(self, reading: Reading) -> bool:
        """Whether a reading is the right one."""
        return reading.words.strip() == self.right.words.strip() and (
            reading.calls == self.right.calls
        )


def prose(characters: int) -> str:
    """An answer without a call, of about this length, that ends with a sentence."""
    return _repeated(_SENTENCES, characters)


def long_answer(family: str, times: int = 1) -> Answer:
    """Prose and a long call, 2,000 tokens in all, or so many times that."""
    body = _repeated(_BODY, CALL_TOKENS * CHARACTERS_A_TOKEN * times - 150)
    words = prose((ANSWER_TOKENS - CALL_TOKENS) * CHARACTERS_A_TOKEN * times)
    return _answer(family, words, [_note(body)])


def short_answers(family: str) -> Mapping[str, Answer]:
    """Short outputs that a reader of the family must get right, by what is special about them."""
    weather: Call = ("get_weather", {"city": "Tromsø", "days": 2})
    found = {
        "one call": _answer(family, "I will look that up.", [weather]),
        "two calls": _answer(family, "Both, then.", [weather, _note("rope\nboots")]),
        "nothing but a call": _answer(family, "", [weather]),
        "no call": Answer(text=prose(600), right=Reading(words=prose(600), calls=())),
    }
    if family in JSON_RENDERERS:
        odd = 'Closers such as </tool_call>, </function>, ``` and {"a": [1} are text.'
        found["markers in a string"] = _answer(family, "Noted.", [_note(odd)])
    return found


def _answer(family: str, words: str, calls: list[Call]) -> Answer:
    before = words
    if family == "harmony" and words:
        before = f"<|channel|>commentary<|message|>{words}<|end|>"
    elif words and not words.endswith("\n"):
        before = f"{words}\n\n"
    written = RENDERERS[family](calls)
    if family == "mistral array":
        # As the template of the models that write it has it.
        written = written.replace("[TOOL_CALLS][", "[TOOL_CALLS] [", 1)
    return Answer(text=before + written, right=Reading(words=words, calls=tuple(calls)))


def _note(body: str) -> Call:
    return ("save_note", {"title": "Trip", "body": body.strip(), "tags": ["trip", "north"]})


def _repeated(parts: tuple[str, ...], characters: int) -> str:
    written: list[str] = []
    length = 0
    for part in cycle(parts):
        if length >= characters:
            break
        written.append(part)
        length += len(part)
    return "".join(written)


def read_arguments(text: str) -> JsonObject:
    """Arguments as a server hands them over: JSON text, which must be an object."""
    value = json.loads(text)
    if not isinstance(value, dict):
        raise TypeError("arguments that are no object")
    return cast("JsonObject", value)
