"""Decides whether a call may run: a guild's policies, its members' consent, and the rates.

Invariant: nothing that asks runs without a member's yes, and a question that nobody answers is a
no. A yes for longer than one call ends as soon as text arrives that nobody here wrote.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from chat.moderation import moderation_of
from chat.ports import ApprovalRequest, TurnRequest
from data.store import Store
from prompt.values import Json, JsonObject, ToolSpec
from tools.policy import POLICIES, Policy, policy_of
from tools.rates import RateLimiter
from tools.registry import Rights

NOBODY = "Nobody can be asked here whether it may run."
DENIED = "A member was asked and said no. Do not try again; answer without it."
UNANSWERED = "A member was asked and did not answer in time. Do not try again."
UNASKED = "The question whether it may run could not be put to anybody. Do not try again."
UNASKED_NOTICE = "Discord did not take the question whether {tool} may run, so it did not run."
LISTED = "An argument holds a word that this server does not show. Use other words."
SWITCHED_OFF = "An admin has switched this tool off."


MOST_GRANTS = 10_000
"""That are remembered; who gave the oldest is asked again."""


@dataclass(slots=True)
class Grants:
    """The tools that members have allowed until foreign text arrives, by channel and member. In
    memory alone: a restart asks anew."""

    _given: dict[tuple[int, int, str], None] = field(
        default_factory=dict[tuple[int, int, str], None]
    )

    def give(self, channel_id: int, member_id: int, tool: str) -> None:
        """Remember a yes."""
        self._given[channel_id, member_id, tool] = None
        if len(self._given) > MOST_GRANTS:
            del self._given[next(iter(self._given))]

    def holds(self, channel_id: int, member_id: int, tool: str) -> bool:
        """Whether there is a yes."""
        return (channel_id, member_id, tool) in self._given

    def end(self, channel_id: int) -> None:
        """Forget those of a channel: foreign text has arrived in it."""
        self._given = {grant: None for grant in self._given if grant[0] != channel_id}


@dataclass(frozen=True, slots=True, kw_only=True)
class Policies:
    """What a guild's admins chose about its tools."""

    store: Store

    async def stored(self, guild_id: int) -> Mapping[str, Json]:
        """The guild-wide settings, as tools.policy.policy_of reads them."""
        return await self.store.settings.values(guild_id, "")

    async def choose(self, guild_id: int, tool: str, policy: Policy | None) -> None:
        """Set the policy of a tool, by its registered name, or go back to its default."""

        def change(present: Json) -> Json:
            policies: dict[str, Json] = {}
            if isinstance(present, dict):
                policies.update(cast("dict[str, Json]", present))
            policies.pop(tool, None)
            if policy is not None:
                policies[tool] = policy
            return policies or None

        await self.store.settings.change(guild_id, "", POLICIES, change)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why a call does not run: a code, and words for the model; `notice` are those for the member,
    where nothing else tells them."""

    code: str
    message: str
    notice: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class House:
    """What the turns of a process share about consent."""

    policies: Policies
    grants: Grants = field(default_factory=Grants)
    rates: RateLimiter = field(
        default_factory=lambda: RateLimiter(lambda: asyncio.get_running_loop().time())
    )

    def gate(self, request: TurnRequest, waiting: Callable[[str], None]) -> "Gate":
        """The gate of one turn. `waiting` is told which tool members are being asked about, and
        an empty text once they have answered."""
        return Gate(self, request, waiting)


class Gate:
    """Stands before every call of one turn."""

    def __init__(self, house: House, request: TurnRequest, waiting: Callable[[str], None]) -> None:
        self._house = house
        self._request = request
        self._waiting = waiting
        self._guild_id = request.place.guild_id or 0
        self._asking = asyncio.Lock()

    async def refusal(self, spec: ToolSpec, arguments: JsonObject) -> Refusal | None:
        """Why a call of this tool must not run; None if it may."""
        stored = await self._house.policies.stored(self._guild_id)
        policy = policy_of(spec, stored)
        if policy == "off":
            return Refusal(code="switched_off", message=SWITCHED_OFF)
        if not await self._has_permission(spec):
            return None  # dispatch says so, and nobody need be asked
        if not spec.read_only and moderation_of(stored).screen.is_met(_written(arguments)):
            return Refusal(code="listed_word", message=LISTED)
        name = spec.registered or spec.name
        wait = self._house.rates.take(
            name, spec.rate, guild_id=self._guild_id, member_id=self._request.member.id
        )
        if wait:
            return Refusal(code="rate_limited", message=_when(wait))
        place, member = self._request.place, self._request.member
        if policy == "free" or self._house.grants.holds(place.channel_id, member.id, name):
            return None
        return await self._ask(
            ApprovalRequest(
                place=place,
                asker=member,
                message_id=self._request.message.id,
                tool=name,
                arguments=arguments,
                permission=spec.permission or "manage_guild",
            )
        )

    async def is_open(self, channels: Sequence[int]) -> bool:
        """Whether the asking member and everyone who sees the reply may read all of `channels`."""
        rights = self._request.rights
        return (
            rights is not None
            and await _all(channels, rights.can_read)
            and await _all(channels, rights.can_all_read)
        )

    async def secrecy(
        self, spec: ToolSpec, arguments: JsonObject, channels: Sequence[int]
    ) -> Refusal | None:
        """Why a result that repeats messages of `channels`, which are not open, must not be told
        here; None where a member who may read them has agreed."""
        rights = self._request.rights
        if rights is None or not await _all(channels, rights.can_read):
            message = "The member who asks may not read that channel."
            return Refusal(code="missing_permission", message=message)
        names = ", ".join(f"<#{channel}>" for channel in channels)
        return await self._ask(
            ApprovalRequest(
                place=self._request.place,
                asker=self._request.member,
                message_id=self._request.message.id,
                tool=spec.registered or spec.name,
                arguments=arguments,
                why=f"This has read {names}, which not everyone here can see. Answer here all the "
                "same?",
                lasting=False,
            )
        )

    def foreign_text(self) -> None:
        """Text has arrived that nobody here wrote."""
        self._house.grants.end(self._request.place.channel_id)

    async def _has_permission(self, spec: ToolSpec) -> bool:
        rights: Rights | None = self._request.rights
        return not spec.permission or (rights is not None and await rights.may(spec.permission))

    async def _ask(self, request: ApprovalRequest) -> Refusal | None:
        approver = self._request.approver
        if approver is None:
            return Refusal(code="denied", message=NOBODY)
        async with self._asking:  # one question at a time, in the order of the calls
            if request.lasting and self._house.grants.holds(
                request.place.channel_id, request.asker.id, request.tool
            ):
                return None
            self._waiting(request.tool)
            try:
                decision = await approver.ask(request)
            finally:
                self._waiting("")
        if decision == "always" and request.lasting:
            self._house.grants.give(request.place.channel_id, request.asker.id, request.tool)
        if decision in {"once", "always"}:
            return None
        if decision == "unasked":
            notice = UNASKED_NOTICE.format(tool=request.tool)
            return Refusal(code="denied", message=UNASKED, notice=notice)
        return Refusal(code="denied", message=UNANSWERED if decision == "timeout" else DENIED)


async def _all(channels: Sequence[int], check: Callable[[int], Awaitable[bool]]) -> bool:
    for channel in channels:
        if not await check(channel):
            return False
    return True


def _written(value: Json) -> str:
    """The texts in a value, one a line."""
    match value:
        case str():
            return value
        case list():
            return "\n".join(map(_written, cast("list[Json]", value)))
        case dict():
            return "\n".join(map(_written, cast("dict[str, Json]", value).values()))
        case _:
            return ""


def _when(wait: float) -> str:
    seconds = max(1, round(wait + 0.5))
    when = f"{seconds} s" if seconds < 120 else f"{round(seconds / 60)} min"
    return (
        f"This tool was called as often as is allowed. It can be used again in {when}; tell the "
        "member so."
    )
