"""The moments that people's words mean, and the words that mean none."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from tools.moments import LONGEST, NoMoment, moment_in

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 12, 1, 11, 0, 20, tzinfo=UTC)
"""A Tuesday, 12:00:20 in Berlin."""


def told(words: str, *, now: datetime = NOW, zone: ZoneInfo = BERLIN) -> str:
    moment = moment_in(words, now=now, zone=zone)
    assert moment.at.utcoffset() == UTC.utcoffset(None)
    return f"{moment.at.astimezone(zone):%a %Y-%m-%d %H:%M:%S}"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("in 20 minutes", "Tue 2026-12-01 12:20:20"),
        ("20 minutes from now", "Tue 2026-12-01 12:20:20"),
        ("1h30m", "Tue 2026-12-01 13:30:20"),
        ("in 1 hour and 30 minutes", "Tue 2026-12-01 13:30:20"),
        ("in half an hour", "Tue 2026-12-01 12:30:20"),
        ("in an hour and a half", "Tue 2026-12-01 13:30:20"),
        ("in 3 days", "Fri 2026-12-04 12:00:20"),
        ("in 2 days at 6pm", "Thu 2026-12-03 18:00:00"),
        ("tomorrow at 9", "Wed 2026-12-02 09:00:00"),
        ("at 9 tomorrow", "Wed 2026-12-02 09:00:00"),
        ("at 9 pm tomorrow", "Wed 2026-12-02 21:00:00"),
        ("tomorrow at 9 o'clock", "Wed 2026-12-02 09:00:00"),
        ("tomorrow at noon", "Wed 2026-12-02 12:00:00"),
        ("tonight at 8", "Tue 2026-12-01 20:00:00"),
        ("tonight at 20:30", "Tue 2026-12-01 20:30:00"),
        ("at 9", "Wed 2026-12-02 09:00:00"),
        ("6pm", "Tue 2026-12-01 18:00:00"),
        ("next friday 18:00", "Fri 2026-12-04 18:00:00"),
        ("Friday, December 4, 2026 at 6:00 PM", "Fri 2026-12-04 18:00:00"),
        ("5 december at 9", "Sat 2026-12-05 09:00:00"),
        ("12/25/2026 9:00", "Fri 2026-12-25 09:00:00"),
        ("25.12.2026 9:00", "Fri 2026-12-25 09:00:00"),
        ("2027-05-04 18:00", "Tue 2027-05-04 18:00:00"),
        ("2027-05-04T18:00:00Z", "Tue 2027-05-04 20:00:00"),
        ("2027-05-04T18:00:00+09:00", "Tue 2027-05-04 11:00:00"),
        ("tomorrow 9am UTC", "Wed 2026-12-02 10:00:00"),
        ("morgen um 9 Uhr", "Wed 2026-12-02 09:00:00"),
        ("in 20 Minuten", "Tue 2026-12-01 12:20:20"),
        ("demain à 9h", "Wed 2026-12-02 09:00:00"),
        ("mañana a las 9", "Wed 2026-12-02 09:00:00"),
        ("domani alle 9", "Wed 2026-12-02 09:00:00"),
        ("amanhã às 9:00", "Wed 2026-12-02 09:00:00"),
        ("jutro o 9:00", "Wed 2026-12-02 09:00:00"),
        ("завтра в 9", "Wed 2026-12-02 09:00:00"),
        ("через 20 минут", "Tue 2026-12-01 12:20:20"),
        ("20分後", "Tue 2026-12-01 12:20:20"),
    ],
)
def test_what_people_say(words: str, expected: str) -> None:
    assert told(words) == expected


@pytest.mark.parametrize("words", ["tomorrow", "5 december", "monday", "2027-05-04", "next week"])
def test_a_day_alone_is_its_morning(words: str) -> None:
    moment = moment_in(words, now=NOW, zone=BERLIN)
    assert f"{moment.at.astimezone(BERLIN):%H:%M}" == "09:00"
    assert moment.assumed


def test_whatever_the_time_is_now_noon_is_noon() -> None:
    noon = datetime(2026, 12, 1, 11, tzinfo=UTC)
    moment = moment_in("tomorrow at noon", now=noon, zone=BERLIN)
    assert (moment.at.hour, moment.assumed) == (11, False)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("", "1 to 100 characters"),
        ("in 20 minutes" + " or so" * LONGEST, "1 to 100 characters"),
        ("hello", "was not understood"),
        ("remind me", "was not understood"),
        ("20", "was not understood"),
        ("5", "was not understood"),
        ("\ud800", "was not understood"),
        ("1 " * 50, "was not understood"),
        ("in 99999999999999 years", "was not understood"),
        ("tomorrow 9", "'9' in 'tomorrow 9' was not understood"),
        ("tomorrow at 25:00", "'25:00' in 'tomorrow at 25:00' was not understood"),
        ("friday the 4th at 5pm", "is a Thursday"),
        ("9999-12-31T23:59:59-10:00", "no time"),
        ("03/04/2027 10:00", "two ways"),
        ("9:00 EST", "Leave the time zone out"),
        ("9:00 UTC+3", "Leave the time zone out"),
        ("every day at 9", "Repeating"),
        ("Weekly", "Repeating"),
        ("jeden Montag um 9 Uhr", "Repeating"),
        ("cada día a las 9", "Repeating"),
        ("yesterday", "in the past"),
        ("2 hours ago", "in the past"),
        ("now", "in the past"),
        ("today at 9:00", "it is 2026-12-01 12:00 in Europe/Berlin"),
        ("in 5 years", "more than two years"),
    ],
)
def test_what_is_refused_with_words(words: str, reason: str) -> None:
    with pytest.raises(NoMoment) as refusal:
        moment_in(words, now=NOW, zone=BERLIN)
    assert reason in str(refusal.value)


def test_a_time_that_clocks_leave_out_is_the_one_that_they_go_on_to() -> None:
    moment = moment_in("2027-03-28 02:30", now=NOW, zone=BERLIN)
    assert (moment.at, moment.moved) == (datetime(2027, 3, 28, 1, 30, tzinfo=UTC), True)
    assert not moment_in("2027-03-28 03:30", now=NOW, zone=BERLIN).moved


def test_of_a_time_that_clocks_show_twice_it_is_the_first() -> None:
    moment = moment_in("2027-10-31 02:30", now=NOW, zone=BERLIN)
    assert (moment.at, moment.moved) == (datetime(2027, 10, 31, 0, 30, tzinfo=UTC), False)


def test_a_span_is_as_long_as_it_says_whatever_clocks_do() -> None:
    before = datetime(2027, 3, 28, 0, 30, tzinfo=UTC)  # 1:30; half an hour later it is 3:00
    assert told("in 2 hours", now=before) == "Sun 2027-03-28 04:30:00"
    assert told("at 8:00", now=before) == "Sun 2027-03-28 08:00:00"
