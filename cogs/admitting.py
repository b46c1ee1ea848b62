"""Says whether a question may be answered where it stands, before anything is done for it.

Invariant: what is refused here is counted against no limit, and nothing of it is shown but the line
that says why. Who asks is judged, not who wrote the message that is asked about.
"""

import logging
from dataclasses import dataclass
from typing import Literal, TypeAlias

import discord

from chat.admission import DMS_CLOSED, Admission
from chat.ports import ChannelMessage
from chat.privacy import Privacy
from cogs.addressing import Addressing
from cogs.history import says_something, spoken
from cogs.logbook import Entry, Logbook
from cogs.operator import Operator
from cogs.permissions import lacking_to_speak, within
from cogs.tree import BROKEN
from data.errors import StoreError

log = logging.getLogger(__name__)

Told: TypeAlias = Literal["below", "apart", "no"]
"""How the author of a message learns that it is not answered: below it, where the channel does not
take that apart from it, or not at all."""

OPTED_OUT = (
    "You have opted out, so I read and answer nothing of yours. `/privacy opt-in` ends that."
)
SILENT_HERE = "I do not answer in this channel: admins chose others."
_HINT = "Write your question in the same message, and I will answer here."
_HINT_UNREADABLE = "I can only read messages that mention me: please mention me in your reply."


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a question is not answered, in English; whoever pressed something for it reads that in
    any case."""

    line: str
    told: Told = "below"


class Gate:
    """Lets questions through, or not."""

    def __init__(
        self,
        me: discord.abc.User,
        admission: Admission,
        operator: Operator,
        addressing: Addressing,
        privacy: Privacy,
        *,
        reads_all: bool,
        logbook: Logbook,
    ) -> None:
        self._me = me
        self._admission = admission
        self._operator = operator
        self._addressing = addressing
        self._privacy = privacy
        self._reads_all = reads_all
        self._logbook = logbook

    async def refusal(
        self,
        message: discord.Message,
        said: ChannelMessage | None = None,
        *,
        asker: discord.abc.User | None = None,
        speaks: bool = True,
    ) -> Refused | None:
        """Why `message` is not answered, or `said`, which is somebody's question about it; None if
        it is, and then it has been counted. `asker` is the member with their roles, where the
        caller knows them. `speaks` tells that the answer is to stand in the channel."""
        try:
            refused = await self._refusal(message, said, asker, speaks=speaks)
        except StoreError as error:
            log.error("A message in channel %s is not answered: %s", message.channel.id, error)
            return Refused(BROKEN, "no")
        if refused is not None and message.guild is not None and refused.line != SILENT_HERE:
            who = said.author.id if said else message.author.id
            line = f"<@{who}> in <#{message.channel.id}>: {refused.line}"
            self._logbook.note(message.guild.id, Entry(kind="refusal", line=line))
        return refused

    async def _refusal(
        self,
        message: discord.Message,
        said: ChannelMessage | None,
        asker: discord.abc.User | None,
        *,
        speaks: bool,
    ) -> Refused | None:
        guild, asker_id = message.guild, said.author.id if said else message.author.id
        if guild is None:
            if not await self._admission.takes_dms_of(asker_id):
                return Refused(DMS_CLOSED)
        elif not await self._admission.takes_channel(guild.id, within(message.channel)):
            return Refused(SILENT_HERE, "no")
        else:
            # The first message may come before the event that would have it judged.
            await self._operator.judge(guild)
        if await self._privacy.has_opted_out(guild and guild.id, asker_id):
            return Refused(OPTED_OUT)
        if speaks and (missing := lacking_to_speak(message.channel)):
            line = f"I cannot answer here: I lack {', '.join(missing)}."
            return Refused(line, "apart")
        judged = await self._addressing.judge(message, asker_id, asker=asker)
        if judged.refusal:
            return Refused(judged.refusal, "below" if judged.tell else "no")
        if not says_something(said or spoken(message, self._me)):
            return Refused(_HINT if self._reads_all else _HINT_UNREADABLE)
        return None
