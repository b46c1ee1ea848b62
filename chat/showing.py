"""Shows what the model is sent now, and what it was sent in recent turns.

Invariant: only what is asked for by its place is shown, and whoever asks has been found to be
allowed to read there.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from chat.account import PromptSnapshot, account, account_of
from chat.counting import Count
from chat.planning import Plan
from chat.ports import Member, Place
from chat.sent import Sent, SentRequests


class Showing:
    """Snapshots of prompts. `secrets` are keys and tokens of this process."""

    def __init__(self, secrets: Sequence[str]) -> None:
        self._secrets = tuple(secrets)
        self._kept = SentRequests()

    def now(
        self, plan: Plan, place: Place, member: Member, last: Count | None, *, masks: bool
    ) -> PromptSnapshot:
        """The prompt of a plan. `last` is what the endpoint counted the last time; `masks` leaves
        out members' names and words. Raises PromptTooLarge."""
        prompt = plan.prompt()
        options = replace(plan.generation.options(f"snapshot-{member.id}"), wire=plan.config.wire)
        route = plan.route
        ratio = plan.gathered.snapshot.verdict.token_ratio
        return account(
            prompt,
            route.provider.body(prompt, options),
            secrets=(*self._secrets, *route.secrets),
            counted=last.in_words(ratio) if last else "",
            remarks=plan.gathered.remarks,
            before=self._kept.latest(place),
            masks=masks,
        )

    async def of_message(
        self, place: Place, message_id: int, *, masks: bool
    ) -> PromptSnapshot | None:
        """What was sent in the turn that a message in `place` shows; None if that is not known, or
        no longer."""
        turn = self._kept.of_message(place, message_id)
        if turn is None:
            return None
        return await asyncio.to_thread(account_of, turn, secrets=self._secrets, masks=masks)

    def keep(
        self,
        place: Place,
        message_ids: Sequence[int],
        requests: Sequence[Sent],
        *,
        secrets: Sequence[str],
    ) -> None:
        """Keep what was sent in a turn."""
        self._kept.keep(place, message_ids, requests, secrets=secrets)

    def forget(self, guild_id: int) -> None:
        """Drop what is kept of a guild. A member's words stand in requests for others too, so none
        of them stays when one member is forgotten."""
        self._kept.forget(guild_id)
