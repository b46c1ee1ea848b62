"""Reads the documents and questions that retrieval is measured with.

Invariant: each document answers two questions. One shares words with it; the other says the same
in other words, so that not one of its content words stands in the document.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "retrieval_data"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A document of one paragraph, and the two questions that it answers."""

    title: str
    text: str
    direct: str
    paraphrased: str


def cases() -> Sequence[Case]:
    """All documents, in the order of the files and within them."""
    found: list[Case] = []
    for path in sorted(FOLDER.glob("*.md")):
        for block in path.read_text(encoding="utf-8").split("## ")[1:]:
            title, text, direct, paraphrased = block.strip().splitlines()
            found.append(
                Case(
                    title=title,
                    text=text,
                    direct=direct.removeprefix("? "),
                    paraphrased=paraphrased.removeprefix("~ "),
                )
            )
    return found
