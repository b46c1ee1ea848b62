"""What tools may do on a Discord server, each time on behalf of the member who asks.

Invariant: values and a protocol alone. Whoever fulfils it asks Discord for the member's rights
at the call, and raises ToolFailure, in words, for what the member may not do or see.
"""

from dataclasses import dataclass
from typing import Protocol

from tools.registry import ToolContext


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelText:
    """Recent messages of a channel in words, oldest first."""

    channel_id: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPoll:
    """A poll to be posted; `hours` is how long it runs."""

    question: str
    answers: tuple[str, ...]
    hours: int
    multiple: bool


class Actions(Protocol):
    """A Discord server, seen and used by the member of a ToolContext. None of it is for direct
    messages."""

    async def read_channel(self, context: ToolContext, channel: str, *, most: int) -> ChannelText:
        """The last `most` messages of the channel of this name, mention or id."""
        ...

    async def describe_server(self, context: ToolContext) -> str:
        """The server, with nothing that not everyone where the member asks can see."""
        ...

    async def describe_member(self, context: ToolContext, name: str) -> str:
        """The member of this name, mention or id; the asking one where it is empty."""
        ...

    async def post_poll(self, context: ToolContext, poll: NewPoll) -> None:
        """Post a poll where the member asks."""
        ...
