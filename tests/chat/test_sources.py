"""Which documents an answer names."""

import pytest

from chat.sources import sources_of
from prompt.knowledge import Snippet


def snippet(text: str, number: int = 1) -> Snippet:
    return Snippet(document_id=number, document=f"{number}.txt", url="", text=text)


BEACON = snippet("The beacon transmits on 4417 kilohertz.")
LAMP = snippet("Die Lampe am Hafen leuchtet grün.", 2)
TIDE = snippet("横浜港の灯台は緑色です。", 3)


@pytest.mark.parametrize(
    ("answer", "named"),
    [
        ("It is 4417 kHz.", [1]),
        ("The beacons there are old.", [1]),
        ("Sie leuchten bis morgens.", [2]),
        ("灯台は緑色です。", [3]),
        ("The beacon and die Lampe.", [1, 2]),
        ("Fine, thanks!", []),
        ("Yes.", [1, 2, 3]),
        ("", []),
        ("  ", []),
    ],
)
def test_those_that_show_in_the_answer(answer: str, named: list[int]) -> None:
    found = sources_of([BEACON, LAMP, TIDE], answer)
    assert [source.document_id for source in found] == named


def test_each_document_once() -> None:
    assert sources_of([BEACON, snippet("4417 again"), BEACON], "4417") == (BEACON,)
