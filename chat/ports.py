"""What a turn needs from the surface that it runs on, Discord or terminal.

Invariant: the turn speaks to its surface only through these; it never knows which it is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol, TypeAlias

from chat.reply import Reply
from prompt.values import Attachment, JsonObject
from tools.registry import FileSource, Rights


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a conversation happens. `guild_id` is None in direct messages and the console,
    `parent_id` outside of threads."""

    guild_id: int | None
    channel_id: int
    parent_id: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """Who speaks. `name` is what the model is told."""

    id: int
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """The beginning of a message that another one replies to."""

    message_id: int
    author: Member
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelMessage:
    """One message of a channel's history. `ours` marks the bot's own.

    `attachments` are the files that it shows: its own, those of a message that it forwards, and
    those of the one that it replies to.
    """

    id: int
    author: Member
    text: str
    at: datetime
    ours: bool = False
    reply_to: Quote | None = None
    attachments: tuple[Attachment, ...] = ()


Decision: TypeAlias = Literal["once", "always", "denied", "timeout", "unasked"]
"""`always` lasts until foreign text arrives; `unasked` tells that no question could be put."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRequest:
    """A question to members: may this call run, and its result be told here?

    `permission` names what somebody else than the asking member needs to answer it. `why` says
    what else they should know. A yes for later calls too is on offer where it is `lasting`.
    """

    place: Place
    asker: Member
    message_id: int
    tool: str
    arguments: JsonObject
    permission: str = "manage_guild"
    why: str = ""
    lasting: bool = True


class Approver(Protocol):
    """Asks the members of a place, or whoever sits at the terminal."""

    async def ask(self, request: ApprovalRequest) -> Decision:
        """Put the question and wait for the answer, in bounds of its own. Cancelling takes the
        question back."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRequest:
    """A member's message that is to be answered.

    `approver` asks whether a tool may run, None where nobody can be asked. `rights` tells what the
    member may do, None where there is no server to grant any.
    """

    place: Place
    member: Member
    message: ChannelMessage
    approver: Approver | None = None
    rights: Rights | None = None


class History(FileSource, Protocol):
    """Reads a channel's past, and the files in it."""

    async def read(self, *, before: int, after: int | None, limit: int) -> Sequence[ChannelMessage]:
        """Messages with an id between `after` and `before`, both excluded, oldest first; the
        newest `limit` of them."""
        ...


class Presenter(Protocol):
    """Shows a reply while it grows."""

    def changed(self, reply: Reply) -> None:
        """The reply has more, or other, to show. Returns at once; showing happens elsewhere."""
        ...

    async def finish(self, reply: Reply) -> Sequence[int]:
        """Show the final state and return the ids of the messages that hold it, in order."""
        ...
