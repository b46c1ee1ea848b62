"""How much may be asked: by a member, a role, a channel and a guild, and for how much money.

Invariant: a question is checked and counted in one step, so that two at once never pass where one
may. Questions a minute and an hour are remembered by this process alone; what counts by day is kept
in the database, and where that cannot be read nothing is answered.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Literal, TypeAlias, cast

from data.store import Store
from data.usage import Amount, Spender, Whose
from prompt.values import Json

LIMITS = "limits"
"""The guild-wide setting with the limits on questions and tokens."""
BUDGET = "budget"
"""The guild-wide setting with what a day may cost."""

WARN_AT = 0.8
"""The part of a budget at which admins are warned."""
HIGHEST = 1_000_000_000
MOST_ROLES = 25

Scope: TypeAlias = Literal["member", "channel", "server"]
SCOPES: tuple[Scope, ...] = ("member", "channel", "server")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """Questions a minute, an hour and a day, and tokens a day; None: any number."""

    minute: int | None = None
    hour: int | None = None
    day: int | None = None
    tokens: int | None = None

    def stored(self) -> dict[str, Json]:
        """As it is kept: what is set."""
        return {name: number for name in NUMBERS if (number := getattr(self, name)) is not None}


NUMBERS = ("minute", "hour", "day", "tokens")
_FREE = Limit()


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits of one guild. Whoever has one of `roles` has the most generous limits of theirs
    in place of a `member`'s. `exempt` lets managers ask without limits."""

    member: Limit = _FREE
    channel: Limit = _FREE
    server: Limit = _FREE
    roles: Mapping[int, Limit] = field(default_factory=dict[int, Limit])
    exempt: bool = False

    def stored(self) -> dict[str, Json]:
        """As it is kept."""
        scopes = {name: getattr(self, name).stored() for name in SCOPES}
        roles = {str(role): limit.stored() for role, limit in self.roles.items()}
        return {**scopes, "roles": cast("Json", roles), "exempt": self.exempt}


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What a day may take, in money and in tokens; None: any amount."""

    money: float | None = None
    tokens: int | None = None

    def spent(self, amount: Amount) -> float:
        """The part of it that is used up."""
        parts = [0.0]
        if self.money is not None:
            parts.append(amount.cost_micros / 1_000_000 / self.money)
        if self.tokens is not None:
            parts.append(amount.tokens / self.tokens)
        return max(parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    """Who asks where. `guild_id` is 0 in direct messages."""

    guild_id: int
    channel_id: int
    member_id: int
    role_ids: Collection[int] = ()
    manages: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Nearing:
    """A budget nears its end: a guild's, or for 0 the operator's. `part` of it is used up."""

    guild_id: int
    part: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What became of a question. `refusal` is why it is not answered, and empty where it is;
    `tell` says whether the member has not read that yet."""

    refusal: str = ""
    tell: bool = False
    warnings: Sequence[Nearing] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rule:
    scope: Scope
    id: int
    limit: Limit
    whose: Whose


def _now() -> datetime:
    return datetime.now(UTC)


