"""What a member is told when a turn ends before its answer does.

Invariant: what has been said stays, and is marked as cut.
"""

import asyncio

from chat.reply import Reply
from prompt.events import Finished
from providers.base import EndpointError

INCOMPLETE = "The answer above is incomplete."
CUT_BY_LENGTH = "The answer was cut off at the length limit."
CUT_BY_FILTER = "The endpoint's content filter cut the answer off."
STOPPED = "Stopped."
RESTARTING = "The bot is being stopped or restarted. Please ask again in a moment."
"""Given to `Task.cancel` as its message, it is told in place of STOPPED."""
LISTED_WORD = "The answer ends here: what follows holds a word that this server does not show."
"""The same."""


def why_stopped(stop: asyncio.CancelledError) -> str:
    """The line for a member whose turn was cancelled. Other messages than our own stay inside."""
    return next((line for line in (RESTARTING, LISTED_WORD) if line in stop.args), STOPPED)


def end_answered(reply: Reply, finished: Finished) -> None:
    """The answer stands, as far as it came."""
    notice = {"length": CUT_BY_LENGTH, "content_filter": CUT_BY_FILTER}.get(finished.reason or "")
    if finished.broke_off:
        notice = INCOMPLETE
    if notice is not None:
        reply.is_cut = True
        reply.notices.append(notice)


def end_stopped(reply: Reply, stop: asyncio.CancelledError) -> None:
    """The turn was cancelled."""
    reply.notices.append(why_stopped(stop))
    reply.is_cut = bool(reply.text) and LISTED_WORD not in stop.args


def end_failed(reply: Reply, error: EndpointError) -> None:
    """The endpoint failed, which is logged where it was asked."""
    reply.remedy = error.remedy
    reply.notices.append(error.member)
    if reply.text:
        reply.is_cut = True
        reply.notices.append(INCOMPLETE)
    else:
        reply.state = "failed"
