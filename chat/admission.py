"""Decides who is answered: which guilds on the operator's endpoint, whose direct messages, and in
which channels.

Invariant: what the operator wrote into the settings holds before anything that was pressed or
stored, and a guild that no rule admits waits for the operator.
"""

import logging
from collections.abc import Collection, Sequence
from typing import Literal, TypeAlias

from chat.answering import answering_of, stored_ids
from data.approvals import Approval, ApprovalState
from data.store import Store

log = logging.getLogger(__name__)

CHANNELS = "channels"
"""The guild-wide setting with the ids of the channels that the bot answers in."""

_DMS = "dms"

Decision: TypeAlias = Literal["approved", "denied"]

DMS_CLOSED = (
    "Thanks for writing! I do not chat in direct messages here; mention me on a server that we "
    "share instead."
)


class Admission:
    """Who is answered. `approved_guilds` and `dms` are the operator's settings.

    Nobody is the operator until `introduce` has told who is.
    """

    def __init__(
        self,
        store: Store,
        *,
        approved_guilds: Literal["ask", "all"] | Collection[int],
        dms: Literal["on", "off"] | None,
    ) -> None:
        self._store = store
        self._approved_guilds = approved_guilds
        self._dms = dms
        self._operators: frozenset[int] = frozenset()
        self._is_public = True

    @property
    def operators(self) -> frozenset[int]:
        """Ids of the application's owner or team."""
        return self._operators

    def introduce(self, operators: Collection[int], *, is_public: bool) -> None:
        """Tell who the operators are, and whether others can invite the bot too."""
        self._operators = frozenset(operators)
        self._is_public = is_public

    async def is_approved(self, guild_id: int) -> bool:
        """Whether the operator's endpoint serves a guild."""
        if self._approved_guilds == "all" or guild_id in self._listed:
            return True
        approval = await self._store.approvals.get(guild_id)
        return approval is not None and approval.state == "approved"

    async def judge(self, guild_id: int, *, owner_id: int | None, alone: bool) -> Approval | None:
        """Apply the rules to a guild that the bot is on; `alone` says that it is on no other.

        None where the settings approve it. A guild that stays pending is the operator's to decide.
        """
        if self._approved_guilds == "all" or guild_id in self._listed:
            return None
        approvals = self._store.approvals
        if (known := await approvals.get(guild_id)) is not None:
            return known
        # The first guild is the one that the operator set the bot up for.
        first = alone and self._approved_guilds == "ask" and await approvals.is_empty()
        by_rule = first or not self._is_public or owner_id in self._operators
        await approvals.add(guild_id, "approved" if by_rule else "pending")
        return await approvals.get(guild_id)

    async def approval(self, guild_id: int) -> Approval | None:
        """What was decided about a guild."""
        return await self._store.approvals.get(guild_id)

    async def mark_told(self, guild_id: int) -> None:
        """Note that the operator was asked."""
        await self._store.approvals.mark_told(guild_id)

    async def decide(
        self, guild_id: int, decision: Decision, *, by: int, seen: ApprovalState
    ) -> bool:
        """An operator's decision on a guild that they saw at `seen`; False if that was outdated.

        Raises PermissionError for anyone else.
        """
        if by not in self._operators:
            raise PermissionError("Only the bot's operator decides this.")
        done = await self._store.approvals.decide(guild_id, decision, by=by, seen=seen)
        if done:
            log.info("Server %s is %s by %s.", guild_id, decision, by)
        return done

    async def takes_dms_of(self, user_id: int) -> bool:
        """Whether a person's direct messages are answered. The operator's always are."""
        if user_id in self._operators:
            return True
        if self._dms is not None:
            return self._dms == "on"
        return (await self._store.settings.values(0, "")).get(_DMS) == "on"

    async def switch_dms(self, *, on: bool, by: int) -> None:
        """Open or close direct messages. Raises PermissionError unless an operator asks, and
        ValueError where the settings decide."""
        if by not in self._operators:
            raise PermissionError("Only the bot's operator switches direct messages on and off.")
        if self._dms is not None:
            raise ValueError(
                f"VERBATIM_DMS={self._dms} decides this. Take it out of the bot's settings first."
            )
        await self._store.settings.put(0, "", _DMS, "on" if on else None)

    async def takes_channel(self, guild_id: int, channel_ids: Collection[int]) -> bool:
        """Whether the bot answers in a channel; `channel_ids` are its own and its parents'. Where
        both lists name it, it stays silent."""
        wide = await self._store.settings.values(guild_id, "")
        if not set(answering_of(wide).denied).isdisjoint(channel_ids):
            return False
        allowed = stored_ids(wide.get(CHANNELS))
        return not allowed or not set(allowed).isdisjoint(channel_ids)

    async def channels(self, guild_id: int) -> Sequence[int]:
        """The channels that the bot answers in; empty for all."""
        return stored_ids((await self._store.settings.values(guild_id, "")).get(CHANNELS))

    async def limit_channels(self, guild_id: int, channel_ids: Collection[int]) -> None:
        """Let the bot answer in these channels alone; in all of them if there are none."""
        ids = sorted(set(channel_ids))
        # As text: a JSON number of this size loses digits in many programs.
        value = [str(one) for one in ids] if ids else None
        await self._store.settings.put(guild_id, "", CHANNELS, value)

    @property
    def _listed(self) -> Collection[int]:
        return () if isinstance(self._approved_guilds, str) else self._approved_guilds
