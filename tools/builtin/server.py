"""The toolset of what needs Discord: reminders, and reading and polling a server.

Invariant: all of it is off, with the reason, until Discord is there, and what needs a server is off
in direct messages. Every tool acts with the rights of the member who asks.
"""

from collections.abc import Callable, Sequence
from typing import Annotated

from pydantic import Field

from data.reminders import Reminders
from prompt.values import Rate
from tools.actions import Actions, NewPoll
from tools.builtin.reminders import reminder_tools
from tools.registry import DeclaredTool, ToolContext, ToolFailure, ToolOutput, tool
from tools.toolset import Offered

NO_DISCORD = "only on Discord"
NO_SERVER = "only on a server"

MOST_MESSAGES = 50
MOST_ANSWERS = 10
MOST_HOURS = 768
"""Discord's own limit for polls: 32 days."""

_LONGEST_QUESTION = 300
_LONGEST_ANSWER = 55


class ServerTools:
    """See Toolset. `changed` is called after reminders have changed; `on` names what a fresh guild
    has."""

    def __init__(
        self, reminders: Reminders, changed: Callable[[], None], *, on: Sequence[str] = ()
    ) -> None:
        self._actions: Actions | None = None
        self._on = frozenset(on)
        self._reminders = reminder_tools(reminders, changed)
        self._others = _server_tools(self._connected)

    def connect(self, actions: Actions) -> None:
        """Act through these from now on."""
        self._actions = actions

    async def offered(self, guild_id: int) -> Sequence[Offered]:
        """See Toolset."""
        nowhere = "" if self._actions else NO_DISCORD
        off = {
            **{each.spec.name: nowhere for each in self._reminders},
            **{each.spec.name: nowhere or ("" if guild_id else NO_SERVER) for each in self._others},
        }
        return [
            Offered(tool=each, off=off[each.spec.name], optional=each.spec.name not in self._on)
            for each in (*self._reminders, *self._others)
        ]

    def _connected(self) -> Actions:
        if self._actions is None:
            raise ToolFailure("There is no Discord here.")
        return self._actions


def _server_tools(actions: Callable[[], Actions]) -> Sequence[DeclaredTool]:
    @tool(read_only=True, foreign=True, rate=Rate(calls=10, seconds=60))
    async def read_channel(
        context: ToolContext,
        *,
        channel: Annotated[
            str, Field(min_length=1, max_length=120, description="name of a channel or thread")
        ],
        messages: Annotated[int, Field(ge=1, le=MOST_MESSAGES, description="how many")] = 20,
    ) -> ToolOutput:
        """Read the latest messages of another channel of this server."""
        read = await actions().read_channel(context, channel, most=messages)
        return ToolOutput(text=read.text, channels=(read.channel_id,))

    @tool(read_only=True, rate=Rate(calls=10, seconds=60))
    async def server_info(context: ToolContext) -> str:
        """Tell about this Discord server: name, description, members, boosts and channels."""
        return await actions().describe_server(context)

    # Names are what strangers call themselves.
    @tool(read_only=True, foreign=True, rate=Rate(calls=20, seconds=60))
    async def member_info(
        context: ToolContext,
        *,
        member: Annotated[
            str, Field(max_length=120, description="their name; empty for whoever asks")
        ] = "",
    ) -> str:
        """Tell about a member of this server: names, roles, and since when they are here."""
        return await actions().describe_member(context, member)

    @tool(permission="create_polls", rate=Rate(calls=3, seconds=300))
    async def create_poll(
        context: ToolContext,
        *,
        question: Annotated[str, Field(min_length=1, max_length=_LONGEST_QUESTION)],
        answers: Annotated[
            list[Annotated[str, Field(min_length=1, max_length=_LONGEST_ANSWER)]],
            Field(min_length=1, max_length=MOST_ANSWERS),
        ],
        hours: Annotated[int, Field(ge=1, le=MOST_HOURS, description="how long it runs")] = 24,
        multiple: Annotated[bool, Field(description="whether one may choose several")] = False,
    ) -> ToolOutput:
        """Post a poll in this channel, for everyone here to vote."""
        poll = NewPoll(
            question=question.strip(),
            answers=tuple(answer.strip() for answer in answers),
            hours=hours,
            multiple=multiple,
        )
        if not poll.question or not all(poll.answers):
            raise ToolFailure("The question and every answer need words.")
        if len({answer.casefold() for answer in poll.answers}) < len(poll.answers):
            raise ToolFailure("Two answers are alike. Give each answer once.")
        await actions().post_poll(context, poll)
        return ToolOutput(
            text=f"The poll is posted here for {hours} hours: {poll.question}", posted=True
        )

    return (read_channel, server_info, member_info, create_poll)
