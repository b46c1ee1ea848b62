"""What the Discord surface needs from the turn and from storage.

Invariant: cogs reach everything below them through these; bot.py hands in what fulfils them.
"""

from collections.abc import Sequence
from typing import Protocol

from chat.ports import History, Member, Place, Presenter, TurnRequest
from prompt.verbatim import Verdict, WireMode


class Switch(Protocol):
    """A setting that an admin can change. `choices` is empty where any text may stand."""

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def value(self) -> str: ...  # noqa: D102
    @property
    def default(self) -> str: ...  # noqa: D102
    @property
    def help(self) -> str: ...  # noqa: D102
    @property
    def choices(self) -> tuple[str, ...]: ...  # noqa: D102


class Overview(Protocol):
    """What is known of the endpoint, and how the guild is set up for it."""

    @property
    def endpoint(self) -> str: ...  # noqa: D102
    @property
    def model(self) -> str: ...  # noqa: D102
    @property
    def mode(self) -> WireMode: ...  # noqa: D102
    @property
    def verdict(self) -> Verdict: ...  # noqa: D102
    @property
    def tool_mode(self) -> str: ...  # noqa: D102
    @property
    def context_window(self) -> int | None: ...  # noqa: D102
    @property
    def switches(self) -> Sequence[Switch]: ...  # noqa: D102


class ToolListing(Protocol):
    """A tool, whether this guild's turns are offered it, and why or why not."""

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def description(self) -> str: ...  # noqa: D102
    @property
    def enabled(self) -> bool: ...  # noqa: D102
    @property
    def why(self) -> str: ...  # noqa: D102
    @property
    def read_only(self) -> bool: ...  # noqa: D102
    @property
    def source(self) -> str: ...  # noqa: D102


class PromptSnapshot(Protocol):
    """The prompt that the next turn would send: for reading, and as JSON."""

    @property
    def text(self) -> str: ...  # noqa: D102
    @property
    def json(self) -> str: ...  # noqa: D102
    @property
    def prefix_hash(self) -> str: ...  # noqa: D102


class Service(Protocol):
    """One conversation partner, behind whichever endpoint."""

    async def claim(self, message_id: int) -> bool:
        """True exactly once for a message, over restarts."""
        ...

    async def respond(self, request: TurnRequest, history: History, presenter: Presenter) -> None:
        """Run one turn. `presenter.finish` has been awaited when this returns or is cancelled."""
        ...

    async def snapshot(
        self, place: Place, member: Member, history: History, newest: int
    ) -> PromptSnapshot:
        """The prompt as the live builder makes it, of messages up to the id `newest`."""
        ...

    async def overview(self, guild_id: int | None) -> Overview:
        """The endpoint and the guild's switches."""
        ...

    async def configure(self, guild_id: int | None, name: str, value: str) -> None:
        """Set a switch. ValueError says what is wrong with the name or value."""
        ...

    async def tools(self, guild_id: int | None) -> Sequence[ToolListing]:
        """Every tool there is."""
        ...


class Meta(Protocol):
    """Small facts that outlive a restart."""

    async def get(self, key: str) -> str | None:
        """The value, None if there is none."""
        ...

    async def put(self, key: str, value: str) -> None:
        """Store a value."""
        ...
