import pytest

from cogs.queueing import FairQueue


def test_members_take_turns_and_keep_their_own_order() -> None:
    queue = FairQueue[str]()
    for member, item in ((1, "a1"), (1, "a2"), (1, "a3"), (2, "b1"), (3, "c1"), (2, "b2")):
        queue.add(member, item)
    taken: list[str] = []
    while queue:
        taken.append(queue.take())
    assert taken == ["a1", "b1", "c1", "a2", "b2", "a3"]


def test_an_empty_queue_has_nothing_to_take() -> None:
    with pytest.raises(IndexError, match="nothing waits"):
        FairQueue[str]().take()
