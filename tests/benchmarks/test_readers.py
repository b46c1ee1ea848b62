"""What the benchmark claims rests on these: its answers are read right, its cuts lose nothing."""

import pytest

from benchmarks.answers import Answer, long_answer, short_answers
from benchmarks.peers import CUTS, PEERS, ratios
from benchmarks.readers import Verbatim, fault, held_back, tag_deltas

FAMILIES = sorted({family for peer in PEERS.values() for family in peer.families})


def answers(family: str) -> dict[str, Answer]:
    return {**short_answers(family), "long": long_answer(family)}


@pytest.mark.parametrize("family", FAMILIES)
def test_every_answer_is_read_right_however_it_is_cut(family: str) -> None:
    for title, answer in answers(family).items():
        for way, cut in CUTS.items():
            assert "".join(cut(answer.text)) == answer.text
            assert not fault(Verbatim, answer, cut), f"{title}, {way}"


def test_a_wrong_reading_is_noticed() -> None:
    answer = short_answers("hermes")["two calls"]
    one = short_answers("hermes")["one call"]
    cut = CUTS["by 1 character"]
    assert fault(Verbatim, Answer(text=one.text, right=answer.right), cut) == "1 calls of 2"
    quiet = Answer(text=f"Well. {one.text}", right=one.right)
    assert fault(Verbatim, quiet, cut) == "other words"


def test_the_long_answer_has_the_length_that_is_said_of_it() -> None:
    for times in (1, 8):
        text = long_answer("hermes", times).text
        assert len(text) == pytest.approx(8_000 * times, rel=0.03)
        assert len(text[text.index("<tool_call>") :]) == pytest.approx(6_000 * times, rel=0.03)


def test_tags_stay_whole() -> None:
    assert tag_deltas("abcdef<tool_call>gh") == ["abcd", "ef", "<tool_call>", "gh"]


def test_held_back_counts_what_was_fed_and_not_shown() -> None:
    assert held_back("Xy <too", 1) == [0, 0, 0, 1, 2, 3, 4]


def test_lengths_that_were_not_tried_have_no_ratio() -> None:
    assert ratios([0.5, 1.25]) == {"1": 1.0, "2": 2.5, "4": None, "8": None}
