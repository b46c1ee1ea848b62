"""Reads the moment that a member means: "in 20 minutes", "tomorrow at 9", "2027-05-04 18:00".

Invariant: pure but for the caches of dateparser, bounded, and never a guess: words with a part that
was not understood are refused with words, so no reminder is set for a moment that nobody meant.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

LONGEST = 100
"""Characters of the words for a moment."""

FARTHEST = timedelta(days=731)
NEAREST = timedelta(seconds=5)

MORNING = time(9)
"""Stands for a day that is named without a time."""

LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "nl", "sv", "pl", "ru", "uk", "tr", "ja")
"""Tried in this order. Without a list dateparser loads two hundred, which takes seconds."""

EXAMPLES = "'in 20 minutes', 'tomorrow at 9:00', 'friday 18:00' or '2027-05-04 18:00'"

_REPEATING = re.compile(
    r"\b(every|each|daily|weekly|monthly|yearly|hourly|jeden|jede|täglich|wöchentlich|chaque|"
    r"tous les|toutes les|cada|todos los|todas las|ogni|todos os|todas as|elke|varje|każdy|"
    r"codziennie|каждый|каждую|ежедневно|щодня|her gün)\b|毎",
    re.IGNORECASE,
)
_NAMED_ZONE = re.compile(
    r"\b(?:E[SD]T|C[SD]T|M[SD]T|P[SD]T|CES?T|EES?T|WES?T|BST|IST|JST|KST|AE[SD]T|MSK|HKT|SGT)\b"
    r"|(?:UTC|GMT)[+-]\d|:\d\d ?[+-]\d\d:?\d\d$",
    re.IGNORECASE,
)
_UNIVERSAL = re.compile(r"\s*\b(?:UTC|GMT)$", re.IGNORECASE)
_TWO_WAYS = re.compile(r"\b(\d{1,2})[/.-](\d{1,2})[/.-]\d{2,4}\b")
_WEEKDAY = re.compile(
    r"\b(monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b", re.IGNORECASE
)
_ASIDE = timedelta(days=400, hours=7, minutes=13)
"""To another moment, which shares nothing with this one: what words mean there as well, they mean
by themselves and not because it happens to be that day or hour."""

_NUMBER = re.compile(r"\d+(?:[:.]\d+)*")
_EVENING = re.compile(r"\b(?:tonight|this evening)\b(?:\s+at)?\s+(\d{1,2})(:\d\d)?$", re.IGNORECASE)

_REWRITTEN: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), written)
    for pattern, written in (
        (r"\b(?:an|1|one) hour and a half\b", "90 minutes"),
        (r"\bhalf an hour\b|\ba half hour\b", "30 minutes"),
        (r"\b(?:a )?quarter of an hour\b", "15 minutes"),
        (r"\b(?:at )?noon\b", "12:00"),
        (r"\b(?:at )?midnight\b", "0:00"),
        (r"\bo[’']?clock\b", ""),
        # An hour alone, which dateparser would pass over in silence: "at 9", "um 9 Uhr", "à 9h".
        (
            r"\b(at|um|à|a las|a la|alle|às|as|om|kl\.?|o|в|о|saat)\s+([01]?\d|2[0-3])"
            r"(?:\s*(?:uhr|uur|heures?|h))?$",
            r"\1 \2:00",
        ),
        (
            r"\b(at|um|à|a las|a la|alle|às|as|om|kl\.?|o|в|о|saat)\s+([01]?\d|2[0-3])"
            r"(?:\s*(?:uhr|uur|heures?|h))?\s+(?=\D)(?!\s*[ap]\.?m)",
            r"\1 \2:00 ",
        ),
    )
)


class NoMoment(ValueError):
    """The words name no moment that a reminder could be set for; the message says what would."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """A moment in UTC. `moved` tells that clocks leave out the time that was named, so that it is
    a later one; `assumed` that a day was named without a time."""

    at: datetime
    moved: bool = False
    assumed: bool = False


def moment_in(words: str, *, now: datetime, zone: ZoneInfo) -> Moment:
    """The moment after `now` that `words` mean to somebody in `zone`. Raises NoMoment.

    Takes some milliseconds, and a tenth of a second at first: not for the event loop.
    """
    text = " ".join(words.split())
    if not 1 <= len(text) <= LONGEST:
        raise NoMoment(f"The time must have 1 to {LONGEST} characters, such as {EXAMPLES}.")
    if _REPEATING.search(text):
        raise NoMoment("Repeating reminders are not possible. Set one for the next time.")
    found = _written_out(text, zone) or _in_words(text, now, zone)
    if found.at < now + NEAREST:
        here = now.astimezone(zone)
        raise NoMoment(
            f"That is {found.at.astimezone(zone):%Y-%m-%d %H:%M}, which is in the past: it is "
            f"{here:%Y-%m-%d %H:%M} in {zone.key}. Name a later time."
        )
    if found.at > now + FARTHEST:
        raise NoMoment("That is more than two years away. Name an earlier time.")
    return found


def _written_out(text: str, zone: ZoneInfo) -> Moment | None:
    """A date and time in ISO 8601, with or without an offset."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return None
    has_time = len(text) > len("2027-05-04")
    if at.tzinfo is None:
        return _on_the_wall(at if has_time else _morning(at), zone, assumed=not has_time)
    try:
        return Moment(at=at.astimezone(UTC))
    except OverflowError as error:
        raise NoMoment(f"That is no time. Write it like {EXAMPLES}.") from error


