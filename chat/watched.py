"""Counts turns for those who watch over the process.

Invariant: a turn is counted once, when it is over, whatever ended it. What was said in it is not
looked at.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, TypeAlias

from chat.at_work import turn_at_work
from chat.ports import History, Presenter, TurnRequest
from chat.reply import Reply
from chat.service import ChatService

Outcome: TypeAlias = Literal["answered", "failed", "stopped", "broken"]
"""How a turn ended: with an answer, with words on what went wrong, by somebody who stopped it, or
by an error of the surface, so that perhaps nothing was shown."""


@dataclass(slots=True)
class TurnFigures:
    """Of all turns since the start. `seconds` is what those that are over took together."""

    running: int = 0
    ended: Counter[Outcome] = field(default_factory=Counter[Outcome])
    seconds: float = 0.0


@dataclass(slots=True)
class SessionFigures:
    """Of the sessions with Discord. `look` tells by number how many seconds an answer to a
    heartbeat takes: None for one that is lost, infinite where none was answered yet."""

    look: Callable[[], Mapping[int, float | None]] = dict


class WatchedService(ChatService):
    """A ChatService that counts its turns and marks what they log."""

    @cached_property
    def figures(self) -> TurnFigures:
        """What was counted."""
        return TurnFigures()

    @cached_property
    def sessions(self) -> SessionFigures:
        """Of whoever brings the questions."""
        return SessionFigures()

    async def respond(self, request: TurnRequest, history: History, presenter: Presenter) -> None:
        """See ChatService."""
        listening, begun = _Listening(presenter), time.monotonic()
        ended: Outcome = "broken"
        marked = turn_at_work.set(request.message.id)
        self.figures.running += 1
        try:
            await super().respond(request, history, listening)
            ended = "failed" if listening.has_failed else "answered"
        except asyncio.CancelledError:
            ended = "stopped"
            raise
        finally:
            self.figures.running -= 1
            self.figures.ended[ended] += 1
            self.figures.seconds += time.monotonic() - begun
            turn_at_work.reset(marked)


class _Listening:
    """A presenter that remembers whether the turn failed."""

    def __init__(self, presenter: Presenter) -> None:
        self._presenter = presenter
        self.has_failed = False

    def changed(self, reply: Reply) -> None:
        self._presenter.changed(reply)

    async def finish(self, reply: Reply) -> Sequence[int]:
        self.has_failed = reply.state == "failed"
        return await self._presenter.finish(reply)
