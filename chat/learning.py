"""Learns from turns how an endpoint takes tools, and which switches it needs.

Invariant: a verdict changes between turns only, but for the one replan after a refusal, and each
change is logged with its reason.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace

from chat.endpoints import Route
from chat.hunt import HUNT
from data.store import Store
from prompt.verbatim import Verdict
from providers.base import ToolsRefused

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Learning:
    """What is known of one endpoint and model."""

    store: Store
    route: Route

    async def verdict(self) -> Verdict:
        """What is known now."""
        return await self.store.verdicts.get(self.route.key, self.route.provider.model)

    async def structured_calls_seen(self, *, field_sent: bool) -> None:
        """Where the field was sent, a refusal of earlier days is over."""
        verdict = await self.verdict()
        refuses = verdict.refuses_tools_field and not field_sent
        if not verdict.structured_calls or refuses != verdict.refuses_tools_field:
            await self._put(
                replace(
                    verdict,
                    structured_calls=True,
                    refuses_tools_field=refuses,
                    reason="it has sent a structured tool call in a turn",
                )
            )

    async def refused(self, error: ToolsRefused) -> Verdict:
        """The verdict after the endpoint answered the `tools` field with an error."""
        verdict = replace(
            await self.verdict(),
            refuses_tools_field=True,
            reason=f"it answered the tools field with an error: {error.detail}"[:300],
        )
        await self._put(verdict)
        return verdict

    async def tested(self, found: Verdict) -> None:
        """Take over what a test has shown. A call that was seen before stays seen: that none came
        of a test proves nothing."""
        verdict = await self.verdict()
        shows_nothing = not (found.structured_calls or found.refuses_tools_field)
        reason = verdict.reason if verdict.structured_calls and shows_nothing else found.reason
        await self._put(
            replace(
                verdict,
                structured_calls=verdict.structured_calls or found.structured_calls,
                refuses_tools_field=found.refuses_tools_field,
                reason=reason,
            )
        )

    async def learn(self, values: Mapping[str, str]) -> None:
        """Remember that these switches, by name, need these values."""
        verdict = await self.verdict()
        learnt = {**verdict.learnt, **values}
        if learnt != verdict.learnt:
            model = self.route.provider.model
            await self.store.verdicts.put(self.route.key, model, replace(verdict, learnt=learnt))
            news = ", ".join(f"{name} {value}" for name, value in values.items())
            log.info("learnt about %s: %s", model, news)

    async def unlearn(self, name: str) -> None:
        """Forget what was learnt about a switch: it has turned out to be wrong."""
        verdict = await self.verdict()
        if name in verdict.learnt:
            left = {key: value for key, value in verdict.learnt.items() if key != name}
            await self._put(replace(verdict, learnt=left))

    async def try_tools_again(self) -> None:
        """Forget which tools it could not take: it may be another server by now."""
        await self.unlearn(HUNT)

    async def counted(self, ratio: float | None) -> None:
        """Remember how many tokens it counts for each that is estimated."""
        verdict = await self.verdict()
        if ratio != verdict.token_ratio:
            await self.store.verdicts.put(
                self.route.key, self.route.provider.model, replace(verdict, token_ratio=ratio)
            )

    async def cut(self, left: int | None) -> None:
        """Remember that it cut a prompt without saying so, and what was left of it in tokens;
        None once it has taken more."""
        verdict = replace(await self.verdict(), cut_at=left)
        await self.store.verdicts.put(self.route.key, self.route.provider.model, verdict)

    async def _put(self, verdict: Verdict) -> None:
        model = self.route.provider.model
        log.info("verdict on %s: %s", model, verdict.reason)
        await self.store.verdicts.put(self.route.key, model, verdict)
