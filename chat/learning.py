"""Learns from turns how an endpoint takes tools, and which switches it needs.

Invariant: a verdict changes between turns only, but for the one replan after a refusal, and each
change is logged with its reason.
"""

import logging
from collections.abc import Callable, Mapping
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

        def seen(verdict: Verdict) -> Verdict:
            refuses = verdict.refuses_tools_field and not field_sent
            if verdict.structured_calls and refuses == verdict.refuses_tools_field:
                return verdict
            return replace(
                verdict,
                structured_calls=True,
                refuses_tools_field=refuses,
                reason="it has sent a structured tool call in a turn",
            )

        await self._judge(seen)

    async def refused(self, error: ToolsRefused) -> Verdict:
        """The verdict after the endpoint answered the `tools` field with an error."""
        reason = f"it answered the tools field with an error: {error.detail}"[:300]
        return await self._judge(
            lambda verdict: replace(verdict, refuses_tools_field=True, reason=reason)
        )

    async def tested(self, found: Verdict) -> None:
        """Take over what a test has shown. A call that was seen before stays seen: that none came
        of a test proves nothing."""
        shows_nothing = not (found.structured_calls or found.refuses_tools_field)
        await self._judge(
            lambda verdict: replace(
                verdict,
                structured_calls=verdict.structured_calls or found.structured_calls,
                refuses_tools_field=found.refuses_tools_field,
                reason=verdict.reason
                if verdict.structured_calls and shows_nothing
                else found.reason,
            )
        )

    async def learn(self, values: Mapping[str, str]) -> None:
        """Remember that these switches, by name, need these values."""
        former, verdict = await self._change(
            lambda verdict: replace(verdict, learnt={**verdict.learnt, **values})
        )
        if verdict.learnt != former.learnt:
            news = ", ".join(f"{name} {value}" for name, value in values.items())
            log.info("learnt about %s: %s", self.route.provider.model, news)

    async def unlearn(self, name: str) -> None:
        """Forget what was learnt about a switch: it has turned out to be wrong."""
        await self._judge(
            lambda verdict: replace(
                verdict, learnt={key: one for key, one in verdict.learnt.items() if key != name}
            )
        )

    async def try_tools_again(self) -> None:
        """Forget which tools it could not take: it may be another server by now."""
        await self.unlearn(HUNT)

    async def counted(self, ratio: float | None) -> None:
        """Remember how many tokens it counts for each that is estimated."""
        await self._change(lambda verdict: replace(verdict, token_ratio=ratio))

    async def cut(self, left: int | None) -> None:
        """Remember that it cut a prompt without saying so, and what was left of it in tokens;
        None once it has taken more."""
        await self._change(lambda verdict: replace(verdict, cut_at=left))

    async def _judge(self, change: Callable[[Verdict], Verdict]) -> Verdict:
        """Change the verdict, log it if it is another one then, and return it."""
        former, verdict = await self._change(change)
        if verdict != former:
            log.info("verdict on %s: %s", self.route.provider.model, verdict.reason)
        return verdict

    async def _change(self, change: Callable[[Verdict], Verdict]) -> tuple[Verdict, Verdict]:
        return await self.store.verdicts.change(self.route.key, self.route.provider.model, change)
