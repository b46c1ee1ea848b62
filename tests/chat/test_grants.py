"""What members have allowed is remembered in bounds."""

import pytest

from chat import approval
from chat.approval import Grants


def test_the_oldest_of_too_many_are_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(approval, "MOST_GRANTS", 3)
    grants = Grants()
    for member in (1, 2, 3, 3, 4):
        grants.give(70, member, "wipe")
    assert [grants.holds(70, member, "wipe") for member in (1, 2, 3, 4)] == [
        False,
        True,
        True,
        True,
    ]


def test_foreign_text_ends_those_of_its_channel_alone() -> None:
    grants = Grants()
    grants.give(70, 1, "wipe")
    grants.give(71, 1, "wipe")
    grants.end(70)
    assert not grants.holds(70, 1, "wipe")
    assert grants.holds(71, 1, "wipe")
