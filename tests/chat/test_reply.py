from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from chat.reply import Reply, ToolRun
from prompt.values import ToolCall, ToolResult

TEXTS = st.text(alphabet="ab .\n", max_size=40)


def written(text: str, cuts: list[int]) -> Reply:
    """A reply of `text`, in pieces that end at `cuts`."""
    reply = Reply()
    ends = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    for start, end in pairwise(ends):
        reply.write(text[start:end], (start, end))
    return reply


def test_rounds_stand_apart_and_outer_blank_space_goes() -> None:
    reply = Reply()
    reply.write("  Let me roll.\n")
    assert reply.text == "Let me roll."
    assert reply.next_round() == "  Let me roll.\n"
    reply.next_round()
    reply.write("A four.\n\n  Indented.\n")
    assert reply.text == "Let me roll.\n\nA four.\n\n  Indented."


def test_an_empty_reply_has_no_text() -> None:
    reply = Reply()
    reply.write(" \n")
    reply.next_round()
    assert reply.text == ""


@given(TEXTS, st.lists(st.integers(0, 40), max_size=6), st.data())
def test_exactly_what_is_taken_back_goes(text: str, cuts: list[int], data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    reply = written(text, cuts)
    reply.take_back((start, end))
    assert reply.next_round() == text[:start] + text[end:]


@given(TEXTS, st.lists(st.integers(0, 40), max_size=6))
def test_how_text_came_makes_no_difference(text: str, cuts: list[int]) -> None:
    assert written(text, cuts).text == text.strip()


def test_only_the_round_under_way_is_taken_back() -> None:
    reply = Reply()
    reply.write("Let me roll.", (0, 12))
    reply.next_round()
    reply.write("Hm. Four.", (0, 9))
    reply.take_back((0, 4))
    assert reply.text == "Let me roll.\n\nFour."


def test_words_without_a_place_are_never_taken_back() -> None:
    reply = Reply()
    reply.write("from elsewhere ")
    reply.write("Hm. ", (0, 4))
    reply.take_back((0, 4))
    assert reply.next_round() == "from elsewhere "


def test_what_runs_has_no_result_yet() -> None:
    calls = [
        ToolCall(id=id_, name="roll", arguments={}, raw_arguments="{}", origin="text")
        for id_ in "ab"
    ]
    runs = [ToolRun(call=call) for call in calls]
    reply = Reply(runs=runs)
    runs[0].result = ToolResult(call_id="a", name="roll", text="4", outcome="ok")
    assert reply.running == [runs[1]]