class Quotas:
    """Lets questions in, one after the other. `clock` tells the time in UTC."""

    def __init__(self, store: Store, *, clock: Callable[[], datetime] = _now) -> None:
        self._store = store
        self._clock = clock
        self._asked: dict[tuple[Scope, int, int], deque[datetime]] = {}
        self._told: dict[tuple[int, int, int], datetime] = {}
        self._one_at_a_time = asyncio.Lock()

    async def limits(self, guild_id: int) -> Limits:
        """The limits of a guild; those of 0 hold in direct messages."""
        return limits_of(await self._store.settings.values(guild_id, ""))

    async def budget(self, guild_id: int) -> Budget:
        """The budget of a guild, or for 0 the operator's."""
        return budget_of(await self._store.settings.values(guild_id, ""))

    async def set_limits(self, guild_id: int, limits: Limits) -> None:
        """Keep the limits of a guild."""
        await self.change_limits(guild_id, lambda _: limits)

    async def change_limits(self, guild_id: int, change: Callable[[Limits], Limits]) -> Limits:
        """Keep what `change` makes of the limits of a guild; what it raises passes through."""
        wanted = Limits()

        def changed(present: Json) -> Json:
            nonlocal wanted
            wanted = change(limits_of({LIMITS: present}))
            return wanted.stored() if wanted != Limits() else None

        await self._store.settings.change(guild_id, "", LIMITS, changed)
        return wanted

    async def set_budget(self, guild_id: int, budget: Budget) -> None:
        """Keep a budget."""
        value: Json = {"money": budget.money, "tokens": budget.tokens}
        await self._store.settings.put(guild_id, "", BUDGET, value if budget != Budget() else None)

    async def judge(self, asker: Asker) -> Judged:
        """Let a question in and count it, or say why not. Raises StoreError."""
        async with self._one_at_a_time:
            now = self._clock()
            wide = await self._store.settings.values(asker.guild_id, "")
            stops, warnings = await self._over_budget(asker, wide, now)
            rules = list(_rules(limits_of(wide), asker))
            for rule in rules:
                stops += await self._over(rule, asker.guild_id, now)
            if stops:
                until, why = max(stops)
                moment = f"<t:{int(until.timestamp()) + 1}:R>"
                return Judged(
                    refusal=f"{why} I answer again {moment}.",
                    tell=self._tells(asker, until, now),
                    warnings=warnings,
                )
            for rule in rules:
                self._note(rule, asker.guild_id, now)
            await self._store.usage.add(
                now.date(),
                Spender(
                    guild_id=asker.guild_id,
                    channel_id=asker.channel_id,
                    member_id=asker.member_id,
                    model="",
                ),
                Amount(questions=1),
            )
            return Judged(warnings=warnings)

    async def _over_budget(
        self, asker: Asker, wide: Mapping[str, Json], now: datetime
    ) -> tuple[list[tuple[datetime, str]], Sequence[Nearing]]:
        """Budgets that are used up, and those of which admins are to be warned."""
        stops: list[tuple[datetime, str]] = []
        warnings: list[Nearing] = []
        budgets = [(asker.guild_id, budget_of(wide), Whose(guild_id=asker.guild_id))]
        if asker.guild_id:
            brought = await self._store.endpoints.all(asker.guild_id)
            operators = budget_of(await self._store.settings.values(0, ""))
            if not brought:
                budgets.append((0, operators, Whose(owner=0)))
        else:
            budgets = [(0, budgets[0][1], Whose(owner=0))]
        for guild_id, budget, whose in budgets:
            if budget == Budget():
                continue
            part = budget.spent(await self._today(whose, now))
            if part >= WARN_AT and await self._store.usage.warn_once(guild_id, now.date()):
                warnings.append(Nearing(guild_id=guild_id, part=part))
            if part >= 1:
                named = "This server's budget" if guild_id else "My budget"
                stops.append((_tomorrow(now), f"{named} for today is used up."))
        return stops, warnings

    async def _over(self, rule: _Rule, guild_id: int, now: datetime) -> list[tuple[datetime, str]]:
        """Until when a rule forbids another question, and why."""
        limit, stops = rule.limit, list[tuple[datetime, str]]()
        asked = self._asked.get((rule.scope, guild_id, rule.id), deque[datetime]())
        for number, span, word in (
            (limit.minute, timedelta(minutes=1), "a minute"),
            (limit.hour, timedelta(hours=1), "an hour"),
        ):
            # Those ahead of the clock were asked before it was set back.
            recent = [at for at in asked if now - span < at <= now]
            if number is not None and len(recent) >= number:
                stops.append((recent[-number] + span, _why(rule.scope, number, word)))
        if limit.day is not None or limit.tokens is not None:
            today = await self._today(rule.whose, now)
            if limit.day is not None and today.questions >= limit.day:
                stops.append((_tomorrow(now), _why(rule.scope, limit.day, "a day")))
            if limit.tokens is not None and today.tokens >= limit.tokens:
                stops.append((_tomorrow(now), _WHY_TOKENS[rule.scope]))
        return stops

    async def _today(self, whose: Whose, now: datetime) -> Amount:
        return await self._store.usage.total(whose, since=now.date(), until=now.date())

    def _note(self, rule: _Rule, guild_id: int, now: datetime) -> None:
        """Remember a question for as long as it counts."""
        if rule.limit.minute is None and rule.limit.hour is None:
            return
        asked = self._asked.setdefault((rule.scope, guild_id, rule.id), deque())
        asked.append(now)
        for key, times in list(self._asked.items()):
            while times and times[0] <= now - timedelta(hours=1):
                times.popleft()
            if not times:
                del self._asked[key]

    def _tells(self, asker: Asker, until: datetime, now: datetime) -> bool:
        """Whether a member is to read that they have to wait: once until then."""
        latest = now + timedelta(days=1)  # if it is later, the clock was set back
        self._told = {key: end for key, end in self._told.items() if now < end <= latest}
        key = asker.guild_id, asker.channel_id, asker.member_id
        if key in self._told:
            return False
        self._told[key] = until
        return True


