import time

from hypothesis import given
from hypothesis import strategies as st

from chat.parse_events import printable
from prompt.events import (
    CallStarted,
    Dropped,
    Finished,
    Reclassified,
    StreamEvent,
    TextDelta,
    Usage,
)
from providers.openai.fault import Fault


def deltas(text: str, size: int) -> list[StreamEvent]:
    pieces = [(at, text[at : at + size]) for at in range(0, len(text), size)]
    return [TextDelta(text=piece, span=(at, at + len(piece))) for at, piece in pieces]


@given(text=st.text(min_size=1, max_size=30), size=st.integers(1, 9), data=st.data())
def test_text_taken_back_keeps_its_place(text: str, size: int, data: st.DataObject) -> None:
    low = data.draw(st.integers(0, len(text) - 1))
    high = data.draw(st.integers(low + 1, len(text)))
    back = Reclassified(text=text[low:high], span=(low, high))
    records = printable([*deltas(text, size), back, Finished(reason="stop")], fault=None)
    wanted = [("text", text[:low]), ("reasoning", text[low:high]), ("text", text[high:])]
    found = [(record["type"], record["text"]) for record in records[:-1]]
    assert found == [piece for piece in wanted if piece[1]]


def test_what_is_not_printed_does_not_part_text() -> None:
    events: list[StreamEvent] = [
        TextDelta(text="a", span=(0, 1)),
        CallStarted(name="x"),
        Dropped(span=(1, 2), why="a marker"),
        TextDelta(text="b", span=(2, 3)),
        TextDelta(text="", span=(3, 3)),
        Finished(reason=None),
    ]
    assert printable(events, fault=None) == [
        {"type": "text", "text": "ab"},
        {"type": "finish", "reason": None, "usage": None},
    ]


def test_counts_that_were_not_told_are_absent() -> None:
    events: list[StreamEvent] = [Usage(prompt_tokens=3), Finished(reason="stop")]
    (finish,) = printable(events, fault=None)
    assert finish["usage"] == {"prompt_tokens": 3}


def test_a_fault_stands_before_the_finish() -> None:
    records = printable([Finished(reason="stop")], fault=Fault(message="gone"))
    assert [record["type"] for record in records] == ["error", "finish"]
    assert records[-1]["reason"] == "error"


def test_taking_back_many_lines_costs_linear_time() -> None:
    """Reading all pieces for each of 5,000 lines would take minutes."""
    events: list[StreamEvent] = []
    for line in range(5_000):
        start = line * 20
        events += [TextDelta(text="x", span=(at, at + 1)) for at in range(start, start + 20)]
        events.append(Reclassified(text="x" * 10, span=(start, start + 10)))
    started = time.process_time()
    assert len(printable(events, fault=None)) == 10_001
    assert time.process_time() - started < 5
