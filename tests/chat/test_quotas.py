"""How much may be asked, by whom, and when again."""

import asyncio
import re
from datetime import UTC, datetime, timedelta

import pytest

from chat.quotas import (
    BUDGET,
    LIMITS,
    Asker,
    Budget,
    Limit,
    Limits,
    Nearing,
    Quotas,
    are_limits,
    budget_of,
    is_budget,
    limits_of,
)
from data.store import Store
from data.usage import Amount, Spender
from prompt.values import Json

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)
MIDNIGHT = datetime(2026, 12, 2, tzinfo=UTC)
ADA = Asker(guild_id=1, channel_id=5, member_id=7)
BOB = Asker(guild_id=1, channel_id=5, member_id=8)


class Clock:
    """The time, which a test moves on."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> datetime:
        return self.now

    def wait(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def quotas(store: Store, clock: Clock) -> Quotas:
    return Quotas(store, clock=clock)


def until(refusal: str) -> datetime:
    """When a refusal says that the next question is answered."""
    found = re.search(r"I answer again <t:(\d+):R>\.$", refusal)
    assert found, refusal
    return datetime.fromtimestamp(int(found[1]), UTC)


async def use(
    store: Store, asker: Asker, *, owner: int = 0, tokens: int = 0, cost: int = 0
) -> None:
    await store.usage.add(
        NOON.date(),
        Spender(
            guild_id=asker.guild_id,
            channel_id=asker.channel_id,
            member_id=asker.member_id,
            model="m",
            owner=owner,
        ),
        Amount(prompt_tokens=tokens, cost_micros=cost),
    )


async def test_without_limits_everything_is_let_in_and_counted(
    quotas: Quotas, store: Store
) -> None:
    for _ in range(30):
        assert not (await quotas.judge(ADA)).refusal
    exported = await store.export_member(1, 7)
    assert isinstance(exported, dict)
    (row,) = exported["usage"]  # pyright: ignore[reportGeneralTypeIssues, reportOptionalIterable, reportUnknownVariableType]
    assert row["questions"] == 30  # pyright: ignore[reportArgumentType, reportCallIssue, reportIndexIssue]


async def test_a_members_questions_are_limited_and_others_are_not(
    quotas: Quotas, clock: Clock
) -> None:
    await quotas.set_limits(1, Limits(member=Limit(minute=2, hour=3)))
    assert not (await quotas.judge(ADA)).refusal
    clock.wait(10)
    assert not (await quotas.judge(ADA)).refusal
    clock.wait(10)
    refused = await quotas.judge(ADA)
    assert refused.tell
    assert "2 questions a minute" in refused.refusal
    assert until(refused.refusal) == NOON + timedelta(seconds=61)
    assert not (await quotas.judge(BOB)).refusal
    clock.wait(41)
    assert not (await quotas.judge(ADA)).refusal
    assert "3 questions an hour" in (await quotas.judge(ADA)).refusal
    clock.wait(3600)
    assert not (await quotas.judge(ADA)).refusal


async def test_a_clock_that_is_set_back_keeps_nobody_out(quotas: Quotas, clock: Clock) -> None:
    await quotas.set_limits(1, Limits(member=Limit(minute=1)))
    clock.wait(7 * 24 * 3600)
    await quotas.judge(ADA)
    assert (await quotas.judge(ADA)).tell
    clock.wait(-7 * 24 * 3600)
    assert not (await quotas.judge(ADA)).refusal
    refused = await quotas.judge(ADA)
    assert refused.tell
    assert until(refused.refusal) == NOON + timedelta(seconds=61)


async def test_a_member_is_told_once_a_window(quotas: Quotas, clock: Clock) -> None:
    await quotas.set_limits(1, Limits(member=Limit(minute=1)))
    await quotas.judge(ADA)
    assert [(await quotas.judge(ADA)).tell for _ in range(3)] == [True, False, False]
    clock.wait(61)
    assert not (await quotas.judge(ADA)).refusal
    assert (await quotas.judge(ADA)).tell


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        (Limits(channel=Limit(minute=1)), "This channel has asked 1 question a minute"),
        (Limits(server=Limit(day=1)), "This server has asked 1 question a day"),
    ],
)
async def test_a_channel_and_a_server_share_their_limits(
    quotas: Quotas, limits: Limits, words: str
) -> None:
    await quotas.set_limits(1, limits)
    assert not (await quotas.judge(ADA)).refusal
    assert words in (await quotas.judge(BOB)).refusal
    elsewhere = Asker(guild_id=2, channel_id=5, member_id=8)
    assert not (await quotas.judge(elsewhere)).refusal


async def test_limits_of_a_day_outlive_a_restart_and_end_at_midnight(
    store: Store, clock: Clock
) -> None:
    await Quotas(store, clock=clock).set_limits(1, Limits(member=Limit(day=1, tokens=100)))
    assert not (await Quotas(store, clock=clock).judge(ADA)).refusal
    again = await Quotas(store, clock=clock).judge(ADA)
    assert until(again.refusal) == MIDNIGHT + timedelta(seconds=1)
    await use(store, BOB, tokens=100)
    tokens = await Quotas(store, clock=clock).judge(BOB)
    assert "used the tokens that a member may use a day" in tokens.refusal
    clock.now = MIDNIGHT
    assert not (await Quotas(store, clock=clock).judge(BOB)).refusal


async def test_the_most_generous_role_stands_in_for_a_members_limits(quotas: Quotas) -> None:
    roles = {70: Limit(minute=2, day=9), 71: Limit(minute=3, hour=5)}
    await quotas.set_limits(1, Limits(member=Limit(minute=1), roles=roles))
    patron = Asker(guild_id=1, channel_id=5, member_id=9, role_ids=(70, 71, 72))
    assert [bool((await quotas.judge(patron)).refusal) for _ in range(4)] == [False] * 3 + [True]
    assert [bool((await quotas.judge(ADA)).refusal) for _ in range(2)] == [False, True]


async def test_managers_are_exempt_where_a_guild_says_so(quotas: Quotas) -> None:
    boss = Asker(guild_id=1, channel_id=5, member_id=9, manages=True)
    await quotas.set_limits(1, Limits(member=Limit(minute=1), exempt=True))
    assert [bool((await quotas.judge(boss)).refusal) for _ in range(3)] == [False] * 3
    await quotas.set_limits(1, Limits(member=Limit(minute=1)))
    assert [bool((await quotas.judge(boss)).refusal) for _ in range(2)] == [False, True]


async def test_of_questions_at_once_no_more_pass_than_may(quotas: Quotas) -> None:
    await quotas.set_limits(1, Limits(member=Limit(minute=3, day=3)))
    judged = await asyncio.gather(*(quotas.judge(ADA) for _ in range(8)))
    assert [bool(each.refusal) for each in judged].count(False) == 3


async def test_a_budget_warns_once_and_then_stops_everyone(quotas: Quotas, store: Store) -> None:
    await quotas.set_budget(1, Budget(money=2.0))
    await use(store, ADA, cost=1_500_000)
    assert (await quotas.judge(ADA)).warnings == []
    await use(store, ADA, cost=200_000)
    judged = await quotas.judge(ADA)
    assert not judged.refusal
    assert judged.warnings == [Nearing(guild_id=1, part=0.85)]
    assert (await quotas.judge(BOB)).warnings == []
    await use(store, BOB, cost=300_000)
    stopped = await quotas.judge(BOB)
    assert stopped.refusal.startswith("This server's budget for today is used up.")
    assert until(stopped.refusal) == MIDNIGHT + timedelta(seconds=1)
    assert not (await quotas.judge(Asker(guild_id=2, channel_id=6, member_id=7))).refusal


async def test_the_operators_budget_counts_their_endpoint_alone(
    quotas: Quotas, store: Store
) -> None:
    await quotas.set_budget(0, Budget(tokens=1000))
    await use(store, Asker(guild_id=3, channel_id=9, member_id=7), owner=3, tokens=5000)
    assert not (await quotas.judge(ADA)).refusal
    await use(store, Asker(guild_id=2, channel_id=9, member_id=7), tokens=1000)
    stopped = await quotas.judge(ADA)
    assert stopped.refusal.startswith("My budget for today is used up.")
    assert stopped.warnings == [Nearing(guild_id=0, part=1.0)]
    await store.endpoints.put(
        1,
        base_url="https://own.example/v1",
        model="m",
        sealed_key=None,
        allow_private=False,
        set_by=7,
    )
    assert not (await quotas.judge(ADA)).refusal, "its own endpoint costs the operator nothing"


async def test_direct_messages_have_the_operators_limits(quotas: Quotas) -> None:
    await quotas.set_limits(0, Limits(member=Limit(minute=1)))
    mail = Asker(guild_id=0, channel_id=77, member_id=7)
    assert [bool((await quotas.judge(mail)).refusal) for _ in range(2)] == [False, True]
    assert not (await quotas.judge(ADA)).refusal


@pytest.mark.parametrize(
    "value",
    [[], {"member": {"minute": 0}}, {"member": {"minute": True}}, {"roles": {"x": {}}}, {"z": 1}],
)
def test_what_is_no_limit_cannot_be_kept(value: Json) -> None:
    assert not are_limits(value)
    assert limits_of({LIMITS: value}) == Limits()


def test_limits_and_budgets_are_read_back_as_they_were_kept() -> None:
    limits = Limits(member=Limit(minute=5), roles={10**17: Limit(tokens=9)}, exempt=True)
    assert limits_of({LIMITS: limits.stored()}) == limits
    assert are_limits(limits.stored())
    assert is_budget({"money": 2.5, "tokens": None})
    assert budget_of({BUDGET: {"money": 2.5}}) == Budget(money=2.5)
    wrongs: list[Json] = [[], {"money": -1}, {"money": True}, {"tokens": 1.5}, {"x": 1}]
    assert not any(map(is_budget, wrongs))