_WHOM: Mapping[Scope, str] = {
    "member": "You have asked",
    "channel": "This channel has asked",
    "server": "This server has asked",
}
_WHY_TOKENS: Mapping[Scope, str] = {
    "member": "You have used the tokens that a member may use a day.",
    "channel": "This channel has used the tokens that it may use a day.",
    "server": "This server has used the tokens that it may use a day.",
}


def _why(scope: Scope, number: int, span: str) -> str:
    questions = "question" if number == 1 else "questions"
    return f"{_WHOM[scope]} {number} {questions} {span}, as many as are allowed."


def _rules(limits: Limits, asker: Asker) -> Iterator[_Rule]:
    """The limits that hold for somebody, those without any number left out."""
    if limits.exempt and asker.manages:
        return
    own = [limit for role, limit in limits.roles.items() if role in asker.role_ids]
    member = _most_generous(own) if own else limits.member
    guild_id = asker.guild_id
    for rule in (
        _Rule(
            scope="member",
            id=asker.member_id,
            limit=member,
            whose=Whose(guild_id=guild_id, member_id=asker.member_id),
        ),
        _Rule(
            scope="channel",
            id=asker.channel_id,
            limit=limits.channel,
            whose=Whose(guild_id=guild_id, channel_id=asker.channel_id),
        ),
        _Rule(scope="server", id=0, limit=limits.server, whose=Whose(guild_id=guild_id)),
    ):
        if rule.limit != _FREE:
            yield rule


def _most_generous(limits: Sequence[Limit]) -> Limit:
    found = _FREE
    for name in NUMBERS:
        numbers = [getattr(limit, name) for limit in limits]
        if None not in numbers:
            found = replace(found, **{name: max(numbers)})
    return found


def _tomorrow(now: datetime) -> datetime:
    return datetime(now.year, now.month, now.day, tzinfo=UTC) + timedelta(days=1)


def limits_of(wide: Mapping[str, Json]) -> Limits:
    """The limits in a guild's settings; a number that is none is left out."""
    named = _mapping(wide.get(LIMITS))
    roles = {
        int(role): _limit(limit)
        for role, limit in list(_mapping(named.get("roles")).items())[:MOST_ROLES]
        if role.isdecimal()
    }
    scopes = {name: _limit(named.get(name)) for name in SCOPES}
    return Limits(**scopes, roles=roles, exempt=named.get("exempt") is True)


def budget_of(wide: Mapping[str, Json]) -> Budget:
    """The budget in a guild's settings."""
    named = _mapping(wide.get(BUDGET))
    money = named.get("money")
    if isinstance(money, bool) or not isinstance(money, int | float) or not 0 < money <= HIGHEST:
        money = None
    return Budget(
        money=None if money is None else float(money),
        tokens=_number(named.get("tokens")),
    )


def are_limits(value: Json) -> bool:
    """Whether `value` can be stored as limits as it is."""
    return (
        isinstance(value, dict)
        and {
            **Limits().stored(),
            **cast("dict[str, Json]", value),
        }
        == limits_of({LIMITS: value}).stored()
    )


def is_budget(value: Json) -> bool:
    """Whether `value` can be stored as a budget as it is."""
    read = budget_of({BUDGET: value})
    return isinstance(value, dict) and {
        "money": None,
        "tokens": None,
        **cast("dict[str, Json]", value),
    } == {"money": read.money, "tokens": read.tokens}


def _limit(value: Json) -> Limit:
    named = _mapping(value)
    return Limit(**{name: _number(named.get(name)) for name in NUMBERS})


def _number(value: Json) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= HIGHEST:
        return value
    return None


def _mapping(value: Json) -> Mapping[str, Json]:
    return cast("Mapping[str, Json]", value) if isinstance(value, dict) else {}
