"""Limits, budgets and prices in words, and as they are typed.

Invariant: pure. What is no number is refused with what would be one.
"""

import re
from collections.abc import Mapping

from chat.quotas import HIGHEST, NUMBERS, SCOPES, Budget, Limit, Limits
from chat.usage import HIGHEST_PRICE, Price
from cogs.forms import clipped
from cogs.translations.figures import number, plain_number
from cogs.translations.saying import Speaks, choice, retold, tr

TITLES = {
    "minute": "Questions a minute",
    "hour": "Questions an hour",
    "day": "Questions a day",
    "tokens": "Tokens a day",
}
"""The fields of a limit."""

_NO_LIMIT = "no limit"
_GROUPED = re.compile(r"\d{1,3}(?:[.,_]\d{3})+|\d+", re.ASCII)


def limits_text(limits: Limits, locale: Speaks) -> str:
    """Limits in words."""
    lines = [
        f"**{choice(locale, scope).capitalize()}** {_limit_text(getattr(limits, scope), locale)}"
        for scope in SCOPES
    ]
    lines += [
        f"**<@&{role}>** {_limit_text(limit, locale)}" for role, limit in limits.roles.items()
    ]
    lines.append(
        tr(locale, "**Managers** ask without limits")
        if limits.exempt
        else tr(locale, "**Managers** have them too")
    )
    return clipped("\n".join(lines), 2000)


def budget_text(budget: Budget, locale: Speaks) -> str:
    """A budget in words."""
    money = budget.money and tr(locale, "{money} in money", money=number(locale, budget.money, 2))
    tokens = budget.tokens and tr(locale, "{number} tokens", number=number(locale, budget.tokens))
    both = (
        tr(locale, "{money} and {tokens}", money=money, tokens=tokens) if money and tokens else ""
    )
    amount = both or money or tokens or tr(locale, "any amount")
    return tr(locale, "A day may take {amount}. Days begin at midnight UTC.", amount=amount)


def _limit_text(limit: Limit, locale: Speaks) -> str:
    given = limit.stored()
    return ", ".join(
        f"{retold(locale, TITLES[name])}: {number(locale, given[name])}"
        for name in NUMBERS
        if name in given
    ) or retold(locale, _NO_LIMIT)


def price_text(model: str, price: Price, locale: Speaks) -> str:
    """A price in words."""
    return tr(
        locale,
        "**{model}** {prompt} for a million tokens of the prompt, {cached} of a cached one, "
        "{completion} of what it writes",
        model=model,
        prompt=plain_number(locale, price.prompt),
        cached=plain_number(locale, price.cached),
        completion=plain_number(locale, price.completion),
    )


def price_of(written: Mapping[str, str]) -> Price | None:
    """Three prices as they were entered; what is cached costs the same unless that says less."""
    prompt, cached, completion = (
        amount_of(written[name], highest=HIGHEST_PRICE)
        for name in ("prompt", "cached", "completion")
    )
    if prompt is None and cached is None and completion is None:
        return None
    if prompt is None or completion is None:
        raise ValueError("Enter at least the prices of prompt and completion.")
    return Price(prompt=prompt, cached=prompt if cached is None else cached, completion=completion)


def whole_number(written: str) -> int | None:
    """A number as it was entered, None for nothing. Raises ValueError."""
    text = written.strip()
    if not text:
        return None
    digits = re.sub(r"\D", "", text)
    if not _GROUPED.fullmatch(text) or not 0 < int(digits[:15]) <= HIGHEST:
        raise ValueError(f"“{written[:30]}” is no whole number from 1 to {HIGHEST:,}.")
    return int(digits)


def amount_of(written: str, *, highest: float) -> float | None:
    """Money as it was entered, None for nothing. Raises ValueError."""
    text = written.strip().replace(",", ".")
    if not text:
        return None
    plain = text.replace(".", "", 1)
    if not (plain.isdecimal() and plain.isascii()) or float(text) > highest:
        raise ValueError(f"“{written[:30]}” is no amount such as 0.50.")
    return float(text)
