"""What the Discord surface needs from the turn and from storage.

Invariant: cogs reach everything below them through these; bot.py hands in what fulfils them.
"""

from collections.abc import Sequence
from typing import Protocol

from chat.account import PromptSnapshot
from chat.endpoints import FIRST_SPOT, Spot
from chat.explaining import Explanation
from chat.overview import Exposure, ExposureChange, Overview, ToolListing
from chat.ports import History, Member, Place, Presenter, TurnRequest
from chat.recording import RecordedRun


class Service(Protocol):
    """One conversation partner, behind whichever endpoint: chat.service.ChatService."""

    async def claim(self, message_id: int) -> bool:
        """True exactly once for a message, over restarts."""
        ...

    async def respond(self, request: TurnRequest, history: History, presenter: Presenter) -> None:
        """Run one turn. `presenter.finish` has been awaited when this returns or is cancelled."""
        ...

    async def snapshot(
        self, place: Place, member: Member, history: History, newest: int, *, masks: bool = False
    ) -> PromptSnapshot:
        """The prompt as the live builder makes it, of messages up to and including id `newest`;
        with `masks` without members' names and words."""
        ...

    async def sent(
        self, place: Place, message_id: int, *, masks: bool = False
    ) -> PromptSnapshot | None:
        """What was sent in the turn that a message in `place` shows; None if that is not known, or
        no longer."""
        ...

    async def explain(self, place: Place, message_id: int) -> Explanation | None:
        """What was made of the model's output in the turn that a message in `place` shows; None if
        that is not known, or no longer."""
        ...

    async def details(self, place: Place, message_id: int) -> Sequence[RecordedRun] | None:
        """What the tools did in the turn that a message in `place` shows; None if that is not
        known, or no longer."""
        ...

    async def thinking(self, place: Place, message_id: int) -> str | None:
        """What the model thought in the turn that a message in `place` shows; None if that is not
        known, or no longer, or not to be shown."""
        ...

    def forget(self, guild_id: int | None, member_id: int | None) -> None:
        """Drop what is kept in memory of turns for a member of a guild, or for all members."""
        ...

    async def overview(self, guild_id: int | None, spot: Spot = FIRST_SPOT) -> Overview:
        """The endpoint and the guild's switches. NoFurther: it has no such endpoint."""
        ...

    async def configure(
        self,
        guild_id: int | None,
        name: str,
        value: str,
        *,
        by: int | None = None,
        spot: Spot = FIRST_SPOT,
    ) -> None:
        """Set a switch, as user `by`. ValueError says what is wrong with the name or value."""
        ...

    async def tools(self, guild_id: int | None) -> Sequence[ToolListing]:
        """Every tool there is."""
        ...

    async def exposure(self, guild_id: int | None) -> Exposure:
        """How the guild's tools are exposed."""
        ...

    async def expose(self, guild_id: int | None, change: ExposureChange) -> Exposure:
        """Set what `change` names. ValueError says what is wrong with it."""
        ...

    async def allow(self, guild_id: int | None, names: Sequence[str] | None) -> Exposure:
        """Allow these tools alone, or all. ValueError names a tool that there is not."""
        ...

    async def toggle(self, guild_id: int | None, name: str, on: bool | None) -> ToolListing:
        """Switch one tool on or off, or back to its default. ValueError: there is no such tool."""
        ...


class Meta(Protocol):
    """Small facts that outlive a restart: data.meta.Meta."""

    async def get(self, key: str) -> str | None:
        """The value, None if there is none."""
        ...

    async def put(self, key: str, value: str) -> None:
        """Store a value."""
        ...
