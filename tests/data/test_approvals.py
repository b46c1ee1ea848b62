from data.approvals import Approvals
from data.database import Database


async def test_a_guild_is_judged_once_by_rule_and_then_by_people(database: Database):
    approvals = Approvals(database)
    assert await approvals.is_empty()
    assert await approvals.get(1) is None
    await approvals.add(1, "pending")
    await approvals.add(1, "approved")
    pending = await approvals.get(1)
    assert pending is not None
    assert (pending.state, pending.decided_by, pending.told) == ("pending", None, False)
    assert not await approvals.is_empty()
    await approvals.mark_told(1)
    assert await approvals.decide(1, "denied", by=9, seen="pending")
    denied = await approvals.get(1)
    assert denied is not None
    assert (denied.state, denied.decided_by, denied.told) == ("denied", 9, True)
    assert denied.at >= pending.at
    assert await approvals.get(2) is None


async def test_a_decision_on_an_outdated_view_changes_nothing(database: Database):
    approvals = Approvals(database)
    await approvals.add(1, "pending")
    assert await approvals.decide(1, "denied", by=9, seen="pending")
    assert not await approvals.decide(1, "approved", by=8, seen="pending")
    assert not await approvals.decide(2, "approved", by=8, seen="pending")
    found = await approvals.get(1)
    assert found is not None
    assert (found.state, found.decided_by) == ("denied", 9)
    assert await approvals.get(2) is None
