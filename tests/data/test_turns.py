"""Turns are found by the messages that show them."""

import logging
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest

from data.database import Database
from data.turns import StoredTurn, Turns
from prompt.values import TextPart, ToolCall, ToolResult, Turn

CALL = ToolCall(
    id="abc123def",
    name="roll",
    arguments={"sides": 6, "note": "\ud83d"},
    raw_arguments='{"sides": 6.0, "note": "\\ud83d"}',
    origin="text",
    span=(0, 30),
)
TURN = StoredTurn(
    id="t1",
    guild_id=1,
    channel_id=2,
    member_id=3,
    asked_message_id=2**62,
    reply_message_ids=(90, 80, 2**62 + 1),
    turns=(
        Turn(role="assistant", parts=(TextPart(text="Let me roll."), CALL)),
        Turn(
            role="tool",
            parts=(ToolResult(call_id="abc123def", name="roll", text="4", outcome="ok"),),
        ),
        Turn(role="assistant", parts=(TextPart(text="Four."),)),
    ),
    at=datetime(2026, 5, 4, 3, 2, 1, 5, tzinfo=timezone(timedelta(hours=2))),
)


async def test_each_reply_message_leads_to_the_whole_turn(database: Database):
    turns = Turns(database)
    await turns.save(TURN)
    other = replace(TURN, id="t2", reply_message_ids=(70,))
    await turns.save(other)
    assert await turns.by_messages([80, 70, 5, 2**62 + 1]) == {
        80: TURN,
        70: other,
        2**62 + 1: TURN,
    }


async def test_turns_are_found_by_id(database: Database):
    turns = Turns(database)
    unshown = replace(TURN, id="t2", reply_message_ids=())
    await turns.save(TURN)
    await turns.save(unshown)
    assert await turns.by_ids([TURN.id, "t2", "t3"]) == {TURN.id: TURN, "t2": unshown}


async def test_nothing_asked_nothing_found(database: Database):
    assert await Turns(database).by_messages([]) == {}
    assert await Turns(database).by_ids([]) == {}


async def test_more_messages_than_a_statement_has_parameters(database: Database):
    turns = Turns(database)
    await turns.save(TURN)
    assert await turns.by_messages(range(100_000)) == {80: TURN, 90: TURN}


async def test_a_turn_without_replies_is_kept(database: Database):
    turns = Turns(database)
    await turns.save(replace(TURN, reply_message_ids=()))
    assert await turns.by_messages([80]) == {}
    await turns.save(TURN)
    assert await turns.by_messages([80]) == {80: TURN}


async def test_saving_again_replaces(database: Database):
    turns = Turns(database)
    await turns.save(TURN)
    shorter = replace(TURN, reply_message_ids=(80,), turns=TURN.turns[-1:])
    await turns.save(shorter)
    assert await turns.by_messages([90, 80]) == {80: shorter}


async def test_a_message_shows_the_turn_that_took_it_last(database: Database):
    turns = Turns(database)
    await turns.save(TURN)
    later = replace(TURN, id="t2", reply_message_ids=(80,))
    await turns.save(later)
    found = await turns.by_messages([80, 90])
    assert found[80] == later
    assert found[90] == replace(TURN, reply_message_ids=(90, 2**62 + 1))


async def test_a_time_without_zone_is_refused(database: Database):
    turns = Turns(database)
    with pytest.raises(ValueError, match="time zone"):
        await turns.save(replace(TURN, at=datetime(2026, 5, 4)))
    assert await turns.by_messages([80]) == {}


async def test_times_are_stored_in_utc(database: Database):
    await Turns(database).save(TURN)
    (row,) = await database.read("SELECT at FROM turns")
    assert row["at"] == "2026-05-04T01:02:01.000005+00:00"
    assert (await Turns(database).by_messages([80]))[80].at.tzinfo == UTC


async def test_an_unreadable_turn_is_logged_and_left_out(
    database: Database, caplog: pytest.LogCaptureFixture
):
    turns = Turns(database)
    await turns.save(TURN)
    await turns.save(replace(TURN, id="t2", reply_message_ids=(70,)))
    async with database.transaction() as transaction:
        await transaction.run(
            "UPDATE turns SET content = replace(content, '\"form\": 1', '\"form\": 99') "
            "WHERE id = 't1'"
        )
    caplog.set_level(logging.WARNING)
    assert set(await turns.by_messages([90, 80, 70])) == {70}
    assert caplog.messages == [
        "turn t1 is left out of the history: stored turns have form 99, this version reads 1"
    ]
