"""Writes numbers and days as the readers of a language do.

Invariant: English is what `format` gives; a language says in its catalogue what differs.
"""

from datetime import date

from cogs.translations.saying import Speaks, known_to


def number(locale: Speaks, value: float, decimals: int = 0) -> str:
    """A number in groups of three digits, with so many behind the point."""
    written = f"{value:,.{decimals}f}"
    known = known_to(locale)
    return known.figures.renumbered(written) if known else written


def plain_number(locale: Speaks, value: float) -> str:
    """A number as short as it can be written, such as a price."""
    known = known_to(locale)
    return known.figures.renumbered(f"{value:g}") if known else f"{value:g}"


def percent(locale: Speaks, part: float) -> str:
    """A part of 1 in whole percent."""
    known = known_to(locale)
    form = known.figures.percent if known else "{number}%"
    return form.format(number=number(locale, part * 100))


def short_day(locale: Speaks, day: date) -> str:
    """A day of the month, without its year."""
    known = known_to(locale)
    if not known:
        return f"{day.day} {day:%b}"
    return known.figures.day.format(day=day.day, month=known.figures.months[day.month - 1])
