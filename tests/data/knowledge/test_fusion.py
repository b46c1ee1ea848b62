"""What becomes of the lists of two channels."""

from data.knowledge.fusion import distinct, fuse, joined
from data.knowledge.values import Passage


def passage(text: str, *, document: int = 1, ordinal: int = 0, at: int = 0) -> Passage:
    return Passage(
        context_id=1,
        document_id=document,
        document_name="d",
        kind="link",
        url="",
        first=ordinal,
        last=ordinal,
        start=ordinal * 350,
        end=ordinal * 350 + 400,
        at=at,
        page=None,
        text=text,
        score=1 / (ordinal + 1),
    )


def test_c09_what_both_found_comes_first_then_the_dense_channel():
    ranked = fuse(lexical=["a", "b"], dense=["b", "c"])
    assert [found for found, _ in ranked] == ["b", "c", "a"]
    assert dict(ranked) == {"b": 0.45 / 62 + 0.55 / 61, "c": 0.55 / 62, "a": 0.45 / 61}


def test_one_channel_alone_keeps_its_order():
    assert [found for found, _ in fuse(lexical=[3, 1, 2], dense=[])] == [3, 1, 2]
    assert fuse(lexical=[], dense=[]) == []


def test_what_repeats_a_better_passage_makes_room():
    words = [f"word{n}" for n in range(100)]
    first = passage(" ".join(words))
    copy = passage(" ".join(["Other", *words[1:]]), document=2)
    other = passage(" ".join(reversed(words)), document=3)
    assert distinct([first, copy, other], 2) == [first, other]
    assert distinct([copy, first, other], 1) == [copy]


def test_neighbours_become_one_passage_without_the_overlap():
    text = "zero one two three four five six"
    a, b, c = (
        passage(text[begin:end], ordinal=ordinal, at=begin)
        for ordinal, (begin, end) in enumerate([(0, 12), (9, 23), (19, 32)])
    )
    elsewhere = passage("zero", document=2, ordinal=1)
    far = passage("far", ordinal=4, at=90)
    (whole, *rest) = joined([c, elsewhere, a, far, b])
    assert whole.text == text
    assert (whole.first, whole.last, whole.start, whole.end) == (0, 2, 0, 1100)
    assert whole.score == a.score
    assert rest == [elsewhere, far]
