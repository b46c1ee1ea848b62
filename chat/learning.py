"""Learns from turns how an endpoint takes tools.

Invariant: a verdict changes between turns only, but for the one replan after a refusal, and each
change is logged with its reason.
"""

import logging
from dataclasses import dataclass, replace

from chat.endpoints import Route
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

    async def _put(self, verdict: Verdict) -> None:
        model = self.route.provider.model
        log.info("verdict on %s: %s", model, verdict.reason)
        await self.store.verdicts.put(self.route.key, model, verdict)
