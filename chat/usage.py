"""Keeps the account of what is used, and tells it to those who may know.

Invariant: money is reckoned with the prices of whoever owns the endpoint, at the moment of use, so
that later prices change nothing of the past.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Literal, TypeAlias, cast

from chat.metering import TurnUsed, Used
from data.store import Store
from data.usage import Amount, Spender, Whose
from prompt.values import Json

PRICES = "prices"
"""The guild-wide setting with the prices of an owner's models."""

MOST_PRICES = 100
HIGHEST_PRICE = 100_000.0

Period: TypeAlias = Literal["day", "week", "month", "year"]
PERIODS: Mapping[Period, int] = {"day": 1, "week": 7, "month": 30, "year": 365}
"""Days of each, today included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """Money for a million tokens: of the prompt that were not cached, that were, and written."""

    prompt: float
    cached: float
    completion: float

    def micros(self, used: Used) -> int:
        """The cost of a request in millionths."""
        fresh = used.prompt_tokens - used.cached_tokens
        return round(
            fresh * self.prompt
            + used.cached_tokens * self.cached
            + used.completion_tokens * self.completion
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Use in a period: by day, all days of the period in order, and by model."""

    days: Sequence[tuple[date, Amount]]
    models: Sequence[tuple[str, Amount]]

    @property
    def total(self) -> Amount:
        """All of it."""
        return sum((amount for _, amount in self.days), Amount())


def today_in_utc() -> date:
    """The day that accounts are kept by."""
    return datetime.now(UTC).date()


class UsageLedger:
    """chat.metering.UsageRecorder over the store, and what is read from it."""

    def __init__(self, store: Store, *, today: Callable[[], date] = today_in_utc) -> None:
        self._store = store
        self._today = today

    async def record(self, used: TurnUsed) -> None:
        """See UsageRecorder."""
        day = self._today()
        totals: dict[Spender, Amount] = {}
        prices = {
            owner: prices_of(await self._store.settings.values(owner, ""))
            for owner in {request.owner for request in used.requests}
        }
        for request in used.requests:
            spender = Spender(
                guild_id=used.place.guild_id or 0,
                channel_id=used.place.channel_id,
                member_id=used.member_id,
                model=request.model,
                owner=request.owner,
            )
            amount = _amount(request, prices[request.owner].get(request.model))
            totals[spender] = totals.get(spender, Amount()) + amount
        if not totals:
            return
        *_, last = totals  # the model that answered in the end stands for the turn
        totals[last] += Amount(
            turns=1, tool_calls=used.tool_calls, total_ms=round(used.seconds * 1000)
        )
        for spender, amount in totals.items():
            await self._store.usage.add(day, spender, amount)

    async def report(self, whose: Whose, period: Period) -> Report:
        """What was used. Raises StoreError."""
        until = self._today()
        since = until - timedelta(days=PERIODS[period] - 1)
        found = await self._store.usage.days(whose, since=since, until=until)
        days = [since + timedelta(days=number) for number in range(PERIODS[period])]
        return Report(
            days=[(day, found.get(day, Amount())) for day in days],
            models=await self._store.usage.models(whose, since=since, until=until),
        )

    async def set_price(self, owner: int, model: str, price: Price | None) -> None:
        """Set, or with None forget, the price of an owner's model. ValueError says what is
        wrong."""

        def change(present: Json) -> Json:
            prices = dict(prices_of({PRICES: present}))
            prices.pop(model, None)
            if price is not None:
                prices[model] = price
            if len(prices) > MOST_PRICES:
                raise ValueError(f"At most {MOST_PRICES} models can have a price.")
            return {
                name: {"prompt": one.prompt, "cached": one.cached, "completion": one.completion}
                for name, one in prices.items()
            } or None

        await self._store.settings.change(owner, "", PRICES, change)

    async def prices(self, owner: int) -> Mapping[str, Price]:
        """The prices that an owner has set, by model."""
        return prices_of(await self._store.settings.values(owner, ""))


def prices_of(wide: Mapping[str, Json]) -> Mapping[str, Price]:
    """The prices in a guild's settings; what is none is left out."""
    stored = wide.get(PRICES)
    if not isinstance(stored, Mapping):
        return {}
    named = cast("Mapping[str, Json]", stored)
    found = {model: _price(value) for model, value in named.items()}
    return {model: price for model, price in found.items() if price is not None}


def are_prices(value: Json) -> bool:
    """Whether `value` can be stored as prices as it is."""
    if not isinstance(value, dict) or len(cast("dict[str, Json]", value)) > MOST_PRICES:
        return False
    return len(prices_of({PRICES: value})) == len(cast("dict[str, Json]", value))


def _price(value: Json) -> Price | None:
    if not isinstance(value, Mapping):
        return None
    named = cast("Mapping[str, Json]", value)
    numbers = [named.get(name) for name in ("prompt", "cached", "completion")]
    plain = [
        float(one)
        for one in numbers
        if isinstance(one, int | float) and not isinstance(one, bool) and 0 <= one <= HIGHEST_PRICE
    ]
    if len(plain) < 3:
        return None
    return Price(prompt=plain[0], cached=plain[1], completion=plain[2])


def _amount(used: Used, price: Price | None) -> Amount:
    first = used.first_token
    return Amount(
        requests=1,
        estimated=int(used.estimated),
        prompt_tokens=used.prompt_tokens,
        cached_tokens=used.cached_tokens,
        completion_tokens=used.completion_tokens,
        first_tokens=int(first is not None),
        first_token_ms=round((first or 0.0) * 1000),
        cost_micros=price.micros(used) if price else 0,
    )
