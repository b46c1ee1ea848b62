"""Lays a reply out in messages while it grows, and tells which files go with it at its end.

Invariant: what stands in an earlier message stays as it is while the answer grows. An answer that
is too long for messages is a file too, and says so.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from chat.ending import LISTED_WORD
from chat.reply import Reply
from cogs.permissions import Channel
from cogs.rendering import reply_in_messages
from cogs.splitting import Splitter
from cogs.tables import readable
from cogs.translations.saying import Speaks
from cogs.uploads import WHOLE_ANSWER, sendable, takes_files, whole_answer
from tools.registry import ToolFile


class Layout:
    """The messages of one reply to a `channel`, in the language of those who read it."""

    def __init__(self, channel: Channel, locale: Speaks) -> None:
        self._channel = channel
        self._locale = locale
        self._splitter = Splitter()

    def contents(
        self, reply: Reply, *, final: bool, begun: bool, before: Sequence[str] = ()
    ) -> list[str]:
        """What the messages hold now. `begun` tells that there is one already, which has to say
        something; `before` is what they said in an earlier answer, as long as there is no other."""
        split = [piece.content for piece in self._splitter.split(readable(reply.shown))]
        pieces = split or list(before)
        if self._is_filed(reply, split):
            pieces = pieces[: reply.style.most_messages]
        return reply_in_messages(
            reply,
            pieces,
            final=final,
            begun=begun,
            now=asyncio.get_running_loop().time(),
            locale=self._locale,
        )

    def ended(self, reply: Reply) -> tuple[Reply, list[ToolFile]]:
        """The finished reply with what is to be said of its files, and those that go with it."""
        files, left_out = sendable(reply.files, self._channel)
        reply = replace(reply, notices=[*reply.notices, *left_out])
        screen, text = reply.style.screen, reply.shown
        if screen.ends and screen.is_met(reply.text) and LISTED_WORD not in reply.notices:
            reply.notices.append(LISTED_WORD)
        if self._is_filed(reply, self._splitter.split(readable(text))):
            files.insert(0, whole_answer(text))
            reply.notices.append(f"The whole answer is in the file {WHOLE_ANSWER}.")
        return reply, files

    def _is_filed(self, reply: Reply, pieces: Sequence[object]) -> bool:
        """Whether the answer is too long for messages and can be sent as a file."""
        most = reply.style.most_messages
        return most is not None and len(pieces) > most and takes_files(self._channel)
