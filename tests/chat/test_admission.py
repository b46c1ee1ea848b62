"""Who is answered, as the rules have it."""

from collections.abc import Collection
from typing import Literal

import pytest

from chat.admission import Admission
from chat.answering import ANSWERING, Answering
from data.store import Store

OPERATOR, STRANGER = 1, 2


def admission(
    store: Store,
    approved: Literal["ask", "all"] | Collection[int] = "ask",
    *,
    dms: Literal["on", "off"] | None = None,
    is_public: bool = True,
) -> Admission:
    made = Admission(store, approved_guilds=approved, dms=dms)
    made.introduce({OPERATOR}, is_public=is_public)
    return made


async def test_the_first_guild_alone_is_approved_by_rule(store: Store) -> None:
    rules = admission(store)
    assert not await rules.is_approved(10)
    await rules.judge(10, owner_id=STRANGER, alone=True)
    await rules.judge(11, owner_id=STRANGER, alone=False)
    assert await rules.is_approved(10)
    assert not await rules.is_approved(11)


async def test_a_stranger_gets_nothing_from_the_first_guilds_leaving(store: Store) -> None:
    rules = admission(store)
    await rules.judge(10, owner_id=STRANGER, alone=True)
    # The bot left it; the next one to invite the bot is alone again.
    await rules.judge(11, owner_id=STRANGER, alone=True)
    assert not await rules.is_approved(11)


async def test_several_guilds_at_the_first_start_all_wait(store: Store) -> None:
    rules = admission(store)
    for guild_id in (10, 11):
        await rules.judge(guild_id, owner_id=STRANGER, alone=False)
        assert not await rules.is_approved(guild_id)


async def test_the_operators_own_guilds_are_approved(store: Store) -> None:
    rules = admission(store)
    await rules.judge(10, owner_id=OPERATOR, alone=False)
    assert await rules.is_approved(10)


async def test_nobody_but_the_operator_can_invite_a_bot_that_is_not_public(store: Store) -> None:
    rules = admission(store, is_public=False)
    await rules.judge(10, owner_id=STRANGER, alone=False)
    assert await rules.is_approved(10)


async def test_a_list_admits_those_on_it_and_no_first_one(store: Store) -> None:
    rules = admission(store, {10})
    assert await rules.judge(10, owner_id=STRANGER, alone=True) is None
    await rules.judge(11, owner_id=STRANGER, alone=True)
    assert await rules.is_approved(10)
    assert not await rules.is_approved(11)
    # What a list admitted is not kept: taken off it, the guild is asked about.
    assert not await admission(store).is_approved(10)


async def test_a_denial_stands_against_rules_and_falls_to_settings(store: Store) -> None:
    rules = admission(store)
    await rules.judge(10, owner_id=STRANGER, alone=False)
    assert await rules.decide(10, "denied", by=OPERATOR, seen="pending")
    await rules.judge(10, owner_id=OPERATOR, alone=True)
    assert not await rules.is_approved(10)
    assert await admission(store, "all").is_approved(10)


async def test_only_an_operator_decides(store: Store) -> None:
    rules = admission(store)
    await rules.judge(10, owner_id=STRANGER, alone=False)
    with pytest.raises(PermissionError):
        await rules.decide(10, "approved", by=STRANGER, seen="pending")
    assert not await rules.is_approved(10)
    with pytest.raises(PermissionError):
        await rules.switch_dms(on=True, by=STRANGER)


@pytest.mark.parametrize(
    ("setting", "switched", "open_to_all"),
    [
        (None, None, False),
        (None, True, True),
        (None, False, False),
        ("on", None, True),
        ("off", None, False),
    ],
)
async def test_direct_messages(
    store: Store, setting: Literal["on", "off"] | None, switched: bool | None, open_to_all: bool
) -> None:
    rules = admission(store, dms=setting)
    if switched is not None:
        await rules.switch_dms(on=switched, by=OPERATOR)
    assert await rules.takes_dms_of(STRANGER) is open_to_all
    assert await rules.takes_dms_of(OPERATOR)


async def test_before_anyone_is_introduced_nobody_is_the_operator(store: Store) -> None:
    rules = Admission(store, approved_guilds="ask", dms=None)
    assert not await rules.takes_dms_of(OPERATOR)
    with pytest.raises(PermissionError):
        await rules.switch_dms(on=True, by=OPERATOR)


async def test_channels_are_a_guilds_own(store: Store) -> None:
    rules = admission(store)
    await rules.limit_channels(10, {100, 101})
    assert await rules.takes_channel(10, {100})
    assert await rules.takes_channel(10, {555, 101})
    assert not await rules.takes_channel(10, {555})
    assert await rules.takes_channel(11, {555})
    await rules.limit_channels(10, ())
    assert await rules.takes_channel(10, {555})


async def test_a_channel_in_which_it_is_to_be_silent_is_silent_though_it_is_listed(
    store: Store,
) -> None:
    rules = admission(store)
    await rules.limit_channels(10, [5, 6])
    await store.settings.put(10, "", ANSWERING, Answering(denied=(6, 60)).stored())
    assert await rules.takes_channel(10, {5})
    assert not await rules.takes_channel(10, {6})
    assert not await rules.takes_channel(10, {5, 60})
    assert await rules.takes_channel(11, {6})