def _in_words(text: str, now: datetime, zone: ZoneInfo) -> Moment:
    if _UNIVERSAL.search(text):
        zone, text = ZoneInfo("UTC"), _UNIVERSAL.sub("", text)
    if _NAMED_ZONE.search(text):
        raise NoMoment(f"Leave the time zone out: times are read in {zone.key}, or end in UTC.")
    for found in _TWO_WAYS.finditer(text):
        first, second = int(found[1]), int(found[2])
        if first != second and first <= 12 and second <= 12:
            raise NoMoment(f"{found[0]} can be read in two ways. Write the date as 2027-05-04.")
    text = _EVENING.sub(_at_night, text)
    for pattern, written in _REWRITTEN:
        text = " ".join(pattern.sub(written, text).split())
    base = now.astimezone(zone).replace(tzinfo=None, microsecond=0)
    parsed, elsewhen = _parsed(text, base), _parsed(text, base + _ASIDE)
    if parsed is None or elsewhen is None or text.isdecimal():
        raise NoMoment(f"The time {text!r} was not understood. Write it like {EXAMPLES}.")
    at = parsed[0]
    for number in _NUMBER.finditer(text):
        rest = text[: number.start()] + " " + text[number.end() :]
        if (_parsed(rest, base), _parsed(rest, base + _ASIDE)) == (parsed, elsewhen):
            raise NoMoment(f"{number[0]!r} in {text!r} was not understood. Write {EXAMPLES}.")
    named = {day.lower() for day in _WEEKDAY.findall(text)}
    if named and f"{at:%A}".lower() not in named:
        raise NoMoment(f"{text!r} was not understood: {at:%Y-%m-%d} is a {at:%A}. Name one day.")
    is_span = elsewhen[0] - _ASIDE == at
    if is_span and (at - base) % timedelta(days=1):
        return Moment(at=(now + (at - base)).astimezone(UTC))  # whatever clocks do meanwhile
    is_exact = bool({"time", "part_of_day"} & {parsed[1], elsewhen[1]})
    assumed = not is_exact and not (is_span and _NUMBER.search(text))
    return _on_the_wall(_morning(at) if assumed else at, zone, assumed=assumed)


def _parsed(text: str, base: datetime) -> tuple[datetime, str] | None:
    """What dateparser makes of it, as clocks show it, and how exact that is."""
    from dateparser.date import DateDataParser  # takes a while, and few processes need it

    settings = {
        "RELATIVE_BASE": base,
        "PREFER_DATES_FROM": "future",
        "RETURN_AS_TIMEZONE_AWARE": False,
        "RETURN_TIME_AS_PERIOD": True,
        "USE_GIVEN_LANGUAGE_ORDER": True,
    }
    try:
        data = DateDataParser(languages=list(LANGUAGES), settings=settings).get_date_data(text)
    except (OverflowError, ValueError):
        return None
    return None if data.date_obj is None else (data.date_obj, data.period or "")


def _at_night(found: re.Match[str]) -> str:
    """ "tonight at 8" is 20:00."""
    hour = int(found[1])
    return f"today {hour + 12 if 5 <= hour < 12 else hour}{found[2] or ':00'}"


def _morning(day: datetime) -> datetime:
    return datetime.combine(day.date(), MORNING)


def _on_the_wall(naive: datetime, zone: ZoneInfo, *, assumed: bool) -> Moment:
    """What clocks of `zone` show as `naive`: the first time where they show it twice, and as much
    later as they leave out where they never do."""
    try:
        at = naive.replace(tzinfo=zone).astimezone(UTC)
        shown = at.astimezone(zone).replace(tzinfo=None)
    except OverflowError as error:
        raise NoMoment(f"That is no time. Write it like {EXAMPLES}.") from error
    return Moment(at=at, moved=shown != naive, assumed=assumed)
