"""Reads the corpus: files of cases as text, one file a dialect or theme.

A case is a title, the input and what comes of it, with a line that holds a single full stop
before, between and after the latter two:

    A call in its tag
    .
    <tool_call>{"name": "get_weather", "arguments": {"city": "Oslo"}}</tool_call>
    .
    {"call": "get_weather", "arguments": {"city": "Oslo"}}
    .

Expected is one JSON line an event, neighbours merged and reclassified text counted as reasoning:
`text`, `reasoning`, `call` with `arguments` (and `repaired`), `error` with `name`. Without any
such line the input stays text, to the letter. A title may end in switches in brackets:
`[finish=length]`, `[reasoning_open]`, `[text_calls=tagged_only]`, `[call_in_reasoning=never]`.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path

from prompt.values import Json

FOLDER = Path(__file__).parents[2] / "corpus" / "verbatim"
_SWITCHES = re.compile(r"\s*\[([\w=,\s]+)\]$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One case; `place` is its file and line."""

    place: str
    title: str
    text: str
    expected: list[dict[str, Json]]
    switches: dict[str, str]

    def __str__(self) -> str:
        return f"{self.place}: {self.title}"


def load(path: Path) -> list[Case]:
    """The cases of one file."""
    lines = path.read_text(encoding="utf-8").split("\n")
    cases: list[Case] = []
    at = 0
    while at < len(lines):
        title = lines[at].strip()
        if not title or title.startswith("#"):
            at += 1
            continue
        first = at + 2
        middle = lines.index(".", first)
        last = lines.index(".", middle + 1)
        if lines[at + 1] != ".":
            raise ValueError(f"{path.name}:{at + 1}: a case needs a full stop after its title")
        text = "\n".join(lines[first:middle])
        expected = [json.loads(line) for line in lines[middle + 1 : last] if line]
        switches = _SWITCHES.search(title)
        cases.append(
            Case(
                place=f"{path.stem}:{at + 1}",
                title=_SWITCHES.sub("", title),
                text=text,
                expected=expected or [{"text": text}],
                switches=_switches(switches.group(1)) if switches else {},
            )
        )
        at = last + 1
    return cases


def _switches(written: str) -> dict[str, str]:
    parts = [part.strip().partition("=") for part in written.split(",")]
    return {name: value for name, _, value in parts}


def load_all() -> list[Case]:
    """Every case of every file."""
    return [case for path in sorted(FOLDER.glob("*.txt")) for case in load(path)]
